//! Tests of mappings against slower, independent computations: gains, loads, optima, limits of
//! input.

use base::seed::{FastRandomStream, RandomStream};
use base::{ComputationError, Interrupted, ProgressWatch, QuietWatch};
use fabric::Topology;
use fabric::network::parse_inline;
use mapping::arrangement::ProcessArrangement;
use mapping::chain;
use mapping::evaluate::evaluate;
use mapping::loads::ChannelLoads;
use mapping::map::{MappingObjective, MappingRequest, MappingResult, SearchEffort, map};
use mapping::method::METHODS;
use mapping::metric::{SiteDistances, SiteMetric, distances};
use mapping::near::NearSiteLists;
use mapping::paths::TrafficPathRule;
use mapping::problem::{MappingProblem, PinnedProcess};
use mapping::proposals::SwapProposalGenerator;
use mapping::slots::ProcessSlots;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use traffic::communication::{CommunicationGraph, ProcessPairTraffic, made};

fn network(text: &str) -> Topology {
    let recipe = parse_inline(text).expect("a recipe");
    families::family(&recipe.family).expect("a family").build(&recipe.params).expect("built")
}

fn random_graph(processes: u32, pairs: u32, seed: u64) -> CommunicationGraph {
    let mut draw = RandomStream::new(seed, "test graph", 0);
    let n = u64::from(processes);
    let mut rank = || draw.below(n) as u32;
    let all: Vec<(u32, u32)> = (0..pairs).map(|_| (rank(), rank())).collect();
    let mut amount = RandomStream::new(seed, "test amounts", 0);
    let sent = all.into_iter().map(|(from, to)| ProcessPairTraffic {
        from,
        to,
        bytes: 1.0 + amount.below(1000) as f64,
        messages: 1.0,
    });
    CommunicationGraph::new(processes, sent.collect()).expect("a graph")
}

fn stencil(given: &serde_json::Value) -> CommunicationGraph {
    made("stencil", given.as_object().expect("an object")).expect("a graph")
}

/// A request with the default values.
fn asked<'a>(
    graph: &'a CommunicationGraph,
    paths: TrafficPathRule<'a>,
    slots: &'a ProcessSlots,
) -> MappingRequest<'a> {
    MappingRequest {
        graph,
        paths,
        slots,
        pins: &[],
        start: None,
        steps: &[],
        objective: MappingObjective::Hops,
        hops_limit: 0.05,
        effort: SearchEffort::Normal,
        seed: 0,
    }
}

fn found(request: &MappingRequest<'_>) -> MappingResult {
    map(request, &QuietWatch).expect("a mapping")
}

/// Hop-bytes computed from breadth-first distances, pair by pair.
fn hop_bytes(on: &Topology, graph: &CommunicationGraph, places: &[u32]) -> f64 {
    let switch = |p: u32| on.terminals()[places[p as usize] as usize].plug.switch.ix();
    let far: Vec<Vec<u32>> =
        (0..on.switches().len()).map(|s| on.graph().distances_from(s)).collect();
    graph.sent().map(|s| s.bytes * f64::from(far[switch(s.from)][switch(s.to)])).sum()
}

