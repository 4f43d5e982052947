//! Engines, lanes and proofs on every family, on damaged tables, and against brute force.

use base::ComputationError;
use base::seed::RandomStream;
use base::{LinkId, QuietWatch, SwitchId, TerminalId};
use engines::lanes::{LaneAssignmentMethod, LaneAssignmentRules, spread};
use engines::{ENGINES, engine};
use fabric::network::parse_inline;
use fabric::network::{NetworkRecipe, PortPeer, Switch, Topology, TopologyBuilder};
use fabric::tables::{
    LaneAssignment, NO_ROUTE, Routing, ServiceLevels, Sl2VlMapping, Sl2VlPortTables,
};
use families::{FAMILIES, family};
use proptest::prelude::*;
use serde_json::{Map, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verify::complete::RouteFault;
use verify::{RouteLimits, Verdict, checker, verify};

fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("a member"))
}

fn route(on: &Arc<Topology>, name: &str, layers: u32) -> Routing {
    let entry = engine(name).expect("an engine");
    entry.route(&Map::new(), on, layers, &QuietWatch).expect("routed")
}

fn built(switches: u32, links: &[(u32, u32)], p: u32) -> Arc<Topology> {
    let mut b = TopologyBuilder::new();
    for s in 0..switches {
        b.switch(Switch::new(format!("s{s}")));
    }
    b.endpoints_on((0..switches).map(SwitchId), p);
    for &(x, y) in links {
        b.link(SwitchId(x), SwitchId(y));
    }
    let recipe = NetworkRecipe { family: "test".into(), params: Map::new() };
    Arc::new(b.finish(recipe).expect("a valid network"))
}

#[test]
fn every_engine_routes_every_family_completely_and_minimally() {
    for recipe in FAMILIES.iter().flat_map(families::FamilyEntry::examples) {
        let on = Arc::new(family(&recipe.family).unwrap().build(&recipe.params).unwrap());
        if on.terminals().len() * on.switches().len() > 400_000 {
            continue;
        }
        let distance: Vec<Vec<u32>> =
            (0..on.switches().len()).map(|s| on.graph().distances_from(s)).collect();
        for (entry, layers) in ENGINES.iter().flat_map(|e| [(e, 1), (e, 3)]) {
            for options in entry.examples() {
                let routed = match entry.route(&options, &on, layers, &QuietWatch) {
                    Err(ComputationError::Refused(r)) => {
                        let reasons = [
                            "lanes do not make these routes",
                            "paths of",
                            "flow ", // of an example, where there are no two endpoints
                            "has no dimensions",
                            "not a tree",
                            "none is a leaf",
                            "no path up and then down",
                            "16 service levels cannot",
                        ];
                        assert!(reasons.iter().any(|w| r.why.contains(w)), "{recipe}: {r}");
                        continue;
                    }
                    other => other.expect("not interrupted"),
                };
                let v = verify(&routed, RouteLimits::NONE.hops(64), &QuietWatch)
                    .expect("not interrupted");
                let Verdict::Holds(reach) = &v.complete else {
                    panic!("{recipe} {}: {:?}", entry.part.name, v.complete)
                };
                assert!(v.management.holds(), "{recipe} {}: {:?}", entry.part.name, v.management);
                let mut shortest: BTreeMap<u32, u64> = BTreeMap::new();
                for t in on.terminals() {
                    let home = t.plug.switch;
                    let plane = |s: u32| on.switches()[s as usize].plane;
                    let others = on.edge_switches().into_iter().filter(|s| *s != home.0);
                    for s in others.filter(|s| plane(*s) == plane(home.0)) {
                        *shortest.entry(distance[s as usize][t.plug.switch.ix()]).or_default() +=
                            u64::from(layers);
                    }
                }
                let found = reach.histogram.iter().enumerate().filter(|(_, n)| **n > 0);
                let found: BTreeMap<u32, u64> = found.map(|(h, n)| (h as u32, *n)).collect();
                let first =
                    ["fatpaths", "layered", "rues"].contains(&entry.part.name) && layers == 1;
                if entry.promise.minimal || first {
                    assert_eq!(found, shortest, "{recipe} {}", entry.part.name);
                }
                if entry.promise.deadlock_free {
                    assert!(v.holds(), "{recipe} {}: must be deadlock-free", entry.part.name);
                }
            }
        }
    }
}

