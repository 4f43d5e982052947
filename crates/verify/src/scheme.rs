//! Proves that adaptive routing is free of deadlock, whatever packets choose: it considers all
//! candidates at once.
//!
//! Source: Dally & Seitz 1987, as in [`super::deadlock`]. Duato, "A new theory of deadlock-free
//! adaptive routing in wormhole networks", IEEE Transactions on Parallel and Distributed Systems
//! 4(12), 1993, treats routing with choice; his extended dependency graph is not used here. Instead
//! a packet depends on every hop that it may take next, and all of these dependencies together must
//! have no cycle.

use super::deadlock::{ChannelNumbering, DependencyCycle, DependencyCycleEdge};
use super::lane_partition::{LaneClassBoundaries, LanePartition};
use super::{Verdict, checker};
use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::Topology;
use fabric::tables::candidates::{CandidateHop, CandidateScheme, PacketRoutingState};
use fabric::turns::{HeldLane, LaneDependencyGraph};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The witness that a scheme is free of deadlock and livelock: every packet arrives after a bounded
/// number of hops, and a numbering of channels rises along all its choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemeDeadlockFreedomProof {
    /// A number for every (channel, lane) pair that rises along every possible route.
    pub numbering: ChannelNumbering,
    /// The largest number of hops that a packet can take.
    pub max_hops: u32,
}

/// A counterexample: the reason why a scheme of candidates is not proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemeFlaw {
    /// A packet can reach a switch where it has no next hop.
    Stranded(String),
    /// A packet can take hops without end.
    Wanders(String),
    /// Packets can wait for each other in a cycle.
    Deadlock(DependencyCycle),
    /// The separate checker does not accept the numbering.
    Unchecked(String),
}

impl fmt::Display for SchemeFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranded(what) | Self::Wanders(what) | Self::Unchecked(what) => f.write_str(what),
            Self::Deadlock(cycle) => cycle.fmt(f),
        }
    }
}

/// Proves that packets which choose among the candidates of `scheme` arrive and cannot deadlock,
/// and lets the separate checker test the channel numbers; or returns the reason why not.
///
/// O(goals * states * candidates^2), in parallel. A state is a switch together with the routing
/// state that a packet for a goal can have there. Memory: the channel dependency graph, one bit for
/// every two classes of lanes that candidates distinguish; the number of lanes in a class costs
/// nothing.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn prove(
    scheme: &impl CandidateScheme,
    watch: &dyn ProgressWatch,
) -> Result<Verdict<SchemeDeadlockFreedomProof, SchemeFlaw>, Interrupted> {
    let goals = goals(scheme);
    // the runs of lanes that a sample of packets may take are mostly those of all packets
    let cuts = LaneClassBoundaries::default();
    let see = |held: &CandidateHop, wanted: &CandidateHop, _: u32| {
        cuts.add(held);
        cuts.add(wanted);
    };
    let some = &goals[..goals.len().min(TOGETHER)];
    // the result is ignored: with all goals below, a flaw of the sample is found again
    let _ = each_wait(scheme, (some, goals.len()), watch, see)?;
    loop {
        let classes = LanePartition::of(scheme.lanes(), &cuts);
        if let Some(verdict) = prove_classes(scheme, &goals, (&classes, &cuts), watch)? {
            return Ok(verdict);
        }
    }
}

