//! Promises of single engines: up*/down*, dimension order, ECMP, static Valiant, fat trees, RUES,
//! FatPaths.

use base::ComputationError;
use base::seed::RandomStream;
use base::{ChannelId, LinkId, QuietWatch, SwitchId, TerminalId};
use engines::engine;
use engines::lanes::{LaneAssignmentMethod, LaneAssignmentRules, spread};
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::tables::Routing;
use families::family;
use measure::load::edge_load::edge_load;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verify::{RouteLimits, verify};

fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("a member"))
}

fn try_route(
    on: &Arc<Topology>,
    name: &str,
    options: &Value,
    layers: u32,
) -> Result<Routing, String> {
    let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
    match engine(name).expect("an engine").route(&options, on, layers, &QuietWatch) {
        Ok(routing) => Ok(routing),
        Err(ComputationError::Refused(r)) => Err(r.to_string()),
        Err(stopped) => panic!("{stopped}"),
    }
}

fn route(on: &Arc<Topology>, name: &str, layers: u32) -> Routing {
    try_route(on, name, &json!({}), layers).expect("routed")
}

fn holds(routing: &Routing) {
    let v = verify(routing, RouteLimits::NONE.hops(255), &QuietWatch).expect("not interrupted");
    assert!(v.holds(), "{} {:?}", routing.topology().recipe(), v.complete);
    assert!(v.management.holds(), "{} {:?}", routing.topology().recipe(), v.management);
}

/// The network with `count` random links failed.
fn failed(on: &Topology, count: usize, seed: u64) -> Arc<Topology> {
    let mut links: Vec<LinkId> = (0..on.links().len()).map(LinkId::from).collect();
    RandomStream::new(seed, "failures", 0).shuffle(&mut links);
    links.truncate(count);
    Arc::new(on.with_failures(&links, &[]).expect("links that exist"))
}

/// Calls `visit` with the switches on the route of every (layer, terminal, source switch).
fn each_route(routing: &Routing, mut visit: impl FnMut(TerminalId, &[SwitchId])) {
    let on = routing.topology();
    for (layer, t) in routing.destinations() {
        for &s in &on.edge_switches() {
            let mut route = vec![SwitchId(s)];
            route.extend(routing.walk(layer, t, SwitchId(s)).map(|hop| hop.to));
            if on.terminals()[t.ix()].plug.switch == route[route.len() - 1] {
                visit(t, &route);
            }
        }
    }
}