#[test]
fn two_lanes_suffice_where_no_path_is_longer_than_two_hops() {
    for inline in ["slim_fly:q=5,p=4", "slim_fly:q=8,p=2", "hyperx:shape=5x7", "slim_fly:q=9,p=1"] {
        let routed = route(&network(inline), "dfsssp", 2);
        assert_eq!(routed.lanes().count(), 2, "{inline}");
    }
    let tree = route(&network("fat_tree:leaves=12,spines=6,parallel=3,p=18"), "dfsssp", 4);
    assert_eq!(tree.lanes().count(), 1, "up then down needs no second lane");
}

#[test]
fn sssp_reaches_the_lower_bound_of_the_forwarding_index_on_the_hoffman_singleton_graph() {
    // all minimal routes of a Moore graph coincide: p^2 (3 q - 2) on every channel
    for name in ["min_hop", "sssp", "dfsssp"] {
        let load = measure::load::edge_load::edge_load(
            &route(&network("slim_fly:q=5,p=4"), name, 1),
            &QuietWatch,
        )
        .expect("not interrupted");
        assert_eq!((load.index(), load.mean_bound()), (16 * 13, 208), "{name}");
        assert_eq!(load.histogram, BTreeMap::from([(208, 350)]), "{name}");
    }
}

/// The paper's claim for the deployed Slim Fly: about 60 % of switch pairs have three link-disjoint
/// paths with 4 layers, 85.7 % with many (adjacent pairs have no second path of three hops). It is
/// no matter of luck: every seed keeps it.
#[test]
fn layers_give_most_switch_pairs_three_disjoint_paths() {
    let on = network("slim_fly:q=5,p=4");
    for (layers, least, seed) in (0..12).flat_map(|s| [(4, 0.55, s), (8, 0.85, s)]) {
        let entry = engine("layered").expect("an engine");
        let options = json!({ "seed": seed }).as_object().cloned().expect("an object");
        let routed = entry.route(&options, &on, layers, &QuietWatch).expect("routed");
        let (mut rich, mut pairs) = (0, 0);
        for d in (0..50).map(SwitchId) {
            let to = on.terminals_on(d)[0];
            for s in (0..50).map(SwitchId).filter(|s| *s != d) {
                let paths: Vec<BTreeSet<u32>> = (0..layers)
                    .map(|layer| {
                        let hops = routed.walk(layer, to, s);
                        let links: BTreeSet<u32> = hops.map(|h| h.channel.link().0).collect();
                        assert!(links.len() <= 3, "longest path is three hops");
                        links
                    })
                    .collect();
                pairs += 1;
                rich += u32::from(disjoint(&paths) >= 3);
            }
        }
        let fraction = f64::from(rich) / f64::from(pairs);
        assert!((least..=6.0 / 7.0).contains(&fraction), "{layers}, seed {seed}: {fraction}");
    }
}

/// The largest number of pairwise disjoint sets, by trying.
fn disjoint(paths: &[BTreeSet<u32>]) -> usize {
    let Some((first, rest)) = paths.split_first() else { return 0 };
    let apart: Vec<BTreeSet<u32>> = rest.iter().filter(|p| p.is_disjoint(first)).cloned().collect();
    (1 + disjoint(&apart)).max(disjoint(rest))
}

#[test]
fn further_addresses_of_a_terminal_take_other_cables() {
    let on = network("fat_tree:leaves=4,spines=2,parallel=2,p=2");
    for name in ["min_hop", "sssp", "dfsssp", "ecmp", "ftree"] {
        let routed = route(&on, name, 4);
        for t in (0..8).map(TerminalId) {
            let home = on.terminals()[t.ix()].plug.switch;
            for leaf in (0..4).map(SwitchId).filter(|l| *l != home) {
                let ports: BTreeSet<u16> =
                    (0..4).map(|layer| routed.tree(layer, t)[leaf.ix()]).collect();
                assert_eq!(ports.len(), 4, "{name}: {ports:?} from {leaf} to {t}");
            }
        }
    }
}

#[test]
fn four_routes_on_the_deployed_fat_tree_stay_perfectly_balanced() {
    // 12 leaves of 18 endpoints, 18 cables up from each: 11 * 18 * 18 / 18 routes a cable and layer
    let on = network("fat_tree:leaves=12,spines=6,parallel=3,p=18");
    for name in ["sssp", "dfsssp"] {
        let load = measure::load::edge_load::edge_load(&route(&on, name, 4), &QuietWatch)
            .expect("not interrupted");
        assert_eq!(load.histogram, BTreeMap::from([(4 * 198, 432)]), "{name}");
    }
}

