//! Tests of critical paths: they add up to the run's time, and their amounts are its derivatives.

use base::QuietWatch;
use base::seed::FastRandomStream;
use fabric::network::parse_inline;
use message::{
    CriticalPathCostCounts, LogGopsParameters, NetworkTimeParameters, NetworkWithRanks,
    ScheduleDialect, run, traced,
};
use paths::PathSource;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, json};
use std::sync::Arc;
use traffic::workload::{Schedule, ScheduleBuilder, ScheduleOperation, make};

const NAMES: [&str; 9] = [
    "allreduce_ring",
    "allreduce_recursive_doubling",
    "allreduce_double_tree",
    "alltoall_linear",
    "alltoall_pairwise",
    "barrier_dissemination",
    "broadcast_pipelined",
    "broadcast_binomial",
    "scatter_binomial",
];

/// A collective operation before and after which every rank computes for a different time.
fn schedule(name: &str, ranks: u32, bytes: u64, seed: u64) -> Schedule {
    let given = json!({ "ranks": ranks, "bytes": bytes });
    let with: Map<_, _> = given.as_object().expect("a table").clone();
    let plain = make(name, &with, &QuietWatch).expect("a schedule");
    let mut draw = FastRandomStream::new(seed, "computing", 0);
    let mut made = ScheduleBuilder::new(ranks);
    for rank in 0..ranks {
        let all = plain.of_rank(rank);
        let mut of = made.rank();
        let first = of.add(ScheduleOperation::calc(u64::from(draw.below(20_000)))).expect("room");
        for op in all.clone() {
            let it = plain.ops()[op as usize];
            let new = of.add(it.on(draw.below(2) as u8)).expect("room");
            of.require(new, first).expect("room");
        }
        for op in all.clone() {
            for (list, start) in [(plain.require(op), false), (plain.require_start(op), true)] {
                for after in list {
                    let (after, before) = (after - all.start + 1, op - all.start + 1);
                    if start {
                        of.require_start(after, before).expect("room");
                    } else {
                        of.require(after, before).expect("room");
                    }
                }
            }
        }
        let last = of.add(ScheduleOperation::calc(u64::from(draw.below(3_000)))).expect("room");
        (1..last).for_each(|op| of.require(last, op).expect("room"));
    }
    made.finish().expect("a schedule")
}

fn costs(seed: u64) -> LogGopsParameters {
    let mut draw = FastRandomStream::new(seed, "costs", 0);
    let mut some = |most: u32| f64::from(1 + draw.below(most * 1000)) / 1000.0;
    LogGopsParameters { L: some(3000), o: some(500), g: some(900), G: some(6), O: some(3), S: 4096 }
}

/// The time in picoseconds that the amounts of a path come to.
fn worth(a: &CriticalPathCostCounts, c: &LogGopsParameters) -> f64 {
    1000.0
        * (a.latencies as f64 * c.L
            + a.overheads as f64 * c.o
            + a.gaps as f64 * c.g
            + a.interface_bytes as f64 * c.G
            + a.processor_bytes as f64 * c.O)
        + (a.computing_ps + a.route_ps + a.alone_ps + a.shared_ps) as f64
}

fn torus() -> Arc<fabric::Topology> {
    let recipe = parse_inline("torus:shape=4x3,p=1").expect("a recipe");
    let family = families::family(&recipe.family).expect("there is one");
    Arc::new(family.build(&recipe.params).expect("a network"))
}