/// The verdict on these classes of lanes; `None` where a packet takes a part of a class, which is
/// then added to `cuts`.
fn prove_classes(
    scheme: &impl CandidateScheme,
    goals: &[u32],
    (classes, cuts): (&LanePartition, &LaneClassBoundaries),
    watch: &dyn ProgressWatch,
) -> Result<Option<Verdict<SchemeDeadlockFreedomProof, SchemeFlaw>>, Interrupted> {
    let (lanes, is_cut) = (scheme.lanes(), AtomicBool::new(false));
    let graph = LaneDependencyGraph::without_turns(scheme.topology(), classes.count());
    let insert = |held: &CandidateHop, wanted: &CandidateHop, _: u32| {
        let (Some(from), Some(to)) = (classes.offered(held), classes.offered(wanted)) else {
            cuts.add(held);
            cuts.add(wanted);
            is_cut.store(true, Ordering::Relaxed);
            return;
        };
        for a in from {
            to.clone().for_each(|b| graph.insert((held.channel, a), (wanted.channel, b)));
        }
    };
    let max_hops = match each_wait(scheme, (goals, goals.len()), watch, insert)? {
        Ok(most) => most,
        Err(flaw) => return Ok(Some(Verdict::Fails(flaw))),
    };
    if is_cut.into_inner() {
        return Ok(None);
    }
    let dependencies = classes.dependencies(&graph);
    let number = match graph.number(watch)? {
        Ok(number) => classes.by_lane(&number),
        Err(left) => {
            let cycle = graph.cycle(&left, watch)?;
            let cycle: Vec<HeldLane> =
                cycle.into_iter().map(|(channel, class)| (channel, classes.first(class))).collect();
            let cycle = explain(scheme, goals, &cycle, watch)?;
            return Ok(Some(Verdict::Fails(SchemeFlaw::Deadlock(cycle))));
        }
    };
    drop(graph);
    let numbering = ChannelNumbering { lanes, number, dependencies };
    Ok(Some(match checker::recheck_scheme(scheme, &numbering, watch)? {
        Ok(()) => Verdict::Holds(SchemeDeadlockFreedomProof { numbering, max_hops }),
        Err(why) => Verdict::Fails(SchemeFlaw::Unchecked(why)),
    }))
}

/// All pairs of a virtual channel that is held and one that is waited for.
fn pairs(held: &CandidateHop, wanted: &CandidateHop) -> impl Iterator<Item = (HeldLane, HeldLane)> {
    let (from, to, lanes) = (held.channel, wanted.channel, wanted.lanes());
    held.lanes().flat_map(move |a| lanes.clone().map(move |b| ((from, a), (to, b))))
}