#[test]
fn damaged_tables_are_distinguished() {
    let on = built(4, &[(0, 1), (1, 2), (2, 3)], 1);
    let good = route(&on, "min_hop", 1);
    let spoil = |from: usize, to: usize, port: u16| {
        let mut next = good.next();
        next[to * 4 + from] = port;
        let bad = Routing::new(on.clone(), 1, next, good.to_switch().to_vec());
        match verify(&bad, RouteLimits::NONE.hops(3), &QuietWatch)
            .expect("not interrupted")
            .complete
        {
            Verdict::Fails(broken) => broken,
            Verdict::Holds(_) => panic!("a route was spoilt"),
        }
    };
    // ports of switch 1: 1 its endpoint, 2 to switch 0, 3 to switch 2
    assert_eq!(spoil(1, 3, NO_ROUTE).fault, RouteFault::NoRoute);
    assert_eq!(spoil(1, 3, 9).fault, RouteFault::DeadPort(9));
    assert_eq!(spoil(1, 3, 1).fault, RouteFault::WrongDelivery(1));
    assert_eq!(spoil(1, 3, 2).fault, RouteFault::Loop);
    assert_eq!(spoil(3, 3, 2).fault, RouteFault::WrongDelivery(2));
    let message = spoil(1, 3, 2).to_string();
    assert!(
        message.contains("route from s0 to host-0003") && message.contains("s0 > s1 > s0"),
        "{message}"
    );
    let strict =
        verify(&good, RouteLimits::NONE.hops(2), &QuietWatch).expect("not interrupted").complete;
    assert!(matches!(strict, Verdict::Fails(b) if b.fault == RouteFault::TooLong(2)));
    let failed = Arc::new(on.with_failures(&[LinkId(1)], &[]).expect("link 1 exists"));
    let stale = Routing::new(failed, 1, good.next(), good.to_switch().to_vec());
    let Verdict::Fails(b) =
        verify(&stale, RouteLimits::NONE.hops(64), &QuietWatch).expect("not interrupted").complete
    else {
        panic!("a route uses the failed link")
    };
    // ports of switch 2: 1 its endpoint, 2 to switch 1, 3 to switch 3
    assert_eq!(b.fault, RouteFault::DeadPort(2));
}

#[test]
fn networks_that_cannot_be_routed_are_refused() {
    let entry = engine("sssp").expect("an engine");
    let refused =
        |on: &Arc<Topology>, layers| match entry.route(&Map::new(), on, layers, &QuietWatch) {
            Err(ComputationError::Refused(r)) => r.to_string(),
            other => panic!("{other:?}"),
        };
    let apart = built(4, &[(0, 1), (2, 3)], 1);
    assert!(refused(&apart, 1).contains("no path from switch s0 to switch s2"));
    assert!(refused(&built(2, &[(0, 1)], 1), 129).contains("1 to 128"));
    let ring = network("torus:shape=9");
    let one = json!({ "max_lanes": 1 }).as_object().cloned().expect("an object");
    let dfsssp = engine("dfsssp").expect("an engine");
    let r = dfsssp.route(&one, &ring, 1, &QuietWatch).expect_err("a ring needs two lanes");
    assert!(r.to_string().contains("allow more lanes"), "{r}");
}

/// SL2VL tables that give a packet lane 0 on its first hop and lane 1 after it, by in-port.
fn lane_by_hop(on: &Topology) -> Sl2VlMapping {
    let mut tables = Sl2VlPortTables::new(on, [0; 16]);
    for s in (0..on.switches().len()).map(SwitchId::from) {
        let ports = on.switches()[s.ix()].ports;
        for (input, output) in (1..=ports).flat_map(|i| (1..=ports).map(move |o| (i, o))) {
            let lane = u8::from(matches!(on.peer(s, input), PortPeer::Switch(_)));
            assert!(tables.set(s, input, output, [lane; 16]));
        }
    }
    Sl2VlMapping::PerPort(tables)
}

