//! Directly or over a switch in between: minimal, Valiant, UGAL-L and UGAL-G.

use super::{Choosing, Selection, Ways};
use crate::flit::guide::{Guide, Here, Want};
use crate::flit::wiring::{Attached, Wiring};
use crate::flit::word::Packet;
use base::seed::Fast;
use base::{Stop, SwitchId, Watch};
use fabric::tables::candidates::{Candidates, Heading, Minimal, Via};
use std::sync::Arc;
use verify::Verified;

/// No way.
const FAR: u8 = u8::MAX;
/// The note of a packet that goes to a switch on the way.
const DETOUR: u32 = 1;

/// Shortest ways, directly or over a switch, lanes by hops.
///
/// Source: Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11(2),
/// 1982; Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005 (UGAL);
/// Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC14, section IV
/// (four candidates, lanes by hops).
#[derive(Debug, Clone)]
pub struct Detours {
    selection: Selection,
    choosing: Choosing,
    ways: Ways,
    hops: Vec<u8>,
    switches: u32,
    wiring: Arc<Wiring>,
    /// Switches with endpoints, over which a packet may go, by plane; the plane of each switch, and
    /// its place there.
    between: Vec<Vec<u32>>,
    plane: Vec<u16>,
    place: Vec<u32>,
    /// Lanes of each hop; of later ones, the last.
    lanes: Vec<u32>,
    count: u8,
}

impl Detours {
    /// Minimal routing of a proved scheme.
    ///
    /// # Errors
    /// See [`Ways::of`].
    pub fn minimal(
        scheme: &Verified<Minimal>,
        wiring: &Arc<Wiring>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        Self::unproved(&**scheme, scheme, Selection::Minimal, Choosing::default(), wiring, watch)
    }

    /// Routing over a switch in between, of a proved scheme.
    ///
    /// # Errors
    /// See [`Ways::of`].
    pub fn via(
        scheme: &Verified<Via<Minimal>>,
        selection: Selection,
        choosing: Choosing,
        wiring: &Arc<Wiring>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        Self::unproved(&**scheme, scheme.beneath(), selection, choosing, wiring, watch)
    }

    /// The same of any scheme whose shortest ways are `beneath`, proved or not: packets may wait
    /// for one another for ever.
    ///
    /// # Errors
    /// See [`Ways::of`].
    pub fn unproved(
        scheme: &impl Candidates,
        beneath: &Minimal,
        selection: Selection,
        choosing: Choosing,
        wiring: &Arc<Wiring>,
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
        choosing.check()?;
        let on = beneath.topology();
        let switches = wiring.routers();
        let hop = |from: u32, to: u32| beneath.hops(SwitchId(from), SwitchId(to)).unwrap_or(FAR);
        let hops = (0..switches).flat_map(|to| (0..switches).map(move |from| hop(from, to)));
        let plane: Vec<u16> = on.switches().iter().map(|s| s.plane).collect();
        let mut place = vec![u32::MAX; plane.len()];
        let mut between = vec![Vec::new(); usize::from(on.planes())];
        for s in on.edge_switches() {
            let among = &mut between[usize::from(plane[s as usize])];
            place[s as usize] = among.len() as u32;
            among.push(s);
        }
        Ok(Self {
            selection,
            choosing,
            ways: Ways::of(beneath, 0, wiring, watch)?,
            hops: hops.collect(),
            switches,
            wiring: wiring.clone(),
            between,
            plane,
            place,
            lanes: lanes_by_hop(scheme, switches),
            count: scheme.lanes(),
        })
    }

    #[inline]
    fn far(&self, from: u32, to: u32) -> u32 {
        self.hops[(to * self.switches + from) as usize].into()
    }

    /// A switch that is neither the first nor the last.
    #[inline]
    fn draw(&self, at: u32, home: u32, random: &mut Fast) -> Option<u32> {
        let among = &self.between[usize::from(self.plane[at as usize])];
        let others = (among.len() as u32).checked_sub(2).filter(|n| *n > 0)?;
        // the two are skipped: what is drawn stands for one of the others, all as likely
        let drawn = random.below(others) as usize;
        let taken = [at, home].map(|s| self.place[s as usize] as usize);
        let (low, high) = (taken[0].min(taken[1]), taken[0].max(taken[1]));
        let drawn = drawn + usize::from(drawn >= low);
        Some(among[drawn + usize::from(drawn >= high)])
    }

