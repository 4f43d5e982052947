//! Tests of messages over networks: single ones against the formula, several against closed forms.

use base::seed::FastRandomStream;
use base::{LinkId, QuietWatch, SwitchId};
use fabric::Topology;
use fabric::network::parse_inline;
use fabric::tables::Routing;
use message::{
    AdapterTimeParameters, LinkTimeParameters, LogGopsParameters, MessageRouteSelection,
    NetworkTimeParameters, NetworkWithRanks, RailSelection, ScheduleDialect, ScheduleRunResult,
    SwitchTimeParameters, run,
};
use paths::PathSource;
use proptest::prelude::*;
use serde_json::Map;
use std::sync::Arc;
use traffic::workload::{Schedule, ScheduleBuilder, ScheduleOperation};

pub(super) const NETS: [&str; 7] = [
    "slim_fly:q=5,p=3",
    "slim_fly:q=4,p=2",
    "dragonfly:h=2",
    "torus:shape=4x3,p=2",
    "jellyfish:n=20,k=4,p=2,seed=3",
    "fat_tree:levels=3,k=4",
    "hyperx:shape=3x4,p=2",
];
/// Time of a byte over a 4x HDR cable, 200 Gbit/s, in picoseconds.
pub(super) const BYTE_PS: u64 = 40;

/// A network whose switches and cables take no time.
pub(super) fn at_once() -> NetworkTimeParameters {
    NetworkTimeParameters {
        switch: SwitchTimeParameters { delay_ns: 0.0 },
        link: LinkTimeParameters { latency_ns: Some(0.0), rate_gbps: None },
        ..NetworkTimeParameters::default()
    }
}

fn with(network: AdapterTimeParameters, of: NetworkTimeParameters) -> NetworkTimeParameters {
    NetworkTimeParameters { network, ..of }
}

pub(super) fn network(spec: &str) -> Topology {
    let recipe = parse_inline(spec).expect("a recipe");
    let family = families::family(&recipe.family).expect("there is one");
    family.build(&recipe.params).expect("a network")
}

pub(super) fn routed(on: &Arc<Topology>, engine: &str) -> Routing {
    let engine = engines::engine(engine).expect("there is one");
    engine.route(&Map::new(), on, 1, &QuietWatch).expect("tables")
}

/// A schedule of messages between ranks, with their bytes, which begin in the listed order.
pub(super) fn messages(ranks: u32, all: &[(u32, u32, u64)]) -> Schedule {
    let mut made = ScheduleBuilder::new(ranks);
    for rank in 0..ranks {
        let mut of = made.rank();
        for (tag, &(from, to, bytes)) in (0..).zip(all) {
            if from == rank {
                of.add(ScheduleOperation::send(bytes, to, tag)).expect("room");
            }
            if to == rank {
                of.add(ScheduleOperation::recv(bytes, from, tag)).expect("room");
            }
        }
    }
    made.finish().expect("a schedule")
}

pub(super) fn ran(
    on: PathSource,
    how: &NetworkTimeParameters,
    costs: &LogGopsParameters,
    all: &[(u32, u32, u64)],
) -> ScheduleRunResult {
    let ranks = on.topology().endpoints().len() as u32;
    let places: Vec<u32> = (0..ranks).collect();
    let under = NetworkWithRanks { on, how, places: &places, seed: 5 };
    let found =
        run(&messages(ranks, all), ScheduleDialect::Causal, costs, Some(&under), &QuietWatch);
    let found = found.expect("a run");
    assert_eq!(found.left, None);
    // each endpoint put into the network what its rank sent, and got out of it what the rank
    // received
    let used = found.used.as_ref().expect("a network");
    let first = used.bytes.len() - 2 * ranks as usize;
    for rank in 0..ranks {
        for (side, channel) in used.bytes[first + 2 * rank as usize..][..2].iter().enumerate() {
            let ends = |m: &&(u32, u32, u64)| [m.0, m.1][side] == rank && m.0 != m.1;
            let bytes: u64 = all.iter().filter(ends).map(|m| m.2.saturating_sub(1)).sum();
            assert!((channel - bytes as f64).abs() <= 1e-6 * bytes as f64, "{channel} {bytes}");
        }
    }
    found
}

/// LogGOPS parameters of 0, so that only the network takes time.
pub(super) fn free() -> LogGopsParameters {
    LogGopsParameters { L: 0.0, o: 0.0, g: 0.0, G: 0.0, O: 0.0, S: 1 << 30 }
}

