//! In whose place each found switch stands: the planned switch whose cables it has.
//!
//! Every cable between switches is a vote. Where the plan says that port p of switch c is at the
//! other end of the cable, and the found switch has it in port p, that switch has a cable of c.

use super::devices::{DevicePairing, DevicePort, MatchedDevice};
use base::{LinkId, SwitchId, TerminalId};
use fabric::network::{CablePlug, PortPeer, Topology};
use std::collections::BTreeSet;

/// More rounds than moving switches to their places needs; it ends the cases that would never end.
const ROUNDS: u32 = 100;

/// The cables between the switches of a plan and the working ones of a found network.
pub(super) struct PlannedAndFoundCables<'a> {
    plan: &'a Topology,
    /// Own port and other end of every working cable, by found switch.
    pub(super) rows: Vec<Vec<(u16, CablePlug)>>,
    /// Working cables between found switches.
    pub(super) cables: u64,
    /// Whether any port of a switch will do.
    ignore_ports: bool,
}

/// The certainty that a switch needs of a place before it takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlacementCertainty {
    /// More cables agree than before.
    More,
    /// Most of its cables agree, two or more, and twice as many as agreed before.
    Clear,
}

impl<'a> PlannedAndFoundCables<'a> {
    pub(super) fn new(plan: &'a Topology, found: &Topology, ignore_ports: bool) -> Self {
        let mut rows = vec![Vec::new(); found.switches().len()];
        let mut cables = 0;
        for (i, l) in found.links().iter().enumerate() {
            if found.link_is_up(LinkId::from(i)) {
                rows[l.a.switch.ix()].push((l.a.port, l.b));
                rows[l.b.switch.ix()].push((l.b.port, l.a));
                cables += 1;
            }
        }
        for row in &mut rows {
            row.sort_unstable();
        }
        Self { plan, rows, cables, ignore_ports }
    }

    /// The other end of the planned cable between switches in `port` of `place`.
    pub(super) fn planned(&self, place: u32, port: u16) -> Option<CablePlug> {
        match self.plan.peer(SwitchId(place), port) {
            PortPeer::Switch(channel) => Some(self.plan.head(channel)),
            PortPeer::Terminal(_) | PortPeer::Empty => None,
        }
    }

    /// The planned switches whose cables found switch `f` has, as its neighbours stand, each with
    /// the number of such cables.
    pub(super) fn votes(&self, at: &DevicePairing, f: u32) -> Vec<(u32, u32)> {
        let row = &self.rows[f as usize];
        let in_port = |&(port, far): &(u16, CablePlug)| {
            let end = self.planned(at.planned[far.switch.ix()]?, far.port)?;
            (end.port == port).then_some(end.switch.0)
        };
        let mut votes: Vec<u32> = if self.ignore_ports {
            row.iter().flat_map(|(_, far)| self.neighbours(at.planned[far.switch.ix()])).collect()
        } else {
            row.iter().filter_map(in_port).collect()
        };
        votes.sort_unstable();
        let runs = votes.chunk_by(|a, b| a == b);
        runs.map(|run| (run[0], run.len() as u32)).collect()
    }

    /// The planned neighbours of a switch, each once.
    fn neighbours(&self, place: Option<u32>) -> Vec<u32> {
        let Some(place) = place else { return Vec::new() };
        let ports = 1..=self.plan.switches()[place as usize].ports;
        let ends = ports.filter_map(|port| self.planned(place, port));
        let mut near: Vec<u32> = ends.map(|end| end.switch.0).collect();
        near.sort_unstable();
        near.dedup();
        near
    }

    /// Number of found cables that are where they are planned under these places.
    pub(super) fn agreeing(&self, at: &DevicePairing) -> u64 {
        let switches = (0..self.rows.len() as u32).filter_map(|f| {
            let place = at.planned[f as usize]?;
            Some(u64::from(count(&self.votes(at, f), place)))
        });
        switches.sum::<u64>() / 2
    }

    /// Moves switches to the places that their cables vote for, until no switch moves. A switch
    /// that is displaced takes the place that has become free.
    pub(super) fn settle(&self, at: &mut DevicePairing, need: PlacementCertainty) {
        for _ in 0..ROUNDS {
            let mut moved = false;
            for f in 0..self.rows.len() as u32 {
                moved |= self.settle_one(at, f, need);
            }
            if !moved {
                break;
            }
        }
    }

    fn settle_one(&self, at: &mut DevicePairing, f: u32, need: PlacementCertainty) -> bool {
        let own = at.planned[f as usize];
        if need == PlacementCertainty::Clear && own.is_none() {
            return false; // a switch that the plan does not know displaces no other
        }
        let votes = self.votes(at, f);
        let most = votes.iter().max_by_key(|(place, n)| (*n, std::cmp::Reverse(*place)));
        let Some(&(place, n)) = most.filter(|(place, _)| Some(*place) != own) else { return false };
        let now = own.map_or(0, |own| count(&votes, own));
        let holder = at.found[place as usize];
        let theirs = holder.map_or(0, |h| count(&self.votes(at, h), place));
        let takes = match need {
            PlacementCertainty::More => n > now + theirs,
            PlacementCertainty::Clear => {
                let most = 2 * n as usize > self.rows[f as usize].len();
                most && n >= 2 && n > 2 * now && n > 2 * theirs
            }
        };
        if takes {
            at.set(place, f);
            if let (Some(own), Some(holder)) = (own, holder) {
                at.set(own, holder);
            }
        }
        takes
    }
}

