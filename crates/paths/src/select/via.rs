//! Minimal paths and detours over an intermediate switch, for all selections that choose among
//! them.
#![expect(clippy::inline_always, reason = "calls in the innermost loops cost a fifth")]

use super::candidate_paths::CandidatePaths;
use super::{
    CompiledCustomSelection, PathDecisionPoint, PathSelection, PathSelectionParameters,
    PortChoicesByDestination,
};
use crate::guide::{OutputRequest, PacketPosition, RoutingGuide, lanes};
use crate::wiring::{EndpointAttachment, Port, RouterWiring};
use crate::word::PacketHeader;
use base::seed::FastRandomStream;
use base::{ComputationError, ProgressWatch, SwitchId};
use fabric::tables::candidates::{
    LaneClasses, ProgressiveAdaptiveRouting, RouteLegScheme, ValiantDetourRouting,
};
use std::any::Any;
use std::sync::Arc;
use verify::VerifiedRouting;

/// The number of hops that means "no path".
const FAR: u8 = u8::MAX;
/// The most switches whose numbers fit beside the cost of a detour in one 64-bit word.
const MOST_SHORT: u32 = 1 << 16;
/// The bit in a packet's note that says it is heading for its intermediate switch.
const DETOUR: u32 = 1;
/// The unit of the lane class of the next hop in a packet's note, above the bit [`DETOUR`]. It is
/// used where classes do not follow from hops.
const CLASS: u32 = 2;
/// The most lane classes where they do not follow from hops; a packet's note has no room for more.
pub const MOST_CLASSES: u8 = 16;

/// Writes into a packet that it goes to this intermediate switch first.
#[inline]
fn head_for(packet: &mut PacketHeader<'_>, via: u32) {
    packet.set_note(packet.note() | DETOUR);
    packet.set_via(via);
}

/// A detour that is compared: its intermediate switch, the links to it and from it, and its first
/// port.
pub(super) struct CandidateDetour {
    pub(super) via: u32,
    pub(super) first: u32,
    pub(super) second: u32,
    pub(super) port: u16,
}

/// A guide by minimal paths and detours over an intermediate switch; lanes rise by hops, or by
/// links between groups.
///
/// Source: Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11(2),
/// 1982; Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005 (UGAL);
/// Jiang, Kim & Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA
/// 2009 (PAR); Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC14,
/// section IV (four candidates, lanes by hops).
#[derive(Debug, Clone)]
pub struct DetourGuide {
    selection: PathSelection,
    choosing: PathSelectionParameters,
    next: PortChoicesByDestination,
    hops: Vec<u8>,
    /// UGAL-L only: a table that replaces `next` and `hops`, with one word for each (switch,
    /// destination): the entry of `next` in the low 16 bits, the hop count above.
    legs: Vec<u32>,
    switches: u32,
    wiring: Arc<RouterWiring>,
    /// The switches that may be intermediate switches (those with endpoints), for each plane.
    between: Vec<Vec<u32>>,
    /// The plane of each switch. `place` is the index of each switch in `between` of its plane.
    plane: Vec<u16>,
    place: Vec<u32>,
    /// The mask of the lanes of each class; higher classes use the last mask.
    lanes: Vec<u32>,
    /// The mask of the lanes of a packet for each hop count that a flit can hold.
    by_hops: Box<[u32; 1 << u8::BITS]>,
    /// Whether the fast code of minimal routing and of UGAL-L is used.
    is_short: bool,
    /// Whether there is one plane, every switch has endpoints, and all switches are connected.
    is_whole: bool,
    /// The bit mask of all lanes.
    every: u32,
    count: u8,
    /// The group of each switch, where lane classes rise only on links between groups; otherwise
    /// `None`.
    rises: Option<Vec<u32>>,
    /// The number of switches on its path at which a packet may choose: 0, 1 (the first), or 2
    /// (PAR, also after the first hop).
    choices: u32,
    /// PAR only: the group of each switch, where a packet may choose again only if its first hop
    /// stayed in the group. `reach` is the largest number of hops to an intermediate switch chosen
    /// then.
    turns: Option<Vec<u32>>,
    reach: u32,
    /// PAR with `reach` 1: for each switch, the neighbours that a packet may choose as intermediate
    /// switch after its first hop.
    near: Vec<Vec<u32>>,
    /// The selection of the user's own; `None` for a built-in one.
    custom: Option<Arc<CompiledCustomSelection>>,
}