/// The channels of each route with their shares, found without the simulator: with equal shares
/// over all shortest paths, or by the entries of tables.
fn parts(on: &Topology, tables: Option<&Routing>, from: u32, to: u32) -> Vec<(u32, f64)> {
    let at = |e: u32| on.terminals()[e as usize].plug.switch;
    let mut found = Vec::new();
    if let Some(tables) = tables {
        let (next, switches) = (tables.next(), on.switches().len());
        let mut here = at(from);
        while here != at(to) {
            let port = next[to as usize * switches + here.ix()];
            let (channel, there) = on.hop(here, port).expect("a link");
            found.push((channel.0, 1.0));
            here = there;
        }
        return found;
    }
    let far = on.graph().distances_from(at(to).ix());
    let mut todo = vec![(at(from), 1.0)];
    while let Some((here, part)) = todo.pop() {
        let nearer: Vec<_> = (0..on.graph().degree(here.ix()))
            .map(|i| (on.graph().neighbours(here.ix())[i], on.graph().channels(here.ix())[i]))
            .filter(|(there, _)| far[*there as usize] < far[here.ix()])
            .collect();
        for &(there, channel) in &nearer {
            found.push((channel.0, part / nearer.len() as f64));
            todo.push((SwitchId(there), part / nearer.len() as f64));
        }
    }
    found
}

/// The largest number of messages on a channel, including channels of endpoints.
fn largest(on: &Topology, tables: Option<&Routing>, all: &[(u32, u32, u64)]) -> f64 {
    let mut loads = vec![0.0; 2 * on.links().len() + 2 * on.terminals().len()];
    let ends = 2 * on.links().len();
    for &(from, to, _) in all {
        loads[ends + 2 * from as usize] += 1.0;
        loads[ends + 2 * to as usize + 1] += 1.0;
        for (channel, part) in parts(on, tables, from, to) {
            loads[channel as usize] += part;
        }
    }
    loads.into_iter().fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn a_message_alone_takes_what_the_formula_says(
        which in 0_usize..NETS.len(), seed in any::<u64>(), bytes in 0_u64..200_000,
        (o, nic, switch) in (0_u64..3000, 0_u64..200, 0_u64..500),
        by_tables in any::<bool>(), asks in any::<bool>(),
    ) {
        let on = network(NETS[which]);
        let mut draw = FastRandomStream::new(seed, "lengths", 0);
        let mut lengths = |count: usize| -> Vec<f32> {
            (0..count).map(|_| draw.below(4000) as f32 / 100.0).collect()
        };
        let (links, terminals) = (lengths(on.links().len()), lengths(on.terminals().len()));
        let on = Arc::new(on.with_lengths(&links, &terminals).expect("lengths"));
        let ends = on.endpoints().len() as u32;
        let (from, to) = (draw.below(ends), draw.below(ends));
        prop_assume!(from != to);
        let tables = by_tables.then(|| routed(&on, "min_hop"));
        let how = NetworkTimeParameters {
            switch: SwitchTimeParameters { delay_ns: switch as f64 },
            ..with(
                AdapterTimeParameters { nic_ns: nic as f64, ..AdapterTimeParameters::default() },
                NetworkTimeParameters::default(),
            )
        };
        // 5 ns for each metre; if there are several paths, the slowest determines the latency
        let ps = |length: f32| (f64::from(length) * 5000.0).round() as u64;
        let latency = |from: u32, to: u32| {
            let far = on.graph().distances_from(on.terminals()[to as usize].plug.switch.ix());
            let mut slowest = 0;
            let mut todo = vec![(on.terminals()[from as usize].plug.switch, 1_u64, 0_u64)];
            let walk = parts(&on, tables.as_ref(), from, to);
            while let Some((here, switches, wires)) = todo.pop() {
                if here == on.terminals()[to as usize].plug.switch {
                    slowest = slowest.max(switches * switch * 1000 + wires);
                    continue;
                }
                for (i, &there) in on.graph().neighbours(here.ix()).iter().enumerate() {
                    let channel = on.graph().channels(here.ix())[i];
                    let nearer = far[there as usize] < far[here.ix()];
                    if nearer && walk.iter().any(|p| p.0 == channel.0) {
                        let wire = ps(links[channel.link().ix()]);
                        todo.push((SwitchId(there), switches + 1, wires + wire));
                    }
                }
            }
            let ends = ps(terminals[from as usize]) + ps(terminals[to as usize]);
            slowest + ends + 2 * nic * 1000
        };
        let costs = LogGopsParameters {
            o: o as f64, g: 0.0, S: if asks { 1 } else { 1 << 30 }, ..LogGopsParameters::default()
        };
        let driven = match &tables {
            Some(tables) => PathSource::Tables(Box::new(tables.clone())),
            None => PathSource::Network(on.clone()),
        };
        let found = ran(driven, &how, &costs, &[(from, to, bytes)]);
        let mut expected = 2 * o * 1000 + latency(from, to) + bytes.saturating_sub(1) * BYTE_PS;
        if asks && bytes > 1 {
            expected += 2 * o * 1000 + latency(from, to) + latency(to, from);
        }
        prop_assert_eq!(found.finish[to as usize], expected);
    }

    #[test]
    fn the_fullest_channel_says_when_the_last_byte_leaves(
        which in 0_usize..NETS.len(), seed in any::<u64>(), by_tables in any::<bool>(),
        kind in 0_u32..4,
    ) {
        let on = Arc::new(network(NETS[which]));
        let ends = on.endpoints().len() as u32;
        let mut draw = FastRandomStream::new(seed, "pattern", 0);
        let bytes = 1_000_001;
        let mut all: Vec<(u32, u32, u64)> = Vec::new();
        match kind {
            // patterns: all to one; all to all; a shift; random
            0 => all.extend((1..ends).map(|e| (e, 0, bytes))),
            1 => all.extend((0..ends).flat_map(|a| (0..ends).map(move |b| (a, b, bytes)))),
            2 => {
                let by = 1 + draw.below(ends - 1);
                all.extend((0..ends).map(|e| (e, (e + by) % ends, bytes)));
            }
            _ => all.extend((0..ends).map(|e| (e, draw.below(ends), bytes))),
        }
        all.retain(|m| m.0 != m.1);
        let tables = by_tables.then(|| routed(&on, "dfsssp"));
        let driven = match &tables {
            Some(tables) => PathSource::Tables(Box::new(tables.clone())),
            None => PathSource::Network(on.clone()),
        };
        let how = at_once();
        let found = ran(driven, &how, &free(), &all);
        let load = largest(&on, tables.as_ref(), &all);
        let expected = load * ((bytes - 1) * BYTE_PS) as f64;
        let last = *found.finish.iter().max().expect("ranks") as f64;
        prop_assert!((last - expected).abs() <= 1e-6 * expected, "{} for {}", last, expected);
    }
}