const NETWORKS: [&str; 5] = [
    "slim_fly:q=5,p=2",
    "dragonfly:h=2",
    "torus:shape=4x3x5,p=2",
    "fat_tree:levels=3,k=4",
    "multi_plane:planes=2,of=ring:n=6,p=3",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn gains_are_differences_of_whole_evaluations(
        which in 0_usize..5, tables in any::<bool>(), seed in any::<u64>(), share in 3_u32..9,
    ) {
        let on = Arc::new(network(NETWORKS[which]));
        let routing = tables.then(|| {
            let engine = engines::engine("min_hop").expect("an engine");
            engine.route(&serde_json::Map::new(), &on, 2, &QuietWatch).expect("tables")
        });
        let shortest = TrafficPathRule::Shortest(&on);
        let paths = routing.as_ref().map_or(shortest, TrafficPathRule::Tables);
        let slots = ProcessSlots::new(&on, None, Some(2)).expect("slots");
        let processes = slots.count() as u32 * share / 8;
        let graph = random_graph(processes.min(slots.count() as u32).max(2), 3 * processes, seed);
        let (metric, unit) = distances(paths, &slots, &QuietWatch).expect("distances");
        let problem = MappingProblem::new(&graph, &slots, &[], 256).expect("they fit");
        let near = NearSiteLists::new(&on, &slots);
        let proposals = SwapProposalGenerator::new(&problem, &near);
        let mut all: Vec<u32> = (0..slots.count() as u32).collect();
        RandomStream::new(seed, "test places", 0).shuffle(&mut all);
        let order: Vec<u32> = (0..graph.processes()).collect();
        let mut at = ProcessArrangement::in_order(&problem, &order, &all);
        let mut loads = ChannelLoads::new(paths, &proposals, &graph);
        loads.count(&at);
        loads.sharpen(3);
        let mut draw = FastRandomStream::new(seed, "test", 0);
        let SiteDistances::Bytes(table) = &metric else { panic!("few sites") };
        for _ in 0..40 {
            let u = draw.below(graph.processes());
            let v = draw.below(slots.count() as u32);
            if u == v {
                continue;
            }
            let before = at.cost(&problem, table);
            let gain = at.gain(&problem, table, u, v);
            let rise = loads.gain(&at, u, v);
            loads.commit(rise);
            at.swap(u, v);
            prop_assert_eq!(at.cost(&problem, table) - before, 2 * i64::from(gain));
        }
        let kept = loads.loads().to_vec();
        let places = at.places(&problem);
        let exact = evaluate(paths, &graph, &places, &QuietWatch).expect("figures");
        for (a, b) in kept.iter().zip(&exact.loads) {
            prop_assert!((a - b).abs() <= 1e-4 * (1.0 + b), "{} {}", a, b);
        }
        if !tables {
            // weights and distances are whole numbers, so the cost used in the search is exact
            let weight = graph.sent().fold(0_u64, |g, s| gcd(g, s.bytes as u64)).max(1) as f64;
            let hops = at.cost(&problem, table) as f64 / 2.0 / f64::from(unit) * weight;
            prop_assert!((hops - exact.figures.hop_bytes).abs() <= 1e-9 * (1.0 + hops));
        }
    }

    #[test]
    fn what_every_switch_splits_arrives_whole(which in 0_usize..4, seed in any::<u64>()) {
        // the shares of a pair's channels sum up to its distance, and to 1 at its source and at its
        // destination
        let on = network(NETWORKS[which]);
        let mut draw = RandomStream::new(seed, "test pair", 0);
        let count = on.endpoints().len() as u64;
        let (a, b) = (draw.below(count) as u32, draw.below(count) as u32);
        let pair = vec![ProcessPairTraffic { from: 0, to: 1, bytes: 6.0, messages: 1.0 }];
        let graph = CommunicationGraph::new(2, pair).expect("a graph");
        let shortest = TrafficPathRule::Shortest(&on);
        let found = evaluate(shortest, &graph, &[a, b], &QuietWatch).expect("figures");
        let expect = hop_bytes(&on, &graph, &[a, b]);
        prop_assert!((found.loads.iter().sum::<f64>() - expect).abs() < 1e-9);
        let switch = |e: u32| on.terminals()[e as usize].plug.switch.ix();
        if switch(a) != switch(b) {
            let out: f64 = on.graph().channels(switch(a)).iter().map(|c| found.loads[c.ix()]).sum();
            prop_assert!((out - 6.0).abs() < 1e-9);
            let into = on.graph().channels(switch(b)).iter().map(|c| found.loads[c.reverse().ix()]);
            prop_assert!((into.sum::<f64>() - 6.0).abs() < 1e-9);
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least hop-bytes of all injective maps of processes to endpoints.
fn brute(on: &Topology, graph: &CommunicationGraph, places: &mut Vec<u32>, least: &mut f64) {
    if places.len() as u32 == graph.processes() {
        *least = least.min(hop_bytes(on, graph, places));
        return;
    }
    for e in 0..on.endpoints().len() as u32 {
        if !places.contains(&e) {
            places.push(e);
            brute(on, graph, places, least);
            places.pop();
        }
    }
}

#[test]
fn few_processes_are_where_none_could_be_better() {
    for (net, processes) in [("ring:n=7,p=1", 6), ("torus:shape=3x2,p=1", 6), ("ring:n=4,p=2", 7)] {
        let on = network(net);
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        for seed in 0..4 {
            let graph = random_graph(processes, 12, seed);
            let mut least = f64::INFINITY;
            brute(&on, &graph, &mut Vec::new(), &mut least);
            let it = found(&asked(&graph, TrafficPathRule::Shortest(&on), &slots));
            assert!((hop_bytes(&on, &graph, &it.places) - least).abs() < 1e-9, "{net} {seed}");
        }
    }
}

#[test]
fn hop_bytes_keep_to_the_limit_over_the_least_or_the_linear_mapping_is_less_congested() {
    let mut above = 0;
    for (net, processes, share) in [
        ("torus:shape=2x2,p=1", 4, 0.05),
        ("ring:n=6,p=1", 6, 0.0),
        ("torus:shape=3x2,p=1", 5, 0.2),
        ("ring:n=3,p=2", 6, 0.05),
    ] {
        let on = network(net);
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        let linear: Vec<u32> = (0..processes).collect();
        for seed in 0..10 {
            let graph = random_graph(processes, 8, seed);
            let mut least = f64::INFINITY;
            brute(&on, &graph, &mut Vec::new(), &mut least);
            let congestion = |places: &[u32]| {
                let it = evaluate(TrafficPathRule::Shortest(&on), &graph, places, &QuietWatch)
                    .expect("figures");
                it.figures.maximum_congestion
            };
            for effort in [SearchEffort::Fast, SearchEffort::Normal] {
                let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
                let objective = MappingObjective::Congestion;
                let it = found(&MappingRequest { objective, hops_limit: share, effort, ..base });
                let case = format!("{net} {seed} {effort:?}");
                assert!(congestion(&it.places) <= congestion(&linear), "{case}");
                let hops = hop_bytes(&on, &graph, &it.places);
                if hops > least * (1.0 + share) + 1e-9 {
                    assert_eq!(it.places, linear, "{case}: {hops} of {least}");
                    above += 1;
                }
            }
        }
    }
    assert!(above > 0, "the linear mapping was above the limit at least once");
}

/// The same graph with its processes renumbered at random.
fn shuffled(graph: &CommunicationGraph, seed: u64) -> CommunicationGraph {
    let mut name: Vec<u32> = (0..graph.processes()).collect();
    RandomStream::new(seed, "test names", 0).shuffle(&mut name);
    let sent = graph.sent().map(|s| ProcessPairTraffic {
        from: name[s.from as usize],
        to: name[s.to as usize],
        ..s
    });
    CommunicationGraph::new(graph.processes(), sent.collect()).expect("a graph")
}

#[test]
fn what_fits_exactly_is_fitted_exactly() {
    let torus = stencil(&serde_json::json!({ "shape": [4, 4, 6], "bytes": 9, "periodic": true }));
    let cube = stencil(&serde_json::json!({ "shape": [2, 2, 2, 2, 2, 2], "bytes": 9 }));
    for (net, graph) in [
        ("torus:shape=4x4x6,p=1", torus),
        ("hypercube:n=6,p=1", shuffled(&cube, 3)),
        ("hypercube:n=6,p=1", cube),
    ] {
        let on = network(net);
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        let it = found(&asked(&graph, TrafficPathRule::Shortest(&on), &slots));
        let figures = evaluate(TrafficPathRule::Shortest(&on), &graph, &it.places, &QuietWatch)
            .expect("figures");
        assert!((figures.figures.average_dilation - 1.0).abs() < 1e-12, "{net}");
    }
}

#[test]
fn pairs_share_a_switch() {
    let on = network("slim_fly:q=5,p=4");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let pairs =
        (0..100).map(|i| ProcessPairTraffic { from: i, to: i + 100, bytes: 7.0, messages: 1.0 });
    let graph = CommunicationGraph::new(200, pairs.collect()).expect("a graph");
    let it = found(&asked(&graph, TrafficPathRule::Shortest(&on), &slots));
    assert!(hop_bytes(&on, &graph, &it.places).abs() < 1e-12);
}

#[test]
fn a_grid_that_folds_has_few_long_paths() {
    // 16 x 32 on a torus 8 x 8 x 8: both sides are cut, few edges leave their sheet
    let graph = stencil(&serde_json::json!({ "shape": [16, 32], "bytes": 1 }));
    let on = network("torus:shape=8x8x8,p=1");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let steps = chain::parse("fold").expect("a method");
    let it = found(&MappingRequest {
        steps: &steps,
        ..asked(&graph, TrafficPathRule::Shortest(&on), &slots)
    });
    let mut taken = it.places.clone();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 512);
    let dilation = hop_bytes(&on, &graph, &it.places) / graph.total_bytes();
    assert!(dilation < 1.25, "{dilation}");
}

#[test]
fn every_method_fills_slots_and_keeps_pins() {
    let on = network("dragonfly:h=2");
    let graph = random_graph(60, 300, 5);
    let pins =
        [PinnedProcess { process: 3, endpoint: 70 }, PinnedProcess { process: 0, endpoint: 2 }];
    let hosts: Vec<u32> = (2..40).chain(60..72).collect();
    let slots = ProcessSlots::new(&on, Some(&hosts), Some(2)).expect("slots");
    let chains = [
        "auto",
        "linear",
        "random",
        "greedy",
        "bisection",
        "rcm",
        "linear+anneal",
        "greedy+threshold+local",
        "random+local+congestion",
    ];
    for (i, method) in chains.iter().enumerate() {
        let steps = chain::parse(method).expect("a method");
        let objective =
            if i % 2 == 0 { MappingObjective::Congestion } else { MappingObjective::Hops };
        let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
        let request = MappingRequest {
            steps: &steps,
            pins: &pins,
            objective,
            effort: SearchEffort::Fast,
            ..base
        };
        let it = found(&request);
        assert_eq!((it.places[3], it.places[0]), (70, 2), "{method}");
        let mut counts = vec![0; 72];
        it.places.iter().for_each(|&e| counts[e as usize] += 1);
        let fits = |e: usize| counts[e] <= 2 && (counts[e] == 0 || hosts.contains(&(e as u32)));
        assert!((0..72).all(fits), "{method}");
        assert_eq!(it, found(&request), "{method}");
    }
    let steps = chain::parse("multicore+local").expect("a method");
    let it = found(&MappingRequest {
        steps: &steps,
        ..asked(&graph, TrafficPathRule::Shortest(&on), &slots)
    });
    assert_eq!(it.places.len(), 60);
}

#[test]
fn every_step_of_the_table_places_all_processes_or_says_why_not() {
    let graph = stencil(&serde_json::json!({ "shape": [4, 4], "bytes": 8 }));
    for net in ["torus:shape=4x4,p=1", "dragonfly:h=2"] {
        let on = network(net);
        for (per, step) in (1..3).flat_map(|per| METHODS.iter().map(move |step| (per, step))) {
            let slots = ProcessSlots::new(&on, None, Some(per)).expect("slots");
            let name = step.part.name;
            let chain = if step.improves { format!("linear+{name}") } else { name.to_owned() };
            let steps = chain::parse(&chain).expect("a method");
            let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
            let request = MappingRequest { steps: &steps, effort: SearchEffort::Fast, ..base };
            match map(&request, &QuietWatch) {
                Ok(it) => {
                    let mut counts = vec![0; on.endpoints().len()];
                    it.places.iter().for_each(|&e| counts[e as usize] += 1);
                    assert!(counts.iter().all(|n| *n <= per), "{name} on {net}");
                    assert_eq!(it.places.len(), 16, "{name} on {net}");
                    assert_eq!(it, found(&request), "{name} on {net}: another mapping");
                }
                Err(ComputationError::Refused(why)) => {
                    assert!(!why.help.is_empty(), "{name} on {net}: {why}");
                }
                Err(ComputationError::Interrupted(_)) => unreachable!("nobody stops it"),
            }
        }
    }
}

#[test]
fn every_method_keeps_to_slots_that_differ() {
    let on = network("dragonfly:h=2");
    let graph = random_graph(60, 300, 6);
    let named: Vec<u32> =
        (0..40).flat_map(|e| std::iter::repeat_n(71 - e, e as usize % 4)).collect();
    let mut room = vec![0; 72];
    for &e in &named {
        room[e as usize] += 1;
    }
    let slots = ProcessSlots::new(&on, Some(&named), None).expect("slots");
    assert_eq!(slots.count(), 60);
    let methods = ["auto", "linear", "random", "greedy", "bisection", "rcm", "multilevel"];
    for method in methods.iter().flat_map(|m| [(*m).to_owned(), format!("{m}+local+congestion")]) {
        if method.starts_with("auto+") {
            continue;
        }
        let steps = chain::parse(&method).expect("a method");
        let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
        let it = found(&MappingRequest { steps: &steps, effort: SearchEffort::Fast, ..base });
        let mut taken = vec![0; 72];
        it.places.iter().for_each(|&e| taken[e as usize] += 1);
        assert_eq!(taken, room, "{method}: there are as many slots as processes");
    }
    let backwards: Vec<u32> = named.iter().rev().copied().collect();
    let mut mixed: Vec<u32> = Vec::new();
    for k in 0..3 {
        let again = |e: &u32| (71 - e) % 4 > k;
        mixed.extend((32..72).rev().filter(again));
    }
    let order = |named: &[u32]| -> Vec<u32> {
        let slots = ProcessSlots::new(&on, Some(named), None).expect("slots");
        (0..60).map(|s| slots.endpoint(s)).collect()
    };
    assert_eq!((order(&named), order(&backwards)), (named.clone(), backwards));
    assert_eq!(order(&mixed), named, "all slots of an endpoint where it is first");
    let steps = chain::parse("multicore").expect("a method");
    let request =
        MappingRequest { steps: &steps, ..asked(&graph, TrafficPathRule::Shortest(&on), &slots) };
    let said = map(&request, &QuietWatch).expect_err("uneven").to_string();
    assert!(said.contains("as many slots on every endpoint"), "{said}");
}

#[test]
fn threads_change_nothing() {
    let on = network("slim_fly:q=5,p=4");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let graph = random_graph(60, 240, 2);
    let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
    let request = MappingRequest {
        objective: MappingObjective::Congestion,
        effort: SearchEffort::Best,
        ..base
    };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| found(&request))
    };
    assert_eq!(with(1), with(3));
}