    /// Flits queued on the way from `at` by `port` to `goal`, over all its hops.
    fn queued(&self, here: &mut Here<'_>, port: u16, goal: u32) -> u64 {
        let (mut at, mut port, mut sum) = (here.router, port, 0);
        loop {
            sum += u64::from(here.sight.used_at(at, port));
            match self.wiring.ports(at)[usize::from(port)].leads_to() {
                Some(next) if next != goal => at = next,
                _ => return sum,
            }
            port = self.ways.port(at, goal, here.random);
        }
    }

    /// The port of the way that a packet begins; a detour is written down.
    #[inline]
    fn begin(&self, here: &mut Here<'_>, home: u32, packet: &mut Packet<'_>) -> u16 {
        let at = here.router;
        let detour = |packet: &mut Packet<'_>, via: u32| {
            packet.set_note(DETOUR);
            packet.set_via(via);
        };
        let direct = self.ways.port(at, home, here.random);
        if self.selection == Selection::Valiant {
            let Some(via) = self.draw(at, home, here.random) else { return direct };
            detour(packet, via);
            return self.ways.port(at, via, here.random);
        }
        let mut best: Option<(i64, u32, u16)> = None;
        for _ in 0..self.choosing.candidates {
            let Some(via) = self.draw(at, home, here.random) else { break };
            let (first, second) = (self.far(at, via), self.far(via, home));
            if first == u32::from(FAR) || second == u32::from(FAR) {
                continue;
            }
            let port = self.ways.port(at, via, here.random);
            let cost = if self.selection == Selection::UgalG {
                let on = self.ways.port(via, home, here.random);
                let mut there = Here { router: via, random: here.random, ..*here };
                let rest = self.queued(&mut there, on, home);
                (self.queued(here, port, via) + rest) as i64
            } else {
                i64::from((first + second) * here.sight.used(port))
            };
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, via, port));
            }
        }
        let own = if self.selection == Selection::UgalG {
            self.queued(here, direct, home) as i64
        } else {
            i64::from(self.far(at, home) * here.sight.used(direct))
        };
        match best {
            Some((least, via, port)) if own > least + self.choosing.threshold => {
                detour(packet, via);
                port
            }
            _ => direct,
        }
    }
}

/// The lanes of each hop of a scheme that counts them: those of a packet that sets off and goes on.
fn lanes_by_hop(scheme: &impl Candidates, switches: u32) -> Vec<u32> {
    let (mut states, mut found) = (Vec::new(), Vec::new());
    let pair = (0..switches).flat_map(|a| (0..switches).map(move |b| (a, b)));
    let Some((at, goal)) = pair.clone().take(1 << 16).find(|&(a, b)| {
        found.clear();
        if a != b {
            scheme.next(SwitchId(a), Heading { goal: b, state: 0 }, &mut found);
        }
        !found.is_empty()
    }) else {
        return vec![super::ways::all(scheme.lanes())];
    };
    let mut state = 0;
    let mut lanes = Vec::new();
    while !states.contains(&state) {
        states.push(state);
        found.clear();
        scheme.next(SwitchId(at), Heading { goal, state }, &mut found);
        let Some(next) = found.first() else { break };
        lanes.push(crate::flit::guide::lanes(next.lane, next.lane + next.width - 1));
        state = next.state;
    }
    lanes
}

impl Guide for Detours {
    fn lanes(&self) -> u8 {
        self.count
    }

    fn vias(&self) -> u32 {
        if self.selection == Selection::Minimal { 1 } else { self.switches }
    }

    fn sees_far(&self) -> bool {
        self.selection == Selection::UgalG
    }

    #[inline]
    fn want(&self, here: &mut Here<'_>, packet: &mut Packet<'_>) -> Want {
        let Attached { router: home, port } = self.wiring.endpoints()[packet.target() as usize];
        let (at, hops) = (here.router, packet.hops());
        if at == home && packet.note() != DETOUR {
            return Want { port, lanes: super::ways::all(self.count), rank: 0 };
        }
        let lanes = self.lanes[(hops as usize).min(self.lanes.len() - 1)];
        if hops == 0 && self.selection != Selection::Minimal {
            let port = self.begin(here, home, packet);
            return Want { port, lanes, rank: 0 };
        }
        let mut goal = home;
        if packet.note() == DETOUR {
            if packet.via() == at {
                packet.set_note(0);
            } else {
                goal = packet.via();
            }
        }
        if at == home && goal == home {
            return Want { port, lanes: super::ways::all(self.count), rank: 0 };
        }
        Want { port: self.ways.port(at, goal, here.random), lanes, rank: 0 }
    }
}