impl DetourGuide {
    /// A guide over the minimal paths of a proved scheme.
    ///
    /// # Errors
    /// See [`PortChoicesByDestination::of`].
    pub fn minimal<B: RouteLegScheme>(
        scheme: &VerifiedRouting<B>,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::of(
            &**scheme,
            PathSelection::Minimal,
            PathSelectionParameters::default(),
            wiring,
            watch,
        )
    }

    /// A guide over paths with an intermediate switch, chosen at the source, of a proved scheme.
    ///
    /// # Errors
    /// See [`PortChoicesByDestination::of`].
    pub fn via<B: RouteLegScheme>(
        scheme: &VerifiedRouting<ValiantDetourRouting<B>>,
        selection: PathSelection,
        choosing: PathSelectionParameters,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::of(scheme.beneath(), selection, choosing, wiring, watch)
    }

    /// A guide of progressive adaptive routing (PAR) over a proved scheme.
    ///
    /// # Errors
    /// See [`PortChoicesByDestination::of`].
    pub fn progressive<B: RouteLegScheme>(
        scheme: &VerifiedRouting<ProgressiveAdaptiveRouting<B>>,
        choosing: PathSelectionParameters,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        Self::unproved(&**scheme, PathSelection::Par, choosing, wiring, watch)
    }

    /// A guide of any of these selections over paths without a proof: packets may deadlock.
    ///
    /// # Errors
    /// See [`PortChoicesByDestination::of`].
    pub fn unproved<B: RouteLegScheme>(
        scheme: &ProgressiveAdaptiveRouting<B>,
        selection: PathSelection,
        choosing: PathSelectionParameters,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let guide = Self::of(scheme.via().beneath(), selection, choosing, wiring, watch)?;
        if selection.entry().paths != CandidatePaths::ProgressiveDetours {
            return Ok(guide);
        }
        let (turns, reach) = (scheme.groups().map(<[u32]>::to_vec), scheme.reach().into());
        let group = |s: u32| guide.rises.as_ref().map(|group| group[s as usize]);
        let near = |s: u32| {
            let all = wiring.ports(s).iter().filter_map(Port::leads_to);
            let good = all.filter(|&v| guide.place[v as usize] != u32::MAX);
            good.filter(|&v| guide.rises.is_none() || group(v) != group(s)).collect()
        };
        let near = if reach == 1 { (0..guide.switches).map(near).collect() } else { Vec::new() };
        Ok(Self { choices: if reach > 0 { 2 } else { 1 }, turns, reach, near, ..guide })
    }

    fn of<B: RouteLegScheme>(
        leg: &B,
        selection: PathSelection,
        choosing: PathSelectionParameters,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        choosing.check()?;
        let on = leg.topology();
        let switches = wiring.routers();
        let hop = |from: u32, to: u32| leg.hops(SwitchId(from), SwitchId(to)).unwrap_or(FAR);
        let hops = (0..switches).flat_map(|to| (0..switches).map(move |from| hop(from, to)));
        let hops: Vec<u8> = hops.collect();
        let plane: Vec<u16> = on.switches().iter().map(|s| s.plane).collect();
        let mut place = vec![u32::MAX; plane.len()];
        let mut between = vec![Vec::new(); usize::from(on.planes())];
        for s in on.edge_switches() {
            let among = &mut between[usize::from(plane[s as usize])];
            place[s as usize] = among.len() as u32;
            among.push(s);
        }
        let LaneClasses { classes, width } = leg.classes();
        let class = |c: u8| lanes(c * width, c * width + (width - 1));
        let is_every = (0..switches).eq(between.iter().flatten().copied());
        let is_whole = between.len() == 1 && is_every && hops.iter().all(|h| *h < FAR);
        let is_short = match selection {
            PathSelection::Minimal => true,
            PathSelection::UgalL => switches <= MOST_SHORT,
            _ => false,
        };
        let mut is_short = is_short && leg.class_groups().is_none();
        let mut next = PortChoicesByDestination::of(leg, 0, wiring, watch)?;
        let (mut legs, mut hops) = (Vec::new(), hops);
        if is_short && selection == PathSelection::UgalL {
            if let Some(entries) = next.take_entries() {
                // links work in both directions, so the hops to a switch are also the hops from it
                let both = std::mem::take(&mut hops).into_iter().zip(entries);
                legs.extend(both.map(|(hops, entry)| u32::from(hops) << 16 | u32::from(entry)));
            } else {
                is_short = false;
            }
        }
        Ok(Self {
            selection,
            choosing,
            next,
            hops,
            legs,
            switches,
            wiring: wiring.clone(),
            between,
            plane,
            place,
            lanes: (0..classes).map(class).collect(),
            by_hops: Box::new(std::array::from_fn(|hops| class((hops as u8).min(classes - 1)))),
            is_short,
            is_whole,
            every: super::choices::all(leg.lanes()),
            count: leg.lanes(),
            rises: leg.class_groups().map(<[u32]>::to_vec),
            choices: u32::from(selection.entry().paths != CandidatePaths::Minimal),
            turns: None,
            reach: 0,
            near: Vec::new(),
            custom: None,
        })
    }

