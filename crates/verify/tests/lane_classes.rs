//! Compares proofs over classes of lanes with proofs over all lanes, one by one.

use base::{QuietWatch, SwitchId};
use fabric::Topology;
use fabric::network::parse_inline;
use fabric::tables::candidates::{
    CandidateHop, CandidateScheme, LaneClasses, MinimalAdaptiveRouting, PacketRoutingState,
};
use fabric::turns::HeldLane;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verify::Verdict;
use verify::scheme::{SchemeFlaw, prove};

/// A function of the goal, the number of hops before a hop, and the switch of the hop: the first
/// lane that the hop may take, and the number of lanes.
type LaneRun = Box<dyn Fn(u32, u32, u32) -> (u8, u8) + Sync>;

/// A scheme with shortest paths, or with paths round a ring in one direction, on any runs of lanes.
struct OfferedLaneScheme {
    shortest: MinimalAdaptiveRouting,
    clockwise: bool,
    lanes: u8,
    /// The number of hops after which states repeat.
    states: u32,
    run: LaneRun,
}

impl OfferedLaneScheme {
    fn new(on: &Arc<Topology>, lanes: u8, states: u32, run: LaneRun) -> Self {
        let shortest = MinimalAdaptiveRouting::new(on.clone(), LaneClasses::any(1), &QuietWatch)
            .expect("paths");
        Self { shortest, clockwise: false, lanes, states, run }
    }
}

impl CandidateScheme for OfferedLaneScheme {
    fn topology(&self) -> &Topology {
        self.shortest.topology()
    }

    fn lanes(&self) -> u8 {
        self.lanes
    }

    fn states(&self) -> u32 {
        self.states
    }

    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let first = found.len();
        if self.clockwise {
            let graph = self.topology().graph();
            let next = (at.0 + 1) % graph.switches() as u32;
            let channels = graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix()));
            let to = |(_, channel): (_, &base::ChannelId)| CandidateHop {
                channel: *channel,
                to: SwitchId(next),
                state: 0,
                lane: 0,
                width: 1,
            };
            found.extend(channels.filter(|(to, _)| **to == next).map(to));
        } else {
            self.shortest.next(at, PacketRoutingState { state: 0, ..heading }, found);
        }
        for candidate in &mut found[first..] {
            candidate.state = (heading.state + 1) % self.states;
            (candidate.lane, candidate.width) = (self.run)(heading.goal, heading.state, at.0);
        }
    }
}

/// All pairs of a held and a wanted virtual channel, found one by one.
fn waits(scheme: &OfferedLaneScheme) -> BTreeSet<(HeldLane, HeldLane)> {
    let on = scheme.topology();
    let switches = on.switches().len() as u32;
    let mut pairs = BTreeSet::new();
    for goal in 0..switches {
        let hops = |at: u32, state: u32| {
            let mut found = Vec::new();
            if at != goal {
                scheme.next(SwitchId(at), PacketRoutingState { goal, state }, &mut found);
            }
            found
        };
        let mut open: Vec<(u32, u32)> = (0..switches).map(|at| (at, 0)).collect();
        let mut seen: BTreeSet<(u32, u32)> = open.iter().copied().collect();
        while let Some((at, state)) = open.pop() {
            for held in hops(at, state) {
                let next = (held.to.0, held.state);
                if seen.insert(next) {
                    open.push(next);
                }
                for wanted in hops(next.0, next.1) {
                    for a in held.lanes() {
                        for b in wanted.lanes() {
                            pairs.insert(((held.channel, a), (wanted.channel, b)));
                        }
                    }
                }
            }
        }
    }
    pairs
}

/// Whether the pairs have a cycle: channels that wait for nothing are removed until none is left or
/// none can be removed.
fn has_cycle(pairs: &BTreeSet<(HeldLane, HeldLane)>) -> bool {
    let mut left: BTreeMap<HeldLane, BTreeSet<HeldLane>> = BTreeMap::new();
    for (from, to) in pairs {
        left.entry(*from).or_default().insert(*to);
    }
    loop {
        let before = left.len();
        let still: BTreeSet<HeldLane> = left.keys().copied().collect();
        left.retain(|_, wanted| wanted.iter().any(|to| still.contains(to)));
        if left.len() == before {
            return before > 0;
        }
    }
}

fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("a network");
    let family = families::family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("it can be built"))
}

/// A hash of four numbers that looks random.
fn mixed(all: [u32; 4]) -> u32 {
    all.into_iter().fold(0x9e37_79b9, |hash: u32, one| {
        let hash = (hash ^ one).wrapping_mul(0x85eb_ca6b);
        hash ^ (hash >> 13)
    })
}