#[test]
fn messages_of_an_interface_share_it_or_wait() {
    let on = Arc::new(network("slim_fly:q=5,p=3"));
    let all = [(0, 1, 10_001), (0, 2, 10_001)];
    let how = at_once();
    let ends = |how: &NetworkTimeParameters| {
        let found = ran(PathSource::Network(on.clone()), how, &free(), &all);
        [found.finish[1], found.finish[2]]
    };
    assert_eq!(ends(&how), [20_000 * BYTE_PS; 2]);
    let one = with(AdapterTimeParameters { at_once: 1, ..AdapterTimeParameters::default() }, how);
    assert_eq!(ends(&one), [10_000 * BYTE_PS, 20_000 * BYTE_PS]);
}

#[test]
fn ranks_of_one_endpoint_do_not_use_the_network() {
    let on = Arc::new(network("slim_fly:q=5,p=3"));
    let how = with(
        AdapterTimeParameters {
            local_ns: 70.0,
            local_gbps: 80.0,
            ..AdapterTimeParameters::default()
        },
        NetworkTimeParameters::default(),
    );
    let schedule = messages(2, &[(0, 1, 10_001)]);
    let under =
        NetworkWithRanks { on: PathSource::Network(on), how: &how, places: &[7, 7], seed: 0 };
    let costs = LogGopsParameters { o: 20.0, ..free() };
    let found =
        run(&schedule, ScheduleDialect::Causal, &costs, Some(&under), &QuietWatch).expect("a run");
    assert_eq!(found.finish[1], (20 + 70 + 1000 + 20) * 1000);
    assert!(found.used.expect("a network").bytes.iter().all(|b| *b == 0.0));
}