    /// The same guide with a selection of the user's, by which packets choose among its candidates.
    #[must_use]
    pub fn scored(self, custom: &Arc<CompiledCustomSelection>) -> Self {
        let custom = Some(Arc::new(CompiledCustomSelection::clone(custom)));
        let choices = self.choices.max(1);
        Self { selection: PathSelection::Custom, is_short: false, choices, custom, ..self }
    }

    /// The hops of a minimal path.
    #[inline]
    pub(super) fn far(&self, from: u32, to: u32) -> u32 {
        self.hops[(to * self.switches + from) as usize].into()
    }

    /// Draws an intermediate switch that is neither `at` nor `home`; `None` where there is no
    /// other.
    #[inline]
    pub(super) fn draw(&self, at: u32, home: u32, random: &mut FastRandomStream) -> Option<u32> {
        let among = &self.between[usize::from(self.plane[at as usize])];
        let taken = [at, home].map(|s| self.place[s as usize] as usize);
        let skipped = taken.iter().filter(|t| **t < among.len()).count() as u32;
        let others = (among.len() as u32).checked_sub(skipped).filter(|n| *n > 0)?;
        // the first and the last switch are skipped, so that all others are equally likely
        let drawn = random.below(others) as usize;
        let (low, high) = (taken[0].min(taken[1]), taken[0].max(taken[1]));
        let drawn = drawn + usize::from(drawn >= low);
        Some(among[drawn + usize::from(drawn >= high)])
    }

    /// Draws the intermediate switch for a packet of PAR after its first hop.
    fn draw_turn(&self, at: u32, home: u32, random: &mut FastRandomStream) -> Option<u32> {
        if self.reach > 1 {
            return self.draw(at, home, random);
        }
        let near = &self.near[at as usize];
        (!near.is_empty()).then(|| near[random.below(near.len() as u32) as usize])
    }

    /// The router from which a packet has come; `None` if it came from an endpoint.
    fn before(&self, here: &PacketPosition<'_>) -> Option<u32> {
        self.wiring.ports(here.router)[usize::from(here.in_port)].leads_to()
    }

    /// Whether a packet may choose again after its first hop.
    fn may_turn(&self, here: &PacketPosition<'_>) -> bool {
        let group = |s: u32| self.turns.as_ref().map(|group| group[s as usize]);
        self.before(here).is_some_and(|before| group(before) == group(here.router))
    }

    /// The number of flits queued on all hops of the path from `at` by `port` to `goal`.
    pub(super) fn queued(&self, here: &mut PacketPosition<'_>, port: u16, goal: u32) -> u64 {
        let (mut at, mut port, mut sum) = (here.router, port, 0);
        loop {
            sum += u64::from(here.sight.used_at(at, port));
            match self.wiring.ports(at)[usize::from(port)].leads_to() {
                Some(next) if next != goal => at = next,
                _ => return sum,
            }
            port = self.next.port(at, goal, here.random);
        }
    }

    /// The first port of a minimal path, the choice where there is nothing to choose.
    pub(super) fn minimal_port(
        &self,
        here: &mut PacketPosition<'_>,
        home: u32,
        _: &mut PacketHeader<'_>,
    ) -> u16 {
        self.next.port(here.router, home, here.random)
    }