proptest! {
    // the cases are fixed: with others, a step of a parameter may change who is served first, and
    // so the whole run
    #![proptest_config(ProptestConfig {
        cases: 150, rng_seed: RngSeed::Fixed(7), failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_path_adds_up_and_its_amounts_are_derivatives(
        which in 0_usize..NAMES.len(), ranks in 1_u32..13, bytes in 0_u64..20_000,
        seed in any::<u64>(), over_network in any::<bool>(),
    ) {
        let schedule = schedule(NAMES[which], ranks, bytes, seed);
        let c = costs(seed);
        let (how, places) = (NetworkTimeParameters::default(), (0..ranks).collect::<Vec<_>>());
        let under = over_network.then(|| NetworkWithRanks {
            on: PathSource::Network(torus()), how: &how, places: &places, seed: 0,
        });
        let last = |c: &LogGopsParameters| {
            let found = run(&schedule, ScheduleDialect::Causal, c, under.as_ref(), &QuietWatch);
            let found = found.expect("a run");
            *found.finish.iter().max().expect("ranks")
        };
        let traced = traced(&schedule, &c, under.as_ref(), &QuietWatch).expect("a run");
        let finish = last(&c);
        prop_assert_eq!(traced.found.finish.iter().max(), Some(&finish));
        // the spans follow one another from 0 to the end, each as long as its amounts come to
        let mut time = 0;
        let mut all = CriticalPathCostCounts::default();
        for span in &traced.path {
            prop_assert_eq!(span.begin, time);
            time = span.end;
            let length = span.end as f64 - span.begin as f64;
            let error = (length - worth(&span.amounts, &c)).abs();
            prop_assert!(error < 2.0, "{:?}: {} for {}", span, length, worth(&span.amounts, &c));
            all += span.amounts;
        }
        prop_assert_eq!(time, finish);
        if over_network {
            return Ok(()); // rates change with what overlaps: no straight lines
        }
        if NAMES[which] == "alltoall_linear" {
            return Ok(()); // who is served first at an interface changes with every parameter
        }
        // with other costs, the run takes at least as long as this path does
        for step in [0.001, 0.004] {
            let moved = [
                (LogGopsParameters { L: c.L + step, ..c }, all.latencies),
                (LogGopsParameters { o: c.o + step, ..c }, all.overheads),
                (LogGopsParameters { g: c.g + step, ..c }, all.gaps),
                (LogGopsParameters { G: c.G + step, ..c }, all.interface_bytes),
                (LogGopsParameters { O: c.O + step, ..c }, all.processor_bytes),
            ];
            for (i, (costs, amount)) in moved.iter().enumerate() {
                let grown = last(costs) as f64 - finish as f64;
                let least = *amount as f64 * step * 1000.0;
                prop_assert!(grown > least - 60.0, "letter {}: {} for {}", i, grown, least);
            }
        }
        // for the smallest step it takes no longer, unless another path becomes the longest
        let near = LogGopsParameters { L: c.L + 0.001, ..c };
        let grown = last(&near) - finish;
        prop_assert!(grown < all.latencies as u64 + 60, "{} for {}", grown, all.latencies);
    }
}

#[test]
fn a_ping_pong_is_all_path() {
    let mut made = ScheduleBuilder::new(2);
    let mut of = made.rank();
    let sends = of.add(ScheduleOperation::send(1001, 1, 0)).expect("room");
    let receives = of.add(ScheduleOperation::recv(1001, 1, 1)).expect("room");
    of.require(receives, sends).expect("room");
    drop(of);
    let mut of = made.rank();
    let receives = of.add(ScheduleOperation::recv(1001, 0, 0)).expect("room");
    let sends = of.add(ScheduleOperation::send(1001, 0, 1)).expect("room");
    of.require(sends, receives).expect("room");
    drop(of);
    let schedule = made.finish().expect("a schedule");
    let found = traced(&schedule, &LogGopsParameters::default(), None, &QuietWatch).expect("a run");
    let all = CriticalPathCostCounts::of(&found.path);
    let wanted = CriticalPathCostCounts {
        overheads: 4,
        latencies: 2,
        interface_bytes: 2000,
        ..CriticalPathCostCounts::default()
    };
    assert_eq!(all, wanted);
    // two ranks each send and receive, and nothing overlaps on a processor
    assert_eq!(found.spans.len(), 4);
    assert!(found.spans.windows(2).all(|w| w[0].rank < w[1].rank || w[0].end <= w[1].begin));
}