/// Whether the scheme is proved. Verdict, number of dependencies and numbering must be right for
/// all lanes.
fn agrees(case: &str, scheme: &OfferedLaneScheme) -> bool {
    let pairs = waits(scheme);
    let is_held =
        |(channel, lane): &HeldLane| channel.ix() * usize::from(scheme.lanes) + usize::from(*lane);
    match prove(scheme, &QuietWatch).expect("nobody stops") {
        Verdict::Holds(freedom) => {
            assert!(!has_cycle(&pairs), "{case}: a cycle is passed over");
            let numbering = freedom.numbering;
            assert_eq!(numbering.dependencies, pairs.len() as u64, "{case}");
            let number = |held: &HeldLane| numbering.number[is_held(held)];
            assert!(pairs.iter().all(|(a, b)| number(a) < number(b)), "{case}");
            true
        }
        Verdict::Fails(SchemeFlaw::Deadlock(cycle)) => {
            assert!(has_cycle(&pairs), "{case}: there is no cycle");
            let held: Vec<HeldLane> = cycle.waits.iter().map(|wait| wait.held).collect();
            for (i, from) in held.iter().enumerate() {
                let to = held[(i + 1) % held.len()];
                assert!(pairs.contains(&(*from, to)), "{case}: {from:?} does not wait for {to:?}");
            }
            false
        }
        Verdict::Fails(other) => panic!("{case}: {other}"),
    }
}

/// Runs of lanes are drawn by goal, hop and switch. The first goals, from which the prover guesses
/// the classes, all have the same runs, so that the guess is wrong.
#[test]
fn classes_and_single_lanes_have_the_same_verdict() {
    let mut held = [0; 2];
    for seed in 0..60_u32 {
        let n = 5 + seed % 26;
        let inline = format!("jellyfish:n={},k=4,p=1,seed={seed}", n + n % 2);
        let on = network(&inline);
        let lanes = 1 + (mixed([seed, 1, 0, 0]) % 12) as u8;
        let states = 1 + mixed([seed, 2, 0, 0]) % 5;
        let few = 1 + mixed([seed, 3, 0, 0]) % 4;
        let rises = seed % 3 > 0;
        let run = move |goal: u32, state: u32, at: u32| {
            let goal = if goal < 16 { 0 } else { goal };
            // either lanes that rise with hops, in parts, or any lanes
            let part = lanes / states as u8;
            let (first, room) =
                if rises && part > 0 { (state as u8 * part, part) } else { (0, lanes) };
            let drawn = mixed([seed, goal % few, state, at % few]);
            let lane = drawn as u8 % room;
            (first + lane, 1 + (drawn >> 8) as u8 % (room - lane))
        };
        let scheme = OfferedLaneScheme::new(&on, lanes, states, Box::new(run));
        let case = format!("{inline}, {lanes} lanes, {states} states");
        held[usize::from(agrees(&case, &scheme))] += 1;
    }
    assert!(held.iter().all(|count| *count > 5), "both verdicts are there: {held:?}");
}

/// On a ring in one direction, packets for a few goals change from any class of lanes to any other
/// and back: a cycle over one or two classes. All other packets change their class where the ring
/// begins, so that they are in no cycle.
#[test]
fn a_cycle_over_any_two_classes_is_found() {
    let classes: [(u8, u8); 5] = [(0, 2), (2, 1), (3, 4), (7, 1), (8, 3)];
    let on = network("ring:n=20,p=1");
    let others = move |goal: u32, at: u32| classes[goal as usize % 4 + usize::from(at < goal)];
    let offered =
        |run| OfferedLaneScheme { clockwise: true, ..OfferedLaneScheme::new(&on, 11, 19, run) };
    assert!(agrees("nothing is planted", &offered(Box::new(move |goal, _, at| others(goal, at)))));
    for from in classes {
        for to in classes {
            let run: LaneRun = Box::new(move |goal, state, at| match goal {
                17.. => [from, to][state as usize % 2],
                _ => others(goal, at),
            });
            let case = format!("{from:?} and {to:?}");
            assert!(!agrees(&case, &offered(run)), "{case}: a cycle is not found");
        }
    }
}

/// A ring like that of the previous test, but lanes rise with every hop, so that there is no cycle.
#[test]
fn classes_that_rise_are_proved() {
    let classes: [(u8, u8); 4] = [(0, 2), (2, 1), (3, 4), (7, 1)];
    let on = network("ring:n=5,p=1");
    let run = move |_: u32, state: u32, _: u32| classes[state as usize % 4];
    let scheme =
        OfferedLaneScheme { clockwise: true, ..OfferedLaneScheme::new(&on, 8, 5, Box::new(run)) };
    assert!(agrees("four hops on four classes", &scheme));
}