    /// A port of `at` on a minimal path to `to`, drawn where there are several.
    pub(super) fn next_port(&self, at: u32, to: u32, random: &mut FastRandomStream) -> u16 {
        self.next.port(at, to, random)
    }

    /// Sends a packet over the intermediate switch `via`, and returns its first port.
    pub(super) fn detour(
        &self,
        here: &mut PacketPosition<'_>,
        via: u32,
        packet: &mut PacketHeader<'_>,
    ) -> u16 {
        let port = self.next.port(here.router, via, here.random);
        head_for(packet, via);
        port
    }

    /// Draws detours, compares the one with the least `cost` with a minimal path, and returns the
    /// first port of the better one. `own` is given the first port of the minimal path and returns
    /// its queue and its cost. If the path is a detour, its intermediate switch is written into the
    /// packet.
    #[inline]
    pub(super) fn cheapest(
        &self,
        here: &mut PacketPosition<'_>,
        home: u32,
        packet: &mut PacketHeader<'_>,
        cost: impl Fn(&mut PacketPosition<'_>, &CandidateDetour) -> i64,
        own: impl Fn(&mut PacketPosition<'_>, u16) -> (u64, i64),
    ) -> u16 {
        let at = here.router;
        let turns = packet.hops() > 0;
        let before = if turns { self.before(here) } else { None };
        let direct = self.next.port(at, home, here.random);
        let mut best: Option<(i64, u32, u16)> = None;
        for _ in 0..self.choosing.candidates {
            let draw = if turns { Self::draw_turn } else { Self::draw };
            let Some(via) = draw(self, at, home, here.random) else { break };
            let Some((first, second)) = self.links_over(via, (at, home), turns, before) else {
                continue;
            };
            let port = self.next.port(at, via, here.random);
            let cost = cost(here, &CandidateDetour { via, first, second, port });
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, via, port));
            }
        }
        let (queue, own) = own(here, direct);
        let is_short = self.choosing.is_short(queue);
        match best {
            Some((least, via, port)) if !is_short && own > least + self.choosing.margin() => {
                head_for(packet, via);
                port
            }
            _ => direct,
        }
    }
}

impl DetourGuide {
    /// The numbers of links to an intermediate switch and from there. `None` where there is no path
    /// over it. `turns` says that the packet has made its first hop; then also `None` where the
    /// intermediate switch is too far, is `home`, or is `before`.
    #[inline(always)]
    fn links_over(
        &self,
        via: u32,
        (at, home): (u32, u32),
        turns: bool,
        before: Option<u32>,
    ) -> Option<(u32, u32)> {
        let (first, second) = (self.far(at, via), self.far(via, home));
        let leads = first != u32::from(FAR) && second != u32::from(FAR);
        let too_far = turns && (first > self.reach || via == home || Some(via) == before);
        (leads && !too_far).then_some((first, second))
    }

    /// As [`Self::cheapest`] for a selection of the user's: it draws candidates in the order of the
    /// built-in selections, and takes the candidate with the lowest score.
    pub(super) fn begin_scored(
        &self,
        here: &mut PacketPosition<'_>,
        home: u32,
        packet: &mut PacketHeader<'_>,
    ) -> u16 {
        let Some(custom) = &self.custom else { return self.minimal_port(here, home, packet) };
        let (at, travelled) = (here.router, packet.hops());
        let turns = travelled > 0;
        let before = if turns { self.before(here) } else { None };
        let (written, score) = (custom.written(), &custom.score);
        let mut direct = self.next.port(at, home, here.random);
        let queue = here.sight.used(direct);
        let mut values = score.registers();
        values.begin(self.far(at, home), queue, travelled);
        let mut least = f64::INFINITY;
        if written.minimal > 0 {
            least = score.of(&mut values);
        }
        for _ in 1..written.minimal {
            let port = self.next.port(at, home, here.random);
            values.another(here.sight.used(port));
            let own = score.of(&mut values);
            if own < least {
                (least, direct) = (own, port);
            }
        }
        let mut best = None;
        for _ in 0..written.detours {
            let draw = if turns { Self::draw_turn } else { Self::draw };
            let Some(via) = draw(self, at, home, here.random) else { break };
            let Some((first, second)) = self.links_over(via, (at, home), turns, before) else {
                continue;
            };
            let port = self.next.port(at, via, here.random);
            values.detour(first + second, first, here.sight.used(port));
            let own = score.of(&mut values);
            if own < least {
                (least, best) = (own, Some((via, port)));
            }
        }
        custom.decided(&values);
        let Some((via, port)) = best else { return direct };
        head_for(packet, via);
        port
    }