const NETWORKS: [&str; 9] = [
    "slim_fly:q=5,p=1",
    "slim_fly:q=7,p=1",
    "jellyfish:n=40,k=4,p=1,seed=3",
    "jellyfish:n=30,k=3,p=2,seed=8",
    "torus:shape=5x4x3",
    "hyperx:shape=4x5,p=1",
    "hypercube:n=5",
    "fat_tree:levels=3,k=4",
    "fat_tree:leaves=6,spines=3,parallel=2,p=4",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// By levels and numbers that are computed here: no route goes up after it went down.
    #[test]
    fn up_down_is_free_of_deadlock_on_one_lane(
        which in 0..NETWORKS.len(),
        faults in 0_usize..14,
        root in 0_u32..9,
        layers in 1_u32..4,
        seed in any::<u64>(),
    ) {
        let on = failed(&network(NETWORKS[which]), faults, seed);
        let routed = match try_route(&on, "up_down", &json!({ "root": root }), layers) {
            Ok(routed) => routed,
            Err(why) => {
                prop_assert!(why.contains("disconnected"), "{}", why);
                return Ok(());
            }
        };
        prop_assert_eq!(routed.lanes().count(), 1);
        holds(&routed);
        let level = on.graph().distances_from(root as usize);
        let height = |s: SwitchId| (level[s.ix()], s.0);
        let distance: Vec<Vec<u32>> =
            (0..on.switches().len()).map(|s| on.graph().distances_from(s)).collect();
        each_route(&routed, |_, route| {
            let ups: Vec<bool> = route.windows(2).map(|w| height(w[1]) < height(w[0])).collect();
            assert!(ups.windows(2).all(|turn| turn[0] || !turn[1]), "up after down: {route:?}");
            let least = distance[route[0].ix()][route[route.len() - 1].ix()] as usize;
            assert!(route.len() > least);
        });
        holds(&try_route(&on, "up_down", &json!({}), layers).expect("the default root"));
    }

    #[test]
    fn damaged_networks_are_routed_well_or_refused(
        which in 0..NETWORKS.len(),
        faults in 0_usize..5,
        layers in 1_u32..4,
        seed in any::<u64>(),
    ) {
        let on = failed(&network(NETWORKS[which]), faults, seed);
        let names =
            ["dor", "ecmp", "valiant_static", "ftree", "layered", "rues", "fatpaths"];
        for name in names {
            match try_route(&on, name, &json!({}), layers) {
                Ok(routed) => holds(&routed),
                Err(why) => {
                    let reasons = [
                        "disconnected", "lanes do not make", "which is down", "has no dimensions",
                        "not a tree", "no path up and then down", "paths of",
                    ];
                    prop_assert!(reasons.iter().any(|r| why.contains(r)), "{}: {}", name, why);
                    let damage = ["which is down", "no path up"].iter().any(|r| why.contains(r));
                    prop_assert!(!damage || faults > 0, "{}: {}", name, why);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]

    /// Nue is free of deadlock on any connected network, with any number of lanes from one on.
    #[test]
    fn nue_always_finds_routes_free_of_deadlock(
        which in 0..NETWORKS.len(),
        faults in 0_usize..14,
        max_lanes in 1_u8..6,
        layers in 1_u32..3,
        seed in any::<u64>(),
    ) {
        let on = failed(&network(NETWORKS[which]), faults, seed);
        match try_route(&on, "nue", &json!({ "max_lanes": max_lanes }), layers) {
            Ok(routed) => {
                holds(&routed);
                prop_assert!(routed.lanes().count() <= max_lanes);
            }
            Err(why) => prop_assert!(why.contains("disconnected"), "{}", why),
        }
    }

    #[test]
    fn lash_gives_every_pair_of_switches_one_shortest_route_and_one_lane(
        which in 0..NETWORKS.len(), faults in 0_usize..6, seed in any::<u64>(),
    ) {
        let on = failed(&network(NETWORKS[which]), faults, seed);
        let Ok(routed) = try_route(&on, "lash", &json!({ "max_lanes": 15 }), 1) else {
            return Ok(());
        };
        holds(&routed);
        let far: Vec<Vec<u32>> =
            (0..on.switches().len()).map(|s| on.graph().distances_from(s)).collect();
        each_route(&routed, |_, route| {
            assert_eq!(route.len() as u32, far[route[0].ix()][route[route.len() - 1].ix()] + 1);
        });
        for s in 0..on.switches().len() {
            let here = on.terminals_on(SwitchId::from(s));
            for (a, b) in here.iter().zip(here.iter().skip(1)) {
                let (one, other) = (routed.tree(0, *a), routed.tree(0, *b));
                assert!((0..on.switches().len()).all(|v| v == s || one[v] == other[v]));
                for from in (0..on.terminals().len()).map(TerminalId::from) {
                    let level = |to| routed.service_level(from, 0, to);
                    assert_eq!(level(*a), level(*b));
                }
            }
        }
    }
}

/// Destinations of which no two are neighbours need no second lane for routes of two hops: the
/// second hop ends at its destination. So with one lane per colour all routes are shortest, and
/// greedy colouring needs at most one colour more than the degree.
#[test]
fn nue_is_minimal_on_two_hop_networks_given_a_lane_more_than_the_radix() {
    for inline in ["slim_fly:q=5,p=4", "slim_fly:q=4,p=1", "hyperx:shape=4x4,p=2"] {
        let on = network(inline);
        let routed = try_route(&on, "nue", &json!({ "max_lanes": 8 }), 1).expect("routed");
        holds(&routed);
        each_route(&routed, |_, route| assert!(route.len() <= 3, "{inline} {route:?}"));
    }
    for max_lanes in [0, 16, 255] {
        let options = json!({ "max_lanes": max_lanes });
        let why = try_route(&network("slim_fly:q=5"), "nue", &options, 1).expect_err("no such");
        assert!(why.contains("1 to 15"), "{why}");
    }
}

/// The published counts of service levels: every pair of neighbours has different colours.
#[test]
fn hops_take_three_lanes_and_few_levels_on_the_layers_of_the_slim_fly() {
    for (inline, layers) in [("slim_fly:q=5,p=4", 4), ("slim_fly:q=5,p=1", 8)] {
        let plain = try_route(&network(inline), "layered", &json!({ "max_lanes": 15 }), layers);
        let how = LaneAssignmentRules {
            method: LaneAssignmentMethod::Hops,
            max_lanes: 3,
            balance: false,
            seed: 0,
        };
        let routed = spread(plain.expect("routed"), &how, &QuietWatch).expect("three hops at most");
        holds(&routed);
        assert_eq!(routed.lanes().count(), 3);
        // first fit takes 6 colours for q = 5 in the order of switches, and level 0
        assert!((4..=7).contains(&routed.lanes().levels().in_use().len()));
        let wide = LaneAssignmentRules { max_lanes: 8, balance: true, ..how };
        let routed = spread(routed, &wide, &QuietWatch).expect("three hops at most");
        holds(&routed);
        assert_eq!(routed.lanes().count(), 8);
        let few = LaneAssignmentRules { max_lanes: 2, ..how };
        let why = spread(routed, &few, &QuietWatch).expect_err("three hops").to_string();
        assert!(why.contains("paths of 3 hops"), "{why}");
    }
}

#[test]
fn the_root_is_named_or_numbered_or_refused() {
    let on = network("slim_fly:q=5,p=1");
    let tables =
        |root: &Value| try_route(&on, "up_down", &json!({ "root": root }), 1).map(|r| r.next());
    assert_eq!(tables(&json!("sf-0-0-3")), tables(&json!(3)));
    assert_eq!(tables(&json!("3")), tables(&json!(3)));
    assert_ne!(tables(&json!(4)), tables(&json!(3)));
    for wrong in [json!(50), json!(u32::MAX), json!("nobody"), json!("")] {
        let why = tables(&wrong).expect_err("no such switch");
        assert!(why.contains("root: there is no switch") && why.contains("0 to 49"), "{why}");
    }
    assert!(tables(&json!(-1)).is_err() && tables(&json!([1])).is_err());
    let broken = Arc::new(on.with_failures(&[], &[SwitchId(7)]).expect("switch 7 exists"));
    let why = try_route(&broken, "up_down", &json!({ "root": 7 }), 1).expect_err("it is down");
    assert!(why.contains("switch 7 has failed"), "{why}");
    holds(&route(&broken, "up_down", 2));
    // a path of five: the middle has the least distance to the farthest switch, and all routes are
    // minimal
    let path = route(&network("mesh:shape=5"), "up_down", 1);
    each_route(&path, |_, route| {
        assert_eq!(route.len() as u32, route[0].0.abs_diff(route[route.len() - 1].0) + 1);
    });
}

/// The distance of two switches by their coordinates, by the rule of the family.
fn apart(on: &Topology, a: SwitchId, b: SwitchId, shape: &[u32]) -> u32 {
    let (a, b) = (&on.switches()[a.ix()].coordinates, &on.switches()[b.ix()].coordinates);
    let one = |d: usize| {
        let straight = a[d].abs_diff(b[d]);
        match on.recipe().family.as_str() {
            "torus" => straight.min(shape[d] - straight),
            "mesh" => straight,
            _ => straight.min(1),
        }
    };
    (0..shape.len()).map(one).sum()
}

#[test]
fn dimension_order_is_minimal_in_order_and_needs_two_lanes_on_tori() {
    let cases: [(&str, &[u32], u8); 13] = [
        ("torus:shape=4,p=1", &[4], 2),
        ("torus:shape=9,p=2", &[9], 2),
        ("torus:shape=3x3,p=1", &[3, 3], 1),
        ("torus:shape=4x4,p=2", &[4, 4], 2),
        ("torus:shape=5x8,p=1", &[5, 8], 2),
        ("torus:shape=4x4x4,p=1", &[4, 4, 4], 2),
        ("torus:shape=6x1x5x3,p=1", &[6, 1, 5, 3], 2),
        ("torus:shape=4x5x4x4,p=1", &[4, 5, 4, 4], 2),
        ("mesh:shape=4x5x2,p=1", &[4, 5, 2], 1),
        ("hyperx:shape=4x3x2,p=2", &[4, 3, 2], 1),
        ("hyperx:shape=4x3,k=1x2,p=2", &[4, 3], 1),
        ("flattened_butterfly:k=3,n=4,p=1", &[3, 3, 3], 1),
        ("hypercube:n=6", &[2; 6], 1),
    ];
    for (inline, shape, lanes) in cases {
        let on = network(inline);
        let routed = route(&on, "dor", 1);
        holds(&routed);
        assert_eq!(routed.lanes().count(), lanes, "{inline}");
        each_route(&routed, |_, route| {
            let steps = apart(&on, route[0], route[route.len() - 1], shape);
            assert_eq!(route.len() as u32, steps + 1, "{inline} {route:?}");
            let at = |s: SwitchId| &on.switches()[s.ix()].coordinates;
            let moved = |w: &[SwitchId]| (0..shape.len()).find(|&d| at(w[0])[d] != at(w[1])[d]);
            let dimensions: Vec<Option<usize>> = route.windows(2).map(moved).collect();
            assert!(dimensions.is_sorted(), "{inline} {route:?}");
        });
    }
    holds(&route(&network("torus:shape=4x4,p=1"), "dor", 2));
    // more rings than a level has bits: still free of deadlock, or refused
    let on = network("torus:shape=4x4x4x4x4,p=0");
    holds(&route(&on, "dor", 1));
}

/// Dally & Towles, section 3.2: under uniform traffic a channel of a k-ary n-cube carries k/8 of
/// what a switch sends: N k / 8 routes.
#[test]
fn dimension_order_shares_out_the_halves_of_even_rings() {
    for (inline, load, channels) in [
        ("torus:shape=4x4,p=1", 8, 64),
        ("torus:shape=8x8,p=1", 64, 256),
        ("torus:shape=4x4x4,p=1", 32, 384),
    ] {
        let found = edge_load(&route(&network(inline), "dor", 1), &QuietWatch)
            .expect("not interrupted")
            .histogram;
        assert_eq!(found, BTreeMap::from([(load, channels)]), "{inline}");
    }
}

#[test]
fn dimension_order_says_what_it_lacks() {
    let torus = network("torus:shape=6x5,p=1");
    let cut = Arc::new(torus.with_failures(&[LinkId(0)], &[]).expect("link 0 exists"));
    let why = try_route(&cut, "dor", &json!({}), 1).expect_err("a cable is down");
    let ends = [torus.links()[0].a.switch, torus.links()[0].b.switch];
    assert!(ends.iter().all(|s| why.contains(&torus.switches()[s.ix()].name)), "{why}");
    let why = try_route(&network("slim_fly:q=5"), "dor", &json!({}), 1).expect_err("no grid");
    assert!(why.contains("'slim_fly' has no dimensions"), "{why}");
    for max_lanes in [0, 1, 16, 255] {
        let options = json!({ "max_lanes": max_lanes });
        let why = try_route(&torus, "dor", &options, 1).expect_err("a torus needs two lanes");
        assert!(why.contains("max_lanes"), "{why}");
    }
}

#[test]
fn ecmp_deals_all_next_hops_to_the_layers_and_depends_on_its_seed() {
    let on = network("fat_tree:leaves=4,spines=3,parallel=2,p=2");
    let routed = route(&on, "ecmp", 6);
    for (t, terminal) in on.terminals().iter().enumerate() {
        for leaf in (0..4).map(SwitchId).filter(|l| *l != terminal.plug.switch) {
            let port = |layer| routed.tree(layer, TerminalId::from(t))[leaf.ix()];
            assert_eq!((0..6).map(port).collect::<BTreeSet<_>>().len(), 6);
        }
    }
    let seeded = |seed: u64| try_route(&on, "ecmp", &json!({ "seed": seed }), 1).expect("routed");
    assert_ne!(seeded(1).next(), seeded(2).next());
    assert_eq!(seeded(u64::MAX).next(), seeded(u64::MAX).next());
}

/// Every tree has a switch such that no route is longer than the shortest paths to it and on from
/// it.
#[test]
fn valiant_routes_go_by_an_intermediate_switch() {
    for inline in ["slim_fly:q=5,p=1", "torus:shape=5x4,p=1", "jellyfish:n=20,k=4,p=1,seed=1"] {
        let on = network(inline);
        let n = on.switches().len();
        let far: Vec<Vec<u32>> = (0..n).map(|s| on.graph().distances_from(s)).collect();
        let routed = try_route(&on, "valiant_static", &json!({ "max_lanes": 15 }), 2);
        let routed = routed.expect("routed");
        holds(&routed);
        let (mut trees, mut detours) = (0, 0);
        for (layer, t) in routed.destinations() {
            let home = on.terminals()[t.ix()].plug.switch;
            let hops = |s: usize| routed.walk(layer, t, SwitchId::from(s)).count() as u32;
            let length: Vec<u32> = (0..n).map(hops).collect();
            let fits = |m: &usize| {
                (0..n).all(|s| length[s] <= far[s][*m] + far[*m][home.ix()])
                    && length[*m] == far[*m][home.ix()]
            };
            assert!((0..n).any(|m| fits(&m)), "{inline}: no intermediate for {t}");
            trees += 1;
            detours += u32::from((0..n).any(|s| length[s] > far[s][home.ix()]));
        }
        // one intermediate in n is the destination itself
        assert!(detours * 2 > trees, "{inline}: {detours} of {trees} trees take a detour");
    }
}

/// Zahavi 2010: traffic from every endpoint i to i + s puts at most one route on any channel.
#[test]
fn shifts_are_free_of_congestion_on_full_fat_trees() {
    for inline in [
        "fat_tree:leaves=12,spines=6,parallel=3,p=18",
        "fat_tree:leaves=4,spines=4,p=4",
        "fat_tree:levels=3,k=4",
        "fat_tree:levels=3,k=6",
        "k_ary_n_tree:k=4,n=2",
        "k_ary_n_tree:k=3,n=3",
        "k_ary_n_tree:k=2,n=5",
        "xgft:m=4x4x4,w=1x4x2,parallel=1x1x2",
        "clos:n=3,m=3,r=5",
    ] {
        let on = network(inline);
        let n = on.terminals().len() as u32;
        let routed = route(&on, "ftree", 2);
        holds(&routed);
        assert_eq!(routed.lanes().count(), 1);
        for (layer, shift) in (0..2).flat_map(|layer| (1..n).map(move |s| (layer, s))) {
            let mut carried = vec![0; on.links().len() * 2];
            for i in 0..n {
                let from = on.terminals()[i as usize].plug.switch;
                for hop in routed.walk(layer, TerminalId((i + shift) % n), from) {
                    carried[hop.channel.0 as usize] += 1;
                }
            }
            assert!(carried.iter().all(|c| *c <= 1), "{inline}: shift {shift}, layer {layer}");
        }
    }
}

/// With one of three spines failed, the other two share its addresses: at most 6 / 2 + 6 / 6 per
/// port.
#[test]
fn fat_trees_share_out_what_failed_and_refuse_what_cannot_be_reached() {
    let whole = network("fat_tree:leaves=4,spines=3,p=3");
    let on = Arc::new(whole.with_failures(&[], &[SwitchId(4)]).expect("a spine"));
    let routed = route(&on, "ftree", 1);
    holds(&routed);
    for leaf in 0..4 {
        let mut used = BTreeMap::new();
        for (_, t) in routed.destinations() {
            if let Some(hop) = routed.walk(0, t, SwitchId(leaf)).next() {
                *used.entry(hop.channel).or_insert(0) += 1;
            }
        }
        assert_eq!(used.values().sum::<u32>(), 9);
        assert!(used.len() == 2 && used.values().all(|n| (4..=5).contains(n)), "{used:?}");
    }
    // leaf 0 keeps spine 4 only, leaf 1 spine 5 only: they meet nowhere
    let apart = |leaf: u32, spine: u32| {
        let joins = |l: &&LinkId| {
            let link = &whole.links()[l.ix()];
            link.a.switch.0 == leaf && link.b.switch.0 != spine
        };
        let all: Vec<LinkId> = (0..whole.links().len()).map(LinkId::from).collect();
        all.iter().filter(joins).copied().collect::<Vec<_>>()
    };
    let cut = [apart(0, 4), apart(1, 5)].concat();
    let on = Arc::new(whole.with_failures(&cut, &[]).expect("links that exist"));
    let why = try_route(&on, "ftree", &json!({}), 1).expect_err("no path up and down");
    assert!(why.contains("no path up and then down from ft-0-1 to ft-0-0"), "{why}");
    for inline in ["slim_fly:q=5", "torus:shape=4x4", "dragonfly:p=2,a=4,h=2"] {
        let why = try_route(&network(inline), "ftree", &json!({}), 1).expect_err("not a tree");
        assert!(why.contains("not a tree"), "{inline}: {why}");
    }
}

/// Hops from every switch to `to` over the channels that `may` grants.
fn hops_over(on: &Topology, to: SwitchId, may: impl Fn(ChannelId) -> bool) -> Vec<Option<usize>> {
    let mut hops = vec![None; on.switches().len()];
    hops[to.ix()] = Some(0);
    for round in 0..on.switches().len() {
        for c in (0..2 * on.links().len() as u32).map(ChannelId).filter(|&c| may(c)) {
            let (from, to) = (on.tail(c).switch.ix(), on.head(c).switch.ix());
            if hops[to] == Some(round) && hops[from].is_none() {
                hops[from] = Some(round + 1);
            }
        }
    }
    hops
}

/// The layers follow their definitions, with the links and in the orders that the random stream of
/// this name draws.
#[test]
fn layers_of_parts_are_shortest_where_these_lead_and_else_go_by_the_first() {
    let cases = [("rues", 0.4), ("rues", 0.15), ("fatpaths", 0.4), ("fatpaths", 1.0)];
    let networks = [NETWORKS[0], NETWORKS[3], NETWORKS[8]].map(network);
    for ((name, keep), on) in cases.iter().flat_map(|case| networks.iter().map(move |n| (case, n)))
    {
        let on = failed(on, 2, 3);
        let options = json!({ "keep": keep, "seed": 9, "max_lanes": 15 });
        let routed = try_route(&on, name, &options, 3).expect("routed");
        holds(&routed);
        for layer in 1..3 {
            let mut random = RandomStream::new(9, name, layer.into());
            let all = (0..on.links().len()).map(LinkId::from);
            let mut links: Vec<LinkId> = all.filter(|&l| on.link_is_up(l)).collect();
            random.shuffle(&mut links);
            links.truncate((keep * links.len() as f64).round() as usize);
            let mut place: Vec<usize> = (0..on.switches().len()).collect();
            random.shuffle(&mut place);
            let may = |c: ChannelId| {
                let (from, to) = (on.tail(c).switch.ix(), on.head(c).switch.ix());
                links.contains(&c.link()) && (*name == "rues" || place[from] < place[to])
            };
            for t in (0..on.terminals().len()).map(TerminalId::from) {
                let home = on.terminals()[t.ix()].plug.switch;
                let (tree, first) = (routed.tree(layer, t), routed.tree(0, t));
                for (s, hops) in hops_over(&on, home, may).into_iter().enumerate() {
                    let Some(hops) = hops else {
                        assert_eq!(tree[s], first[s], "{name} {keep}: switch {s}, terminal {t}");
                        continue;
                    };
                    let mut walk = routed.walk(layer, t, SwitchId::from(s));
                    let walked = walk.by_ref().count();
                    assert_eq!((walk.at(), walked), (home, hops), "{name} {keep}: switch {s}");
                }
            }
        }
    }
}