/// A watch that says stop at a given tick.
struct TickStoppingWatch(AtomicU32, u32);

impl ProgressWatch for TickStoppingWatch {
    fn tick(&self, _: &str, _: u64, _: u64) -> Result<(), Interrupted> {
        let before = self.0.fetch_add(1, Ordering::Relaxed);
        if before < self.1 { Ok(()) } else { Err(Interrupted) }
    }
}

#[test]
fn an_interruption_gives_the_best_so_far() {
    let on = network("slim_fly:q=5,p=4");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let graph = random_graph(200, 800, 2);
    for objective in [MappingObjective::Hops, MappingObjective::Congestion] {
        let request =
            MappingRequest { objective, ..asked(&graph, TrafficPathRule::Shortest(&on), &slots) };
        for ticks in [60, 200, 400] {
            let it = map(&request, &TickStoppingWatch(AtomicU32::new(0), ticks))
                .expect("the best so far");
            assert!(it.interrupted, "{ticks}");
            let mut taken = it.places.clone();
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), 200);
        }
        assert!(
            map(&request, &TickStoppingWatch(AtomicU32::new(0), 3)).is_err(),
            "nothing was found yet"
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let on = network("slim_fly:q=5,p=4");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let graph = random_graph(201, 100, 1);
    let request = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
    let said = |request: &MappingRequest<'_>| {
        map(request, &QuietWatch).expect_err("no mapping").to_string()
    };
    assert!(said(&request).contains("201 processes for 200 slots"));
    let graph = random_graph(10, 20, 1);
    let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
    for (pins, says) in [
        (vec![PinnedProcess { process: 10, endpoint: 0 }], "no process 10"),
        (vec![PinnedProcess { process: 1, endpoint: 200 }], "no slot"),
        (
            vec![
                PinnedProcess { process: 1, endpoint: 0 },
                PinnedProcess { process: 1, endpoint: 2 },
            ],
            "twice",
        ),
        (
            vec![
                PinnedProcess { process: 1, endpoint: 0 },
                PinnedProcess { process: 2, endpoint: 0 },
            ],
            "taken",
        ),
    ] {
        assert!(said(&MappingRequest { pins: &pins, ..base }).contains(says), "{says}");
    }
    for hops_limit in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(said(&MappingRequest { hops_limit, ..base }).contains("hops_limit"));
    }
    for (hosts, says) in [(vec![200], "no endpoint 200"), (vec![], "slots")] {
        let refused =
            ProcessSlots::new(&on, Some(&hosts), Some(1)).expect_err("no slots").to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let apart = network("ring:n=6,p=1")
        .with_failures(&[base::LinkId(0), base::LinkId(3)], &[])
        .expect("a network");
    let slots = ProcessSlots::new(&apart, None, Some(1)).expect("slots");
    let graph = random_graph(6, 30, 1);
    assert!(
        said(&asked(&graph, TrafficPathRule::Shortest(&apart), &slots)).contains("no path from")
    );
}