    /// The choice of a selection of the user's at a later switch of a packet: it draws ports on
    /// shortest paths to `goal`, and returns the port with the lowest score. `home` is the last
    /// switch of the packet.
    fn onward_scored(
        &self,
        custom: &CompiledCustomSelection,
        here: &mut PacketPosition<'_>,
        (goal, home): (u32, u32),
        travelled: u32,
    ) -> u16 {
        let (at, score) = (here.router, &custom.score);
        let mut best = self.next.port(at, goal, here.random);
        let queue = here.sight.used(best);
        let mut values = score.registers();
        values.begin(self.far(at, home), queue, travelled);
        if goal != home {
            let first = self.far(at, goal);
            values.detour(first + self.far(goal, home), first, queue);
        }
        let mut least = f64::INFINITY;
        if custom.written().minimal > 1 {
            least = score.of(&mut values);
        }
        for _ in 1..custom.written().minimal {
            let port = self.next.port(at, goal, here.random);
            values.another(here.sight.used(port));
            let own = score.of(&mut values);
            if own < least {
                (least, best) = (own, port);
            }
        }
        custom.decided(&values);
        best
    }

    /// As [`Self::cheapest`] for UGAL-L at a packet's first switch, without branches that the
    /// processor would mispredict half of the time. `WHOLE` says that there is one plane, that
    /// every switch has endpoints, and that all switches are connected.
    #[inline(always)]
    fn begin_locally<const WHOLE: bool>(
        &self,
        here: &mut PacketPosition<'_>,
        home: u32,
        packet: &mut PacketHeader<'_>,
    ) -> u16 {
        let at = here.router;
        let switches = self.switches as usize;
        let [before, after] = [at, home].map(|s| &self.legs[s as usize * switches..][..switches]);
        let straight = before[home as usize];
        let direct = self.next.draw(straight as u16, here.random);
        // with `WHOLE` a drawn number is a switch; otherwise it is an index into a list of switches
        let among = &self.between[usize::from(if WHOLE { 0 } else { self.plane[at as usize] })][..];
        let count = if WHOLE { self.switches } else { among.len() as u32 };
        let taken = [at, home].map(|s| if WHOLE { s } else { self.place[s as usize] });
        let skipped = taken.iter().filter(|t| WHOLE || **t < count).count();
        let others = count.saturating_sub(skipped as u32);
        if others == 0 {
            return direct;
        }
        let (low, high) = (taken[0].min(taken[1]), taken[0].max(taken[1]));
        let mut random = *here.random;
        // cost, number, switch and port of the best detour in one word, so that one comparison
        // decides; among detours of equal cost the first drawn is the best
        let mut best = u64::MAX;
        for number in 0..u64::from(self.choosing.candidates) {
            let drawn = random.below(others);
            let drawn = drawn + u32::from(drawn >= low);
            let drawn = drawn + u32::from(drawn >= high);
            let via = if WHOLE { drawn } else { among[drawn as usize] };
            let [to, on] = [before, after].map(|legs| legs[via as usize]);
            let port = self.next.draw(to as u16, &mut random);
            let [to, on] = [to, on].map(|leg| leg >> 16);
            let cost = u64::from((to + on) * here.sight.used(port));
            let own = cost << 37 | number << 31 | u64::from(via) << 15 | u64::from(port);
            best = if WHOLE || to.max(on) < FAR.into() { own.min(best) } else { best };
        }
        *here.random = random;
        let queue = here.sight.used(direct);
        let own = i64::from((straight >> 16) * queue);
        let least = (best >> 37) as i64;
        let is_better = own > least.saturating_add(self.choosing.margin());
        if best != u64::MAX && is_better && !self.choosing.is_short(queue.into()) {
            packet.set_note(DETOUR);
            packet.set_via((best >> 15) as u32 & 0xffff);
            return best as u16 & 0x7fff;
        }
        direct
    }