/// The goals of all working terminals, each once, in order. Packets for the same goal are treated
/// alike.
fn goals(scheme: &impl CandidateScheme) -> Vec<u32> {
    let on = scheme.topology();
    let mut all = Vec::new();
    for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
        scheme.goals(t, &mut all);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The working switches from which packets start, by plane.
fn sources(on: &Topology) -> Vec<Vec<SwitchId>> {
    let mut by_plane = vec![Vec::new(); usize::from(on.planes())];
    for s in on.edge_switches().into_iter().map(SwitchId) {
        by_plane[usize::from(on.switches()[s.ix()].plane)].push(s);
    }
    by_plane
}

/// The arrivals of packets at an intermediate switch in one state.
#[derive(Default)]
struct IntermediateSwitchArrivals {
    /// The last hops of these packets, whose channels they hold.
    held: BTreeSet<CandidateHop>,
    /// The largest number of hops they have taken.
    hops: u32,
}

/// Arrivals by intermediate switch and state there.
type IntermediateArrivals = BTreeMap<(SwitchId, u32), IntermediateSwitchArrivals>;

/// For each intermediate switch, state there and next hop: the first goal for which packets take
/// that hop.
type OnwardHops = BTreeMap<(SwitchId, u32, CandidateHop), u32>;

/// The number of goals that one task handles: large enough to pay for its memory, small enough to
/// give all cores work.
const TOGETHER: usize = 16;

/// Calls `find` for groups of `TOGETHER` goals, in parallel. Returns the results in the order of
/// the goals, or the first flaw.
fn of_goals<T: Send>(
    goals: &[u32],
    find: impl Fn(&[u32]) -> Result<Result<T, SchemeFlaw>, Interrupted> + Sync + Send,
) -> Result<Result<Vec<T>, SchemeFlaw>, Interrupted> {
    let all: Vec<Result<T, SchemeFlaw>> =
        goals.par_chunks(TOGETHER).map(find).collect::<Result<_, Interrupted>>()?;
    Ok(all.into_iter().collect())
}

/// Calls `visit` for every two hops that a packet for one of these goals may take one after the
/// other, with the goal of the second hop. It may be called several times for the same hops, and on
/// many threads. `total` is the number of all goals. Returns the largest number of hops of a
/// packet, or why packets do not arrive.
fn each_wait(
    scheme: &impl CandidateScheme,
    (goals, total): (&[u32], usize),
    watch: &dyn ProgressWatch,
    visit: impl Fn(&CandidateHop, &CandidateHop, u32) + Sync,
) -> Result<Result<u32, SchemeFlaw>, Interrupted> {
    let done = AtomicU64::new(0);
    let tick = || watch.tick("candidates", done.fetch_add(1, Ordering::Relaxed), total as u64 * 2);
    let sources = sources(scheme.topology());
    let first = of_goals(goals, |some| first_leg(scheme, some, &sources, &tick, &visit))?;
    let (mut most, mut between) = (0, IntermediateArrivals::new());
    match first {
        Ok(all) => {
            for (hops, found) in all {
                most = most.max(hops);
                for (place, IntermediateSwitchArrivals { held, hops }) in found {
                    let arrived = between.entry(place).or_default();
                    arrived.held.extend(held);
                    arrived.hops = hops.max(arrived.hops);
                }
            }
        }
        Err(flaw) => return Ok(Err(flaw)),
    }
    if between.is_empty() {
        return Ok(Ok(most));
    }
    let second = of_goals(goals, |some| second_leg(scheme, some, &between, &tick, &visit))?;
    let mut onward = OnwardHops::new();
    match second {
        Ok(all) => {
            for (hops, found) in all {
                most = most.max(hops);
                for (hop, goal) in found {
                    onward.entry(hop).or_insert(goal);
                }
            }
        }
        Err(flaw) => return Ok(Err(flaw)),
    }
    let joints = onward.len() as u64;
    for (i, ((s, before, wanted), goal)) in (0..).zip(onward) {
        watch.tick("candidates", i, joints)?;
        between[&(s, before)].held.iter().for_each(|held| visit(held, &wanted, goal));
    }
    Ok(Ok(most))
}

/// Follows packets from their sources to these goals. Returns the largest number of hops, and how
/// packets arrive at goals that are only intermediate switches.
fn first_leg(
    scheme: &impl CandidateScheme,
    goals: &[u32],
    sources: &[Vec<SwitchId>],
    tick: &impl Fn() -> Result<(), Interrupted>,
    visit: &impl Fn(&CandidateHop, &CandidateHop, u32),
) -> Result<Result<(u32, IntermediateArrivals), SchemeFlaw>, Interrupted> {
    let on = scheme.topology();
    let mut between = IntermediateArrivals::new();
    let (mut search, mut states, mut most) = (PacketStateSearch::new(scheme), Vec::new(), 0);
    for &goal in goals {
        tick()?;
        let home = scheme.home(goal);
        search.clear();
        for &source in sources[plane_of(on, home)].iter().filter(|s| **s != home) {
            states.clear();
            scheme.starts(source, goal, &mut states);
            for &state in &states {
                search.enter(source, state, 0);
            }
        }
        match search.run(goal, visit) {
            Ok(hops) => most = most.max(hops),
            Err(flaw) => return Ok(Err(flaw)),
        }
        for (held, hops) in search.arrivals(home).filter(|(c, _)| !scheme.ends(c.state)) {
            let arrived = between.entry((home, held.state)).or_default();
            arrived.held.insert(held);
            arrived.hops = hops.max(arrived.hops);
        }
    }
    Ok(Ok((most, between)))
}

/// Follows packets from intermediate switches to these goals. Returns the largest number of hops,
/// and the first hops that they take.
fn second_leg(
    scheme: &impl CandidateScheme,
    goals: &[u32],
    between: &IntermediateArrivals,
    tick: &impl Fn() -> Result<(), Interrupted>,
    visit: &impl Fn(&CandidateHop, &CandidateHop, u32),
) -> Result<Result<(u32, OnwardHops), SchemeFlaw>, Interrupted> {
    let on = scheme.topology();
    let mut onward = OnwardHops::new();
    let (mut search, mut states, mut most) = (PacketStateSearch::new(scheme), Vec::new(), 0);
    for &goal in goals {
        tick()?;
        let home = scheme.home(goal);
        search.clear();
        let here = |s: SwitchId| s != home && plane_of(on, s) == plane_of(on, home);
        for (&(s, before), arrived) in between.iter().filter(|((s, _), _)| here(*s)) {
            states.clear();
            scheme.onward(s, before, goal, &mut states);
            for &state in &states {
                search.enter(s, state, arrived.hops);
                let heading = PacketRoutingState { goal, state };
                search.wanted(s, heading, |c| _ = onward.entry((s, before, *c)).or_insert(goal));
            }
        }
        match search.run(goal, visit) {
            Ok(hops) => most = most.max(hops),
            Err(flaw) => return Ok(Err(flaw)),
        }
        if search.arrivals(home).any(|(c, _)| !scheme.ends(c.state)) {
            let name = &on.switches()[home.ix()].name;
            let why =
                format!("a packet goes on at {name} that was at an intermediate switch before");
            return Ok(Err(SchemeFlaw::Wanders(why)));
        }
    }
    Ok(Ok((most, onward)))
}

fn plane_of(on: &Topology, s: SwitchId) -> usize {
    on.switches()[s.ix()].plane.into()
}

/// A switch, and the state in which packets for the current goal arrive there.
struct PacketSearchNode {
    at: SwitchId,
    state: u32,
    /// The hops that a packet in this state may take next, as a range of `found` in the search.
    hops: std::ops::Range<usize>,
    /// The largest number of hops before this state, and the number of its predecessors whose hops
    /// are not counted yet.
    before: u32,
    open: u32,
}

/// A search over all states that packets for one goal can be in.
struct PacketStateSearch<'a, C> {
    scheme: &'a C,
    all: Vec<PacketSearchNode>,
    /// By switch and state: the index in `all` plus one, or 0 where the state is not reached.
    place: Vec<u32>,
    found: Vec<CandidateHop>,
}