#[test]
fn lanes_may_change_en_route() {
    // one level, two lanes by hop: free where no path is longer than two hops, not beyond
    for (inline, free) in
        [("slim_fly:q=5,p=2", true), ("torus:shape=4,p=1", true), ("torus:shape=9,p=1", false)]
    {
        let plain = route(&network(inline), "min_hop", 1);
        let lanes = LaneAssignment::new(ServiceLevels::Same(3), lane_by_hop(plain.topology()));
        assert_eq!(lanes.count(), 2);
        let routing = plain.clone().with_lanes(lanes);
        let v = verify(&routing, RouteLimits::NONE.hops(64), &QuietWatch).expect("not interrupted");
        assert_eq!(v.holds(), free, "{inline}");
        assert_eq!(brute_force_is_free(&routing), free, "{inline}");
        if let Some(Verdict::Fails(cycle)) = &v.deadlock {
            assert!(cycle.waits.iter().all(|w| w.held.1 == 1), "the first hop waits for no one");
        }
    }
}

#[test]
fn clockwise_routes_of_a_ring_deadlock_in_one_cycle() {
    let ring = network("torus:shape=5,p=1");
    let plain = route(&ring, "min_hop", 1);
    let Some(Verdict::Fails(cycle)) =
        verify(&plain, RouteLimits::NONE.hops(64), &QuietWatch).expect("not interrupted").deadlock
    else {
        panic!("two hops in either direction close a cycle")
    };
    assert_eq!(cycle.waits.len(), 5, "{cycle}");
}

#[test]
fn levels_by_terminal_and_by_switch_mean_the_same_with_one_terminal_a_switch() {
    let by_switch = route(&network("torus:shape=4x4,p=1"), "dfsssp", 2);
    let ServiceLevels::BySwitch(levels) = by_switch.lanes().levels().clone() else {
        panic!("a torus needs several lanes")
    };
    let lanes =
        LaneAssignment::new(ServiceLevels::ByTerminal(levels), by_switch.lanes().sl2vl().clone());
    let by_terminal = by_switch.clone().with_lanes(lanes);
    let verdict = |r: &Routing| {
        verify(r, RouteLimits::NONE.hops(64), &QuietWatch).expect("not interrupted").deadlock
    };
    assert_eq!(verdict(&by_switch), verdict(&by_terminal));
}

/// Whether the dependencies of all paths have no cycle, by sets and depth-first search.
fn brute_force_is_free(routing: &Routing) -> bool {
    let on = routing.topology();
    let mut after: BTreeMap<(u32, u8), BTreeSet<(u32, u8)>> = BTreeMap::new();
    for layer in 0..routing.layers() {
        for t in (0..on.terminals().len()).map(TerminalId::from) {
            for from in (0..on.terminals().len()).map(TerminalId::from).filter(|f| *f != t) {
                let sl = routing.service_level(from, layer, t);
                let start = on.terminals()[from.ix()].plug;
                let (mut at, mut input, mut held) = (start.switch, start.port, None);
                loop {
                    let output = routing.tree(layer, t)[at.ix()];
                    let PortPeer::Switch(c) = on.peer(at, output) else { break };
                    let lane = routing.lanes().sl2vl().lane(at, input, output, sl);
                    if let Some(held) = held.replace((c.0, lane)) {
                        after.entry(held).or_default().insert((c.0, lane));
                    }
                    (at, input) = (on.head(c).switch, on.head(c).port);
                }
            }
        }
    }
    let mut done = BTreeSet::new();
    let mut open = BTreeSet::new();
    let starts: Vec<_> = after.keys().copied().collect();
    starts.into_iter().all(|v| no_cycle_from(v, &after, &mut open, &mut done))
}

/// A virtual channel: a channel and a lane of it.
type VirtualChannel = (u32, u8);

fn no_cycle_from(
    v: VirtualChannel,
    after: &BTreeMap<VirtualChannel, BTreeSet<VirtualChannel>>,
    open: &mut BTreeSet<VirtualChannel>,
    done: &mut BTreeSet<VirtualChannel>,
) -> bool {
    if done.contains(&v) {
        return true;
    }
    if !open.insert(v) {
        return false;
    }
    let free = after.get(&v).into_iter().flatten().all(|&w| no_cycle_from(w, after, open, done));
    open.remove(&v);
    done.insert(v);
    free
}