#[test]
fn messages_take_the_path_that_has_room() {
    // two paths lead from leaf to leaf, so two messages can be sent at once
    let on = Arc::new(network("fat_tree:leaves=2,spines=2,p=2"));
    let all = [(0, 2, 10_001), (1, 3, 10_001)];
    let slowest = |selection, seed| {
        let how = NetworkTimeParameters { selection, ..at_once() };
        let under = NetworkWithRanks {
            on: PathSource::Network(on.clone()),
            how: &how,
            places: &[0, 1, 2, 3],
            seed,
        };
        let found =
            run(&messages(4, &all), ScheduleDialect::Causal, &free(), Some(&under), &QuietWatch);
        *found.expect("a run").finish.iter().max().expect("ranks") / (10_000 * BYTE_PS)
    };
    for seed in 0..20 {
        assert_eq!(
            (
                slowest(MessageRouteSelection::Spread, seed),
                slowest(MessageRouteSelection::Adaptive, seed)
            ),
            (1, 1)
        );
    }
    let often: Vec<u64> = (0..100).map(|seed| slowest(MessageRouteSelection::One, seed)).collect();
    let twice = often.iter().filter(|n| **n == 2).count();
    assert!((30..70).contains(&twice), "on the same path {twice} times of 100");
}

#[test]
fn several_rails_carry_a_message_together() {
    let on = Arc::new(network("multi_plane:planes=2,of=slim_fly:q=5,p=2"));
    let how = |rail| NetworkTimeParameters { rail, ..at_once() };
    let last = |rails| {
        let (places, how) = ([0, 40], how(rails));
        let under = NetworkWithRanks {
            on: PathSource::Network(on.clone()),
            how: &how,
            places: &places,
            seed: 0,
        };
        let schedule = messages(2, &[(0, 1, 10_001)]);
        let found = run(&schedule, ScheduleDialect::Causal, &free(), Some(&under), &QuietWatch)
            .expect("a run");
        found.finish[1]
    };
    assert_eq!(last(RailSelection::Spread), 5_000 * BYTE_PS);
    assert_eq!(last(RailSelection::ByInterface), 10_000 * BYTE_PS);
}

#[test]
fn without_a_path_a_run_is_refused() {
    let whole = network("torus:shape=4,p=1");
    let cut = whole.with_failures(&[LinkId(0), LinkId(2)], &[]).expect("two halves");
    let under = NetworkWithRanks {
        on: PathSource::Network(Arc::new(cut)),
        how: &NetworkTimeParameters::default(),
        places: &[0, 1, 2, 3],
        seed: 0,
    };
    let all = [(0, 1, 9), (0, 2, 9), (0, 3, 9)];
    let found =
        run(&messages(4, &all), ScheduleDialect::Causal, &free(), Some(&under), &QuietWatch);
    let said = found.expect_err("two halves").to_string();
    assert!(said.contains("there is no path from"), "{said}");
}

#[test]
fn rates_that_are_settled_seldom_are_near() {
    let on = Arc::new(network("slim_fly:q=5,p=3"));
    let ranks = on.endpoints().len() as u32;
    let mut draw = FastRandomStream::new(11, "settled seldom", 0);
    let one = |_| (draw.below(ranks), draw.below(ranks), 20_000 + u64::from(draw.below(80_000)));
    let all: Vec<(u32, u32, u64)> = (0..1500).map(one).filter(|m| m.0 != m.1).collect();
    let costs = LogGopsParameters { o: 700.0, ..free() };
    let ends = |settle_ns: f64| {
        let how = with(
            AdapterTimeParameters { settle_ns, ..AdapterTimeParameters::default() },
            NetworkTimeParameters::default(),
        );
        ran(PathSource::Network(Arc::clone(&on)), &how, &costs, &all).finish
    };
    let (exact, near) = (ends(0.0), ends(100.0));
    assert_ne!(exact, near);
    for (exact, near) in exact.iter().zip(near) {
        let far = exact.abs_diff(near) as f64 / *exact as f64;
        assert!(far < 0.02, "{near} ps for {exact}");
    }
    // a single message is not delayed by the pause between settlements
    let alone = |settle_ns: f64| {
        let how = with(
            AdapterTimeParameters { settle_ns, ..AdapterTimeParameters::default() },
            NetworkTimeParameters::default(),
        );
        ran(PathSource::Network(Arc::clone(&on)), &how, &free(), &[(0, 90, 50_000)]).finish
    };
    assert_eq!(alone(0.0), alone(1e6));
}
