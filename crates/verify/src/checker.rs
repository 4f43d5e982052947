//! An independent check of a proof: it walks every path and checks that the channel numbers rise.
//! It shares no code with the proof except the reading of tables.
//!
//! Source: Dally & Seitz 1987, theorem 1: if the (channel, lane) pairs can be numbered so that
//! every packet takes them in rising order, no cycle of packets can wait for each other.

use super::deadlock::ChannelNumbering;
use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::network::PortPeer;
use fabric::tables::candidates::{CandidateScheme, PacketRoutingState};
use fabric::tables::{RouteStartSwitches, RouteWalk, Routing};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Walks every path between endpoints and checks that it arrives and that the numbers of the
/// (channel, lane) pairs it takes rise strictly.
///
/// O(hops of all paths, where paths that terminals of a switch share count once). The verdict is a
/// sentence that names the first path that does not arrive or whose numbers do not rise.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn recheck(
    routing: &Routing,
    numbering: &ChannelNumbering,
    watch: &dyn ProgressWatch,
) -> Result<Result<(), String>, Interrupted> {
    let on = routing.topology();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let sources = routing.sources();
    let mut starts = RouteStartSwitches::new(routing);
    let (mut before, mut own) = (None, Vec::new());
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("recheck", i as u64, total)?;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug;
        let row = Some((layer, home.switch, routing.row(layer, t)));
        let delivers = on.peer(home.switch, tree[home.switch.ix()]) == PortPeer::Terminal(t);
        // the paths to the previous terminal are also the paths to this one, except where they met
        // an entry of that terminal alone
        let known = starts.are_fixed() && before == row && delivers;
        before = row;
        let all = sources.of_plane(on.plane_of(t));
        let again = if known { std::mem::take(&mut own) } else { Vec::new() };
        own.clear();
        for &(source, _) in if known { &again } else { all } {
            let mut is_own = false;
            for &(sl, start_port) in starts.of(layer, t, source) {
                match path(routing, numbering, (source, start_port, sl), (layer, t)) {
                    Ok(found) => is_own |= found,
                    Err(why) => return Ok(Err(why)),
                }
            }
            if is_own {
                own.push((source, 0));
            }
        }
    }
    Ok(Ok(()))
}

/// Checks one path. Returns whether it met, before its last switch, an entry that belongs to this
/// terminal alone.
fn path(
    routing: &Routing,
    numbering: &ChannelNumbering,
    (source, start_port, sl): (SwitchId, u16, u8),
    (layer, t): (u32, TerminalId),
) -> Result<bool, String> {
    let (on, tree) = (routing.topology(), routing.tree(layer, t));
    let lanes = usize::from(numbering.lanes);
    let mut walk =
        RouteWalk::new(on, tree, source).on_lanes(routing.lanes().sl2vl(), sl, start_port);
    let (mut is_own, mut last) = (false, None);
    for (hop, lane) in walk.by_ref() {
        is_own |= tree.is_own(hop.at.ix());
        let lane = usize::from(lane);
        let number = numbering.number.get(hop.channel.0 as usize * lanes + lane).copied();
        if lane >= lanes || number.is_none() || number <= last {
            return Err(format!("the path from {source} to {t} does not rise at {}", hop.at));
        }
        last = number;
    }
    let end = walk.at();
    if on.peer(end, tree[end.ix()]) == PortPeer::Terminal(t) {
        return Ok(is_own);
    }
    Err(format!("a path from {source} to {t} goes astray at {end}"))
}

/// Sends packets for every goal over all candidates of `scheme`, and checks that the numbers of the
/// channels they hold stay below those of all channels that they may want next, until they arrive.
///
/// O(goals * states * candidates), in parallel. A state is visited again whenever a packet arrives
/// on a higher number than before.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn recheck_scheme(
    scheme: &impl CandidateScheme,
    numbering: &ChannelNumbering,
    watch: &dyn ProgressWatch,
) -> Result<Result<(), String>, Interrupted> {
    let on = scheme.topology();
    let plane = |s: SwitchId| on.switches()[s.ix()].plane;
    let edge: Vec<SwitchId> = on.edge_switches().into_iter().map(SwitchId).collect();
    let terminals = (0..on.terminals().len()).map(TerminalId::from);
    let mut goals = Vec::new();
    terminals.filter(|&t| on.terminal_is_up(t)).for_each(|t| scheme.goals(t, &mut goals));
    goals.sort_unstable();
    goals.dedup();
    // by intermediate switch and state: the highest channel number on which a packet arrived
    let mut come: BTreeMap<(SwitchId, u32), u32> = BTreeMap::new();
    let done = AtomicU64::new(0);
    let tick = || watch.tick("recheck", done.fetch_add(1, Relaxed), goals.len() as u64 * 2);
    for leg in 0..2 {
        if leg > 0 && come.is_empty() {
            break;
        }
        let enter = |goal: u32, flood: &mut CandidatePathSearch<_>| {
            let home = scheme.home(goal);
            let ours = |s: &SwitchId| *s != home && plane(*s) == plane(home);
            let mut states = Vec::new();
            if leg == 0 {
                for &s in edge.iter().filter(|s| ours(s)) {
                    scheme.starts(s, goal, &mut states);
                    states.drain(..).for_each(|state| flood.raise(s, state, 0));
                }
            } else {
                for (&(s, before), &number) in come.iter().filter(|((s, _), _)| ours(s)) {
                    scheme.onward(s, before, goal, &mut states);
                    states.drain(..).for_each(|state| flood.raise(s, state, number));
                }
            }
        };
        let flood = |some| flood_goals(scheme, numbering, some, &enter, &tick);
        let found: Vec<_> = goals.par_chunks(TOGETHER).map(flood).collect::<Result<_, _>>()?;
        for part in found {
            let arrivals = match part {
                Ok(arrivals) => arrivals,
                Err(why) => return Ok(Err(why)),
            };
            for ((home, state), number) in arrivals {
                if leg > 0 {
                    return Ok(Err(format!("a packet goes on at {home}")));
                }
                let known = come.entry((home, state)).or_insert(0);
                *known = number.max(*known);
            }
        }
    }
    Ok(Ok(()))
}