/// The lane of every hop of every path is its number, from 0 on.
fn lanes_count_hops(routing: &Routing) {
    let on = routing.topology();
    for t in (0..on.terminals().len()).map(TerminalId::from) {
        for from in (0..on.terminals().len()).map(TerminalId::from).filter(|f| *f != t) {
            for layer in 0..routing.layers() {
                let sl = routing.service_level(from, layer, t);
                let start = on.terminals()[from.ix()].plug;
                let (mut at, mut input, mut hop) = (start.switch, start.port, 0);
                while let PortPeer::Switch(c) = on.peer(at, routing.tree(layer, t)[at.ix()]) {
                    let output = routing.tree(layer, t)[at.ix()];
                    assert_eq!(routing.lanes().sl2vl().lane(at, input, output, sl), hop);
                    (at, input, hop) = (on.head(c).switch, on.head(c).port, hop + 1);
                }
            }
        }
    }
}

/// The number of paths of each level, without those within a switch (one terminal per switch).
fn paths_by_lane(routing: &Routing) -> BTreeMap<u8, u64> {
    let all = routing.topology().terminals().len();
    let pairs =
        (0..all).flat_map(|a| (0..all).map(move |b| (TerminalId::from(a), TerminalId::from(b))));
    let mut count = BTreeMap::new();
    for (from, to) in pairs.filter(|(a, b)| a != b) {
        *count.entry(routing.service_level(from, 0, to)).or_default() += 1;
    }
    count
}

