//! Is a scheme of routing free of deadlock, whatever packets choose? All its choices at once.
//!
//! Source: Dally & Seitz 1987, as in [`super::deadlock`], for routing that chooses: Duato, "A new
//! theory of deadlock-free adaptive routing in wormhole networks", IEEE Transactions on Parallel
//! and Distributed Systems 4(12), 1993, whose extended graph is not made use of: here a packet
//! depends on every hop that it may take next, and all of these together must have no circle.

use super::alike::{Alike, Cuts};
use super::deadlock::{Cycle, Numbering, Wait};
use super::{Verdict, checker};
use base::{Interrupted, SwitchId, TerminalId, Watch};
use fabric::Topology;
use fabric::tables::candidates::{Candidate, Candidates, Heading};
use fabric::turns::{Held, LaneGraph};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Witness: what packets may do ends, and a numbering that rises along all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freedom {
    /// A number for every (channel, lane) pair that rises along every way.
    pub numbering: Numbering,
    /// Most hops that a packet can take.
    pub max_hops: u32,
}

/// Counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// A packet has come to a switch from which it has no way on.
    Stranded(String),
    /// A packet can take hops for ever.
    Wanders(String),
    /// Packets can wait for one another in a circle.
    Deadlock(Cycle),
    /// The separate checker does not accept the numbering.
    Unchecked(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranded(what) | Self::Wanders(what) | Self::Unchecked(what) => f.write_str(what),
            Self::Deadlock(cycle) => cycle.fmt(f),
        }
    }
}

/// Proves that packets which choose among the candidates of `scheme` arrive, never wait for one
/// another in a circle, and lets the separate checker look at the numbers; or shows why not.
///
/// O(goals * situations * candidates^2), a situation being a switch and a state that packets for a
/// goal can be in, in parallel; memory for the channel dependency graph, a bit for every two
/// classes of lanes that candidates tell apart: how many lanes a class has costs nothing.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn prove(
    scheme: &impl Candidates,
    watch: &dyn Watch,
) -> Result<Verdict<Freedom, Flaw>, Interrupted> {
    let goals = goals(scheme);
    // where the lanes of some packets begin and end is mostly where those of all do
    let cuts = Cuts::default();
    let see = |held: &Candidate, wanted: &Candidate, _: u32| {
        cuts.add(held);
        cuts.add(wanted);
    };
    let some = &goals[..goals.len().min(TOGETHER)];
    // a flaw is found once more with all goals
    let _ = each_wait(scheme, (some, goals.len()), watch, see)?;
    loop {
        let alike = Alike::of(scheme.lanes(), &cuts);
        if let Some(verdict) = prove_classes(scheme, &goals, (&alike, &cuts), watch)? {
            return Ok(verdict);
        }
    }
}