impl<'a, C: CandidateScheme> PacketStateSearch<'a, C> {
    fn new(scheme: &'a C) -> Self {
        let places = scheme.topology().switches().len() * scheme.states() as usize;
        Self { scheme, all: Vec::new(), place: vec![0; places], found: Vec::new() }
    }

    fn key(&self, at: SwitchId, state: u32) -> usize {
        at.ix() * self.scheme.states() as usize + state as usize
    }

    fn clear(&mut self) {
        for i in 0..self.all.len() {
            let key = self.key(self.all[i].at, self.all[i].state);
            self.place[key] = 0;
        }
        self.all.clear();
        self.found.clear();
    }

    /// The index of a state, which packets reach after at least `hops` hops.
    fn enter(&mut self, at: SwitchId, state: u32, hops: u32) -> usize {
        let key = self.key(at, state);
        if self.place[key] == 0 {
            self.all.push(PacketSearchNode { at, state, hops: 0..0, before: 0, open: 0 });
            self.place[key] = self.all.len() as u32;
        }
        let place = self.place[key] as usize - 1;
        let own = &mut self.all[place];
        own.before = hops.max(own.before);
        place
    }

    /// Calls `visit` for the hops that a packet may take next.
    fn wanted(
        &mut self,
        at: SwitchId,
        heading: PacketRoutingState,
        mut visit: impl FnMut(&CandidateHop),
    ) {
        let known = self.found.len();
        self.scheme.next(at, heading, &mut self.found);
        self.found[known..].iter().for_each(&mut visit);
        self.found.truncate(known);
    }