/// A connected random network with random in-trees as routes and random lanes.
fn random_routing(n: u32, extra: usize, layers: u32, lanes: u8, seed: u64) -> Routing {
    let mut s = RandomStream::new(seed, "random routing", 0);
    let mut links: Vec<(u32, u32)> = (1..n).map(|v| (v, s.below(u64::from(v)) as u32)).collect();
    for _ in 0..extra {
        let (a, b) = (s.below(n.into()) as u32, s.below(n.into()) as u32);
        if a != b {
            links.push((a, b));
        }
    }
    let on = built(n, &links, 1);
    let mut tree = |home: u32, own: u16| {
        let mut entries = vec![NO_ROUTE; n as usize];
        entries[home as usize] = own;
        let mut inside = vec![home];
        while inside.len() < n as usize {
            let v = inside[s.below(inside.len() as u64) as usize];
            let row = on.graph().channels(v as usize);
            let c = row[s.below(row.len() as u64) as usize].reverse();
            let u = on.tail(c).switch;
            if entries[u.ix()] == NO_ROUTE {
                entries[u.ix()] = on.tail(c).port;
                inside.push(u.0);
            }
        }
        entries
    };
    let next: Vec<u16> = (0..layers).flat_map(|_| 0..n).flat_map(|t| tree(t, 1)).collect();
    let to_switch: Vec<u16> = (0..n).flat_map(|d| tree(d, 0)).collect();
    let levels = (0..layers * n * n).map(|_| s.below(4) as u8).collect();
    let mut tables = Sl2VlPortTables::new(&on, [0; 16]);
    for v in 0..n {
        let ports = on.switches()[v as usize].ports;
        for (input, output) in (1..=ports).flat_map(|i| (1..=ports).map(move |o| (i, o))) {
            let table = std::array::from_fn(|_| s.below(lanes.into()) as u8);
            assert!(tables.set(SwitchId(v), input, output, table));
        }
    }
    let sl2vl = if seed.is_multiple_of(2) {
        Sl2VlMapping::modulo(lanes)
    } else {
        Sl2VlMapping::PerPort(tables)
    };
    let lanes = LaneAssignment::new(ServiceLevels::BySwitch(levels), sl2vl);
    Routing::new(on, layers, next, to_switch).with_lanes(lanes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn deadlock_verdicts_agree_with_brute_force(
        n in 2_u32..9, extra in 0_usize..8, layers in 1_u32..3, lanes in 1_u8..4,
        seed in 0_u64..1 << 40,
    ) {
        let routing = random_routing(n, extra, layers, lanes, seed);
        let v = verify(&routing, RouteLimits::NONE.hops(64), &QuietWatch).expect("not interrupted");
        prop_assert!(v.complete.holds());
        let free = brute_force_is_free(&routing);
        prop_assert_eq!(v.deadlock.as_ref().is_some_and(Verdict::holds), free);
        match v.deadlock.expect("routes are complete") {
            Verdict::Holds(mut numbering) => {
                prop_assert!(matches!(v.rechecked, Some(Ok(()))));
                if numbering.dependencies > 0 {
                    numbering.number.fill(7);
                    let again = checker::recheck(&routing, &numbering, &QuietWatch);
                    prop_assert!(again.expect("not interrupted").is_err());
                }
            }
            Verdict::Fails(cycle) => {
                // consecutive channels meet at a switch, and every wait names a route
                let on = routing.topology();
                for (i, wait) in cycle.waits.iter().enumerate() {
                    let next = &cycle.waits[(i + 1) % cycle.waits.len()];
                    prop_assert_eq!(on.head(wait.held.0).switch, on.tail(next.held.0).switch);
                    prop_assert!(wait.route.starts_with("route host-"), "{}", wait.route);
                }
            }
        }
    }

    #[test]
    fn every_method_gives_lanes_without_cycles_or_says_that_it_cannot(
        n in 2_u32..12, extra in 0_usize..14, layers in 1_u32..3, seed in 0_u64..1 << 40,
        max_lanes in 1_u8..16, balance in any::<bool>(),
    ) {
        let routing = random_routing(n, extra, layers, 1, seed);
        let plain = routing.clone().with_lanes(LaneAssignment::single());
        for method in LaneAssignmentMethod::ALL {
            let how = LaneAssignmentRules { method, max_lanes, balance, seed };
            match spread(routing.clone(), &how, &QuietWatch) {
                Ok(done) => {
                    prop_assert!(brute_force_is_free(&done), "{:?}", method);
                    prop_assert!(done.lanes().count() <= max_lanes);
                    prop_assert_eq!(done.next(), routing.next());
                    // no lanes are spent where none are needed
                    let one_lane = done.lanes().count() == 1;
                    prop_assert!(balance || one_lane == brute_force_is_free(&plain));
                    let proof = verify(&done, RouteLimits::NONE.hops(64), &QuietWatch);
                    prop_assert!(proof.expect("not interrupted").holds());
                    let by_hops = method == LaneAssignmentMethod::Hops;
                    if by_hops && !balance && done.lanes().count() > 1 {
                        lanes_count_hops(&done);
                    }
                }
                Err(e) => {
                    let why = e.to_string();
                    let known = ["lanes do not make", "need a lane each hop", "16 service levels"];
                    prop_assert!(known.iter().any(|k| why.contains(k)), "{}", why);
                    prop_assert!(!brute_force_is_free(&plain), "{:?}: {}", method, why);
                }
            }
        }
    }

    #[test]
    fn balancing_uses_every_lane_about_evenly(
        n in 8_u32..14, extra in 0_usize..14, seed in 0_u64..1 << 40, max_lanes in 2_u8..16,
    ) {
        let routing = random_routing(n, extra, 1, 1, seed);
        for method in [LaneAssignmentMethod::Online, LaneAssignmentMethod::Lightest] {
            let how = |balance| LaneAssignmentRules { method, max_lanes, balance, seed };
            let Ok(needed) = spread(routing.clone(), &how(false), &QuietWatch) else { continue };
            let done = spread(routing.clone(), &how(true), &QuietWatch).expect("fewer lanes do");
            prop_assert_eq!(done.lanes().count(), max_lanes);
            let (before, after) = (paths_by_lane(&needed), paths_by_lane(&done));
            prop_assert_eq!(before.values().sum::<u64>(), after.values().sum::<u64>());
            // the least number of paths that no lane need exceed
            let enough = |most: u64| before.values().map(|n| n.div_ceil(most)).sum::<u64>();
            let least = (1..=200).find(|most| enough(*most) <= u64::from(max_lanes));
            prop_assert_eq!(after.values().max().copied(), least);
        }
    }

    #[test]
    fn lanes_make_any_routes_deadlock_free_or_say_that_they_cannot(
        n in 2_u32..12, extra in 0_usize..14, layers in 1_u32..3, seed in 0_u64..1 << 40,
    ) {
        let routing = random_routing(n, extra, layers, 1, seed);
        match engines::lanes::break_cycles(routing, 15, &QuietWatch) {
            Ok(spread) => prop_assert!(brute_force_is_free(&spread)),
            Err(e) => prop_assert!(e.to_string().contains("15 lanes do not"), "{}", e),
        }
    }
}