fn count(votes: &[(u32, u32)], place: u32) -> u32 {
    votes.iter().find(|(p, _)| *p == place).map_or(0, |(_, n)| *n)
}

/// Switches that stand in one another's places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SwappedSwitchCycle {
    /// Planned switches: the first stands in the place of the second, and so on; the last one in
    /// that of the first, or it is missing.
    pub(super) switches: Vec<u32>,
    /// Whether the last one is missing.
    pub(super) open: bool,
    /// Whether their endpoints stand with them, so that only cables between switches differ.
    pub(super) with_endpoints: bool,
}

/// The cycles of switches that do not stand in their own places. `boxes` says which planned switch
/// each found one is, `places` in whose place it stands. O(switches).
pub(super) fn rounds(boxes: &DevicePairing, places: &DevicePairing) -> Vec<SwappedSwitchCycle> {
    let stands = |p: u32| boxes.found[p as usize].and_then(|f| places.planned[f as usize]);
    let who = |place: u32| places.found[place as usize].and_then(|f| boxes.planned[f as usize]);
    let mut done = vec![false; boxes.found.len()];
    let mut list = Vec::new();
    // an open cycle starts at the place that no switch stands in
    let all = 0..boxes.found.len() as u32;
    let starts = all.clone().filter(|&p| places.found[p as usize].is_none()).chain(all);
    for start in starts {
        if done[start as usize] || stands(start).is_none_or(|place| place == start) {
            continue;
        }
        let open = who(start).is_none();
        let mut switches = Vec::new();
        let mut at = Some(start);
        while let Some(p) = at.filter(|p| !std::mem::replace(&mut done[*p as usize], true)) {
            switches.push(p);
            at = stands(p);
        }
        list.push(SwappedSwitchCycle { switches, open, with_endpoints: false });
    }
    list.sort_by_key(|round| round.switches.iter().copied().min());
    list
}

/// The places in which cables of endpoints are compared: those of their switches, but a switch's
/// own where its endpoints were moved along with it. Such cycles are marked in `rounds`.
/// O(terminals).
pub(super) fn endpoint_places(
    plan: &Topology,
    found: &Topology,
    boxes: &DevicePairing,
    places: &DevicePairing,
    endpoints: &DevicePairing,
    rounds: &mut [SwappedSwitchCycle],
    ignore_ports: bool,
) -> DevicePairing {
    let mut hosts = places.clone();
    let mut homes = BTreeSet::new();
    if ignore_ports {
        homes.extend(plan.terminals().iter().map(|t| (t.endpoint.0, t.plug.switch.0)));
    }
    let planned = |place: Option<u32>, t: &fabric::network::Terminal| {
        let e = endpoints.planned[t.endpoint.ix()];
        if ignore_ports {
            return homes.contains(&(e?, place?)).then_some(());
        }
        let PortPeer::Terminal(id) = plan.peer(SwitchId(place?), t.plug.port) else { return None };
        let p = &plan.terminals()[id.ix()];
        (e == Some(p.endpoint.0) && p.rail == t.rail).then_some(())
    };
    let ports_of = |f: Option<u32>, terminals: bool| -> BTreeSet<u16> {
        let Some(s) = f.map(SwitchId) else { return BTreeSet::new() };
        (1..=found.switches()[s.ix()].ports)
            .filter(|&port| match found.peer(s, port) {
                PortPeer::Terminal(t) => terminals && found.terminal_is_up(t),
                PortPeer::Switch(c) => !terminals && found.link_is_up(c.link()),
                PortPeer::Empty => false,
            })
            .collect()
    };
    for round in rounds {
        let (mut own, mut moved) = (0, 0);
        for &f in round.switches.iter().filter_map(|&p| boxes.found[p as usize].as_ref()) {
            let up = |t: &&TerminalId| found.terminal_is_up(**t);
            for t in found.terminals_on(SwitchId(f)).iter().filter(up) {
                let t = &found.terminals()[t.ix()];
                own += usize::from(planned(boxes.planned[f as usize], t).is_some());
                moved += usize::from(planned(places.planned[f as usize], t).is_some());
            }
        }
        // two cables in one port after the repair: so the endpoints were not moved along
        let clash = round.switches.iter().any(|&p| {
            let links = ports_of(places.found[p as usize], false);
            !links.is_disjoint(&ports_of(boxes.found[p as usize], true))
        });
        round.with_endpoints = own > moved && !clash;
        if round.with_endpoints {
            for &p in &round.switches {
                hosts.found[p as usize] = boxes.found[p as usize];
                if let Some(f) = boxes.found[p as usize] {
                    hosts.planned[f as usize] = Some(p);
                }
            }
        }
    }
    hosts
}

/// The port of the plan that a port of a found switch stands for under `places`.
pub(super) fn in_plan(places: &DevicePairing, plug: CablePlug) -> DevicePort {
    let node = match places.planned[plug.switch.ix()] {
        Some(place) => MatchedDevice::Switch(SwitchId(place)),
        None => MatchedDevice::UnknownSwitch(plug.switch),
    };
    DevicePort { node, port: plug.port }
}