#[test]
fn a_formula_of_a_grid_gives_the_distances_of_its_links() {
    for net in ["torus:shape=16x16x16,p=1", "mesh:shape=64x40,p=1", "hyperx:shape=48x48,p=1"] {
        let on = network(net);
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        let (metric, _) =
            distances(TrafficPathRule::Shortest(&on), &slots, &QuietWatch).expect("distances");
        assert!(matches!(metric, SiteDistances::Grid(_)), "{net}");
        let mut draw = RandomStream::new(1, "test sites", 0);
        for _ in 0..5 {
            let a = draw.below(slots.sites() as u64) as u32;
            let far = on.graph().distances_from(a as usize);
            for b in 0..slots.sites() as u32 {
                assert_eq!(metric.hops(a, b) as u32, far[b as usize], "{net} {a} {b}");
            }
        }
    }
}

#[test]
fn levels_bring_pairs_together_and_place_everybody_once() {
    let on = network("slim_fly:q=5,p=4");
    let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
    let steps = chain::parse("multilevel").expect("a method");
    // pairs with heavy traffic can share a switch, those with light traffic may be anywhere
    for processes in [2, 3, 97, 199, 200] {
        let half = processes / 2;
        let pair =
            |i: u32| ProcessPairTraffic { from: i, to: i + half, bytes: 100.0, messages: 1.0 };
        let graph =
            CommunicationGraph::new(processes, (0..half).map(pair).collect()).expect("a graph");
        let it = found(&MappingRequest {
            steps: &steps,
            ..asked(&graph, TrafficPathRule::Shortest(&on), &slots)
        });
        assert!(hop_bytes(&on, &graph, &it.places).abs() < 1e-9, "{processes}");
        let mut places = it.places.clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), processes as usize);
    }
    let graph = stencil(&serde_json::json!({ "shape": [10, 20], "bytes": 64 }));
    let base = asked(&graph, TrafficPathRule::Shortest(&on), &slots);
    let random = chain::parse("random").expect("a method");
    let [levels, drawn] = [&steps, &random]
        .map(|steps| hop_bytes(&on, &graph, &found(&MappingRequest { steps, ..base }).places));
    assert!(levels < 0.6 * drawn, "{levels} {drawn}");
    let pins = [PinnedProcess { process: 0, endpoint: 5 }];
    let said = map(&MappingRequest { steps: &steps, pins: &pins, ..base }, &QuietWatch);
    assert!(said.expect_err("pins").to_string().contains("cannot hold pins"));
}