/// The verdict on these classes of lanes; `None` where a packet takes a part of one, which is
/// written into `cuts`.
fn prove_classes(
    scheme: &impl Candidates,
    goals: &[u32],
    (alike, cuts): (&Alike, &Cuts),
    watch: &dyn Watch,
) -> Result<Option<Verdict<Freedom, Flaw>>, Interrupted> {
    let (lanes, is_cut) = (scheme.lanes(), AtomicBool::new(false));
    let graph = LaneGraph::without_turns(scheme.topology(), alike.count());
    let insert = |held: &Candidate, wanted: &Candidate, _: u32| {
        let (Some(from), Some(to)) = (alike.offered(held), alike.offered(wanted)) else {
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
    let dependencies = alike.dependencies(&graph);
    let number = match graph.number(watch)? {
        Ok(number) => alike.by_lane(&number),
        Err(left) => {
            let circle = graph.cycle(&left, watch)?;
            let circle: Vec<Held> =
                circle.into_iter().map(|(channel, class)| (channel, alike.first(class))).collect();
            let cycle = explain(scheme, goals, &circle, watch)?;
            return Ok(Some(Verdict::Fails(Flaw::Deadlock(cycle))));
        }
    };
    drop(graph);
    let numbering = Numbering { lanes, number, dependencies };
    Ok(Some(match checker::recheck_scheme(scheme, &numbering, watch)? {
        Ok(()) => Verdict::Holds(Freedom { numbering, max_hops }),
        Err(why) => Verdict::Fails(Flaw::Unchecked(why)),
    }))
}

/// The pairs of a lane that is held and one that is wanted.
fn pairs(held: &Candidate, wanted: &Candidate) -> impl Iterator<Item = (Held, Held)> {
    let (from, to, lanes) = (held.channel, wanted.channel, wanted.lanes());
    held.lanes().flat_map(move |a| lanes.clone().map(move |b| ((from, a), (to, b))))
}

/// The goals of all working terminals, each once, in order.
fn goals(scheme: &impl Candidates) -> Vec<u32> {
    let on = scheme.topology();
    let mut all = Vec::new();
    for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
        scheme.goals(t, &mut all);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// By plane, the working switches that packets set off from.
fn sources(on: &Topology) -> Vec<Vec<SwitchId>> {
    let mut by_plane = vec![Vec::new(); usize::from(on.planes())];
    for s in on.edge_switches().into_iter().map(SwitchId) {
        by_plane[usize::from(on.switches()[s.ix()].plane)].push(s);
    }
    by_plane
}

/// How packets come to a switch in between in one state.
#[derive(Default)]
struct Arrived {
    /// The hops that they hold.
    held: BTreeSet<Candidate>,
    /// The most hops they have taken.
    hops: u32,
}

/// By switch in between and the state there.
type Between = BTreeMap<(SwitchId, u32), Arrived>;

/// By switch in between, state there and hop onward, the first goal for which that is taken.
type Onward = BTreeMap<(SwitchId, u32, Candidate), u32>;

/// Goals that one task looks at: so many that its memory is soon paid for, so few that all cores
/// have some.
const TOGETHER: usize = 16;

/// What every `TOGETHER` goals come to, in their order, or the first flaw. In parallel.
fn of_goals<T: Send>(
    goals: &[u32],
    find: impl Fn(&[u32]) -> Result<Result<T, Flaw>, Interrupted> + Sync + Send,
) -> Result<Result<Vec<T>, Flaw>, Interrupted> {
    let all: Vec<Result<T, Flaw>> =
        goals.par_chunks(TOGETHER).map(find).collect::<Result<_, Interrupted>>()?;
    Ok(all.into_iter().collect())
}

/// Calls `visit` for every two hops that a packet for one of these goals, of so many in all, may
/// take one after the other, and the goal of the second, often more than once, on many threads. The
/// most hops of a packet, or why packets do not arrive.
fn each_wait(
    scheme: &impl Candidates,
    (goals, total): (&[u32], usize),
    watch: &dyn Watch,
    visit: impl Fn(&Candidate, &Candidate, u32) + Sync,
) -> Result<Result<u32, Flaw>, Interrupted> {
    let done = AtomicU64::new(0);
    let tick = || watch.tick("candidates", done.fetch_add(1, Ordering::Relaxed), total as u64 * 2);
    let sources = sources(scheme.topology());
    let first = of_goals(goals, |some| first_leg(scheme, some, &sources, &tick, &visit))?;
    let (mut most, mut between) = (0, Between::new());
    match first {
        Ok(all) => {
            for (hops, found) in all {
                most = most.max(hops);
                for (place, Arrived { held, hops }) in found {
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
    let mut onward = Onward::new();
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

/// Packets from where they set off to these goals: the most hops, and how they come to goals that
/// are not where they end.
fn first_leg(
    scheme: &impl Candidates,
    goals: &[u32],
    sources: &[Vec<SwitchId>],
    tick: &impl Fn() -> Result<(), Interrupted>,
    visit: &impl Fn(&Candidate, &Candidate, u32),
) -> Result<Result<(u32, Between), Flaw>, Interrupted> {
    let on = scheme.topology();
    let mut between = Between::new();
    let (mut search, mut states, mut most) = (Search::new(scheme), Vec::new(), 0);
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

/// Packets from switches in between to these goals: the most hops, and those that they take first.
fn second_leg(
    scheme: &impl Candidates,
    goals: &[u32],
    between: &Between,
    tick: &impl Fn() -> Result<(), Interrupted>,
    visit: &impl Fn(&Candidate, &Candidate, u32),
) -> Result<Result<(u32, Onward), Flaw>, Interrupted> {
    let on = scheme.topology();
    let mut onward = Onward::new();
    let (mut search, mut states, mut most) = (Search::new(scheme), Vec::new(), 0);
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
                let heading = Heading { goal, state };
                search.wanted(s, heading, |c| _ = onward.entry((s, before, *c)).or_insert(goal));
            }
        }
        match search.run(goal, visit) {
            Ok(hops) => most = most.max(hops),
            Err(flaw) => return Ok(Err(flaw)),
        }
        if search.arrivals(home).any(|(c, _)| !scheme.ends(c.state)) {
            let name = &on.switches()[home.ix()].name;
            let why = format!("a packet goes on at {name} that was at a switch in between before");
            return Ok(Err(Flaw::Wanders(why)));
        }
    }
    Ok(Ok((most, onward)))
}

fn plane_of(on: &Topology, s: SwitchId) -> usize {
    on.switches()[s.ix()].plane.into()
}

/// A switch, and the state in which packets for the goal at hand come to it.
struct Situation {
    at: SwitchId,
    state: u32,
    /// Its hops among those found.
    hops: std::ops::Range<usize>,
    /// Most hops before it, and the situations right before it that are not counted yet.
    before: u32,
    open: u32,
}

/// All that packets for one goal may do.
struct Search<'a, C> {
    scheme: &'a C,
    all: Vec<Situation>,
    /// By switch and state, one more than the place in `all`, 0 where it is not there.
    place: Vec<u32>,
    found: Vec<Candidate>,
}

impl<'a, C: Candidates> Search<'a, C> {
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

    /// The place of a situation, which packets come to after at least `hops` hops.
    fn enter(&mut self, at: SwitchId, state: u32, hops: u32) -> usize {
        let key = self.key(at, state);
        if self.place[key] == 0 {
            self.all.push(Situation { at, state, hops: 0..0, before: 0, open: 0 });
            self.place[key] = self.all.len() as u32;
        }
        let place = self.place[key] as usize - 1;
        let own = &mut self.all[place];
        own.before = hops.max(own.before);
        place
    }

    /// The hops that may be wanted next.
    fn wanted(&mut self, at: SwitchId, heading: Heading, mut visit: impl FnMut(&Candidate)) {
        let known = self.found.len();
        self.scheme.next(at, heading, &mut self.found);
        self.found[known..].iter().for_each(&mut visit);
        self.found.truncate(known);
    }

    /// Finds all that follows from what was entered; most hops until the goal.
    fn run(
        &mut self,
        goal: u32,
        visit: &impl Fn(&Candidate, &Candidate, u32),
    ) -> Result<u32, Flaw> {
        let home = self.scheme.home(goal);
        let mut i = 0;
        while i < self.all.len() {
            let (at, state) = (self.all[i].at, self.all[i].state);
            let first = self.found.len();
            if at != home {
                self.scheme.next(at, Heading { goal, state }, &mut self.found);
                if self.found.len() == first {
                    return Err(Flaw::Stranded(self.tell(at, home, "has no way on")));
                }
            }
            self.all[i].hops = first..self.found.len();
            for hop in first..self.found.len() {
                let Candidate { to, state, .. } = self.found[hop];
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

    /// Most hops until the goal, which count up in `before`; refuses packets that go in a circle.
    fn longest(&mut self, home: SwitchId) -> Result<u32, Flaw> {
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
            Some(s) => Err(Flaw::Wanders(self.tell(s.at, home, "can take hops for ever"))),
            None => Ok(self.all.iter().map(|s| s.before).max().unwrap_or(0)),
        }
    }

    /// The hops to `home`, each with the most hops of packets that have taken it.
    fn arrivals(&self, home: SwitchId) -> impl Iterator<Item = (Candidate, u32)> {
        self.all.iter().flat_map(move |s| {
            let hops = self.found[s.hops.clone()].iter().filter(move |c| c.to == home);
            hops.map(|c| (*c, s.before + 1))
        })
    }

    fn tell(&self, at: SwitchId, home: SwitchId, what: &str) -> String {
        let name = |s: SwitchId| &self.scheme.topology().switches()[s.ix()].name;
        format!("a packet to {} {what} at {}", name(home), name(at))
    }
}

/// Puts names to a circle, and finds packets for each of its waits.
fn explain(
    scheme: &impl Candidates,
    goals: &[u32],
    circle: &[Held],
    watch: &dyn Watch,
) -> Result<Cycle, Interrupted> {
    let on = scheme.topology();
    let wants: HashMap<Held, (usize, Held)> =
        (0..circle.len()).map(|i| (circle[i], (i, circle[(i + 1) % circle.len()]))).collect();
    let goal_of: Mutex<Vec<Option<u32>>> = Mutex::new(vec![None; circle.len()]);
    let found = |held: &Candidate, wanted: &Candidate, goal: u32| {
        for (from, to) in pairs(held, wanted) {
            if let Some(&(i, known)) = wants.get(&from)
                && known == to
            {
                let least = &mut goal_of.lock().expect("no thread panics")[i];
                *least = Some(least.map_or(goal, |known| known.min(goal)));
            }
        }
    };
    // that packets arrive is known by now
    let _ = each_wait(scheme, (goals, goals.len()), watch, found)?;
    let name = |s: SwitchId| &on.switches()[s.ix()].name;
    let tell = |goal: u32| format!("packets to {}", name(scheme.home(goal)));
    let waits = circle
        .iter()
        .zip(goal_of.into_inner().expect("no thread panics"))
        .map(|(&held, goal)| Wait::new(on, held, goal.map_or_else(String::new, tell)));
    Ok(Cycle { waits: waits.collect() })
}