/// The number of goals that one task handles.
const TOGETHER: usize = 16;

/// An intermediate switch, the state there, and the highest channel number on which a packet
/// arrived.
type NumberedArrival = ((SwitchId, u32), u32);

/// Follows packets for these goals. Returns their arrivals at intermediate switches, or what is
/// wrong.
fn flood_goals<C: CandidateScheme>(
    scheme: &C,
    numbering: &ChannelNumbering,
    goals: &[u32],
    enter: &impl Fn(u32, &mut CandidatePathSearch<C>),
    tick: &impl Fn() -> Result<(), Interrupted>,
) -> Result<Result<Vec<NumberedArrival>, String>, Interrupted> {
    let mut flood = CandidatePathSearch::new(scheme, numbering);
    let mut arrivals = Vec::new();
    for &goal in goals {
        tick()?;
        enter(goal, &mut flood);
        if let Err(why) = flood.run(goal) {
            return Ok(Err(why));
        }
        let home = scheme.home(goal);
        let here = flood.arrived(home).into_iter().filter(|(state, _)| !scheme.ends(*state));
        arrivals.extend(here.map(|(state, number)| ((home, state), number)));
    }
    Ok(Ok(arrivals))
}

/// All packets for one goal, followed over every candidate.
struct CandidatePathSearch<'a, C> {
    scheme: &'a C,
    numbering: &'a ChannelNumbering,
    /// By switch and state: the highest channel number that a packet there can hold, plus one;
    /// `None` where there is no packet.
    highest: Vec<Option<u32>>,
    /// The pairs of switch and state that packets have reached, and the pairs to be visited again.
    come: Vec<(SwitchId, u32)>,
    open: Vec<(SwitchId, u32)>,
}

impl<'a, C: CandidateScheme> CandidatePathSearch<'a, C> {
    fn new(scheme: &'a C, numbering: &'a ChannelNumbering) -> Self {
        let places = scheme.topology().switches().len() * scheme.states() as usize;
        let (come, open) = Default::default();
        Self { scheme, numbering, highest: vec![None; places], come, open }
    }

    fn highest(&mut self, (at, state): (SwitchId, u32)) -> &mut Option<u32> {
        &mut self.highest[at.ix() * self.scheme.states() as usize + state as usize]
    }

    fn raise(&mut self, at: SwitchId, state: u32, number: u32) {
        let known = self.highest((at, state));
        if known.is_none_or(|known| known < number) {
            if known.replace(number).is_none() {
                self.come.push((at, state));
            }
            self.open.push((at, state));
        }
    }

    fn run(&mut self, goal: u32) -> Result<(), String> {
        let home = self.scheme.home(goal);
        let lanes = usize::from(self.numbering.lanes);
        let mut found = Vec::new();
        while let Some((at, state)) = self.open.pop() {
            if at == home {
                continue;
            }
            let held = *self.highest((at, state));
            self.scheme.next(at, PacketRoutingState { goal, state }, &mut found);
            if found.is_empty() {
                return Err(format!("a packet to {home} has no next hop at {at}"));
            }
            for candidate in found.drain(..) {
                let first = candidate.channel.0 as usize * lanes;
                let of = |lane: u8| self.numbering.number.get(first + usize::from(lane));
                let all = candidate.lanes().map(|lane| of(lane).map(|n| n + 1));
                let (Some(low), Some(Some(high))) = (all.clone().min(), all.max()) else {
                    return Err(format!("a packet to {home} has no lane at {at}"));
                };
                if usize::from(candidate.lanes().end) > lanes || low <= held {
                    return Err(format!(
                        "the channel numbers of a packet to {home} do not rise at {at}"
                    ));
                }
                self.raise(candidate.to, candidate.state, high);
            }
        }
        Ok(())
    }

    /// For each state, the highest channel number of packets that arrived at the goal. All packets
    /// are removed afterwards.
    fn arrived(&mut self, home: SwitchId) -> Vec<(u32, u32)> {
        let mut all = Vec::new();
        for (at, state) in std::mem::take(&mut self.come) {
            if let Some(number) = self.highest((at, state)).take().filter(|_| at == home) {
                all.push((state, number));
            }
        }
        all
    }
}