    /// As [`Self::begin_locally`] without `WHOLE`.
    #[inline(never)]
    fn begin_in_parts(
        &self,
        here: &mut PacketPosition<'_>,
        home: u32,
        packet: &mut PacketHeader<'_>,
    ) -> u16 {
        self.begin_locally::<false>(here, home, packet)
    }

    /// The output that a packet asks for, by any selection and with any lane classes.
    #[inline(never)]
    fn want_any(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut PacketHeader<'_>,
    ) -> OutputRequest {
        let EndpointAttachment { router: home, port } =
            self.wiring.endpoints()[packet.target() as usize];
        let (at, hops, note) = (here.router, packet.hops(), packet.note());
        let is_direct = note & DETOUR == 0;
        if at == home && is_direct {
            return OutputRequest { port, lanes: super::choices::all(self.count), rank: 0 };
        }
        let mut class = if self.rises.is_some() { note / CLASS } else { hops };
        let mut steps_up = false;
        let port = if is_direct && hops < self.choices && (hops == 0 || self.may_turn(here)) {
            let port = self.selection.choose(self, here, home, packet);
            steps_up = hops > 0 && self.reach > 1 && packet.note() & DETOUR != 0;
            port
        } else {
            let mut goal = home;
            if !is_direct {
                steps_up = packet.via() == at;
                if steps_up {
                    packet.set_note(note & !DETOUR);
                } else {
                    goal = packet.via();
                }
            }
            match &self.custom {
                Some(custom) if custom.written().decide == PathDecisionPoint::Every => {
                    self.onward_scored(custom, here, (goal, home), hops)
                }
                _ => self.next.port(at, goal, here.random),
            }
        };
        if let Some(group) = &self.rises {
            class = (class + u32::from(steps_up)).min(self.lanes.len() as u32 - 1);
            let to = self.wiring.ports(at)[usize::from(port)].leads_to().unwrap_or(at);
            let crosses = u32::from(group[at as usize] != group[to as usize]);
            let after = (class + crosses).min(self.lanes.len() as u32 - 1);
            packet.set_note((after * CLASS) | (packet.note() & DETOUR));
        }
        let lanes = self.lanes[(class as usize).min(self.lanes.len() - 1)];
        OutputRequest { port, lanes, rank: 0 }
    }
}

impl RoutingGuide for DetourGuide {
    fn itself(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn undefined_decisions(&self) -> Option<u64> {
        self.custom.as_ref().map(|custom| custom.undefined())
    }

    fn lanes(&self) -> u8 {
        self.count
    }

    fn vias(&self) -> u32 {
        if self.selection.entry().paths == CandidatePaths::Minimal { 1 } else { self.switches }
    }

    fn sees_far(&self) -> bool {
        self.selection.entry().sees_far
    }

    #[inline(always)]
    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        if !self.is_short {
            // a copy of the position for this call lets the compiler keep the original in registers
            let PacketPosition { router, in_port, lane, sight, .. } = *here;
            return self.want_any(
                &mut PacketPosition { router, in_port, lane, sight, random: here.random },
                packet,
            );
        }
        let EndpointAttachment { router: home, port } =
            self.wiring.endpoints()[packet.target() as usize];
        let (at, hops) = (here.router, packet.hops());
        let lanes = self.by_hops[hops as usize & 255];
        let mut goal = home;
        if self.selection == PathSelection::UgalL {
            if hops == 0 && at != home {
                let port = if self.is_whole {
                    self.begin_locally::<true>(here, home, packet)
                } else {
                    let PacketPosition { router, in_port, lane, sight, .. } = *here;
                    let mut own =
                        PacketPosition { router, in_port, lane, sight, random: here.random };
                    self.begin_in_parts(&mut own, home, packet)
                };
                return OutputRequest { port, lanes, rank: 0 };
            }
            if packet.note() == DETOUR {
                if packet.via() == at {
                    packet.set_note(0);
                } else {
                    goal = packet.via();
                }
            }
        }
        if at == goal {
            return OutputRequest { port, lanes: self.every, rank: 0 };
        }
        let port = if self.selection == PathSelection::UgalL {
            let leg = self.legs[at as usize * self.switches as usize + goal as usize];
            self.next.draw(leg as u16, here.random)
        } else {
            self.next.port(at, goal, here.random)
        };
        OutputRequest { port, lanes, rank: 0 }
    }
}