    /// Finds all states that follow from the entered ones. Returns the largest number of hops to
    /// the goal.
    fn run(
        &mut self,
        goal: u32,
        visit: &impl Fn(&CandidateHop, &CandidateHop, u32),
    ) -> Result<u32, SchemeFlaw> {
        let home = self.scheme.home(goal);
        let mut i = 0;
        while i < self.all.len() {
            let (at, state) = (self.all[i].at, self.all[i].state);
            let first = self.found.len();
            if at != home {
                self.scheme.next(at, PacketRoutingState { goal, state }, &mut self.found);
                if self.found.len() == first {
                    return Err(SchemeFlaw::Stranded(self.describe(at, home, "has no next hop")));
                }
            }
            self.all[i].hops = first..self.found.len();
            for hop in first..self.found.len() {
                let CandidateHop { to, state, .. } = self.found[hop];
                let place = self.enter(to, state, 0);
                self.all[place].open += 1;
            }
            i += 1;
        }
        for situation in &self.all {
            for held in &self.found[situation.hops.clone()] {
                let next = &self.all[self.place[self.key(held.to, held.state)] as usize - 1];
                self.found[next.hops.clone()].iter().for_each(|wanted| visit(held, wanted, goal));
            }
        }
        self.longest(home)
    }

    /// The largest number of hops to the goal; `before` of each state is computed, too.
    /// Refuses packets that can move in a cycle.
    fn longest(&mut self, home: SwitchId) -> Result<u32, SchemeFlaw> {
        let mut ready: Vec<usize> =
            (0..self.all.len()).filter(|&i| self.all[i].open == 0).collect();
        let mut head = 0;
        while let Some(&i) = ready.get(head) {
            head += 1;
            let (hops, before) = (self.all[i].hops.clone(), self.all[i].before);
            for hop in hops {
                let place = self.place[self.key(self.found[hop].to, self.found[hop].state)] - 1;
                let next = &mut self.all[place as usize];
                next.before = next.before.max(before + 1);
                next.open -= 1;
                if next.open == 0 {
                    ready.push(place as usize);
                }
            }
        }
        match self.all.iter().find(|s| s.open > 0) {
            Some(s) => {
                Err(SchemeFlaw::Wanders(self.describe(s.at, home, "can take hops without end")))
            }
            None => Ok(self.all.iter().map(|s| s.before).max().unwrap_or(0)),
        }
    }

    /// The last hops to `home`, each with the largest number of hops of packets that have taken it.
    fn arrivals(&self, home: SwitchId) -> impl Iterator<Item = (CandidateHop, u32)> {
        self.all.iter().flat_map(move |s| {
            let hops = self.found[s.hops.clone()].iter().filter(move |c| c.to == home);
            hops.map(|c| (*c, s.before + 1))
        })
    }

    fn describe(&self, at: SwitchId, home: SwitchId, what: &str) -> String {
        let name = |s: SwitchId| &self.scheme.topology().switches()[s.ix()].name;
        format!("a packet to {} {what} at {}", name(home), name(at))
    }
}

/// Describes a cycle by names, and finds packets for each of its edges.
fn explain(
    scheme: &impl CandidateScheme,
    goals: &[u32],
    cycle: &[HeldLane],
    watch: &dyn ProgressWatch,
) -> Result<DependencyCycle, Interrupted> {
    let on = scheme.topology();
    let wants: HashMap<HeldLane, (usize, HeldLane)> =
        (0..cycle.len()).map(|i| (cycle[i], (i, cycle[(i + 1) % cycle.len()]))).collect();
    let goal_of: Mutex<Vec<Option<u32>>> = Mutex::new(vec![None; cycle.len()]);
    let found = |held: &CandidateHop, wanted: &CandidateHop, goal: u32| {
        for (from, to) in pairs(held, wanted) {
            if let Some(&(i, known)) = wants.get(&from)
                && known == to
            {
                let least = &mut goal_of.lock().expect("no thread panics")[i];
                *least = Some(least.map_or(goal, |known| known.min(goal)));
            }
        }
    };
    // the result can be ignored: the search before has shown that packets arrive
    let _ = each_wait(scheme, (goals, goals.len()), watch, found)?;
    let name = |s: SwitchId| &on.switches()[s.ix()].name;
    let describe = |goal: u32| format!("packets to {}", name(scheme.home(goal)));
    let waits =
        cycle.iter().zip(goal_of.into_inner().expect("no thread panics")).map(|(&held, goal)| {
            DependencyCycleEdge::new(on, held, goal.map_or_else(String::new, describe))
        });
    Ok(DependencyCycle { waits: waits.collect() })
}
