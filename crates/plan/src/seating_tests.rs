//! Racks by family against formulae, planted racks, and exhaustive search.

#![allow(clippy::float_cmp)] // lengths are sums of whole metres

use super::floor_tests::{built, deployed, floored, links, metres, network, pairs, studied};
use super::placing::annealed;
use super::*;
use base::QuietWatch;
use base::partition::WeightedGraph;
use base::seed::RandomStream;
use fabric::network::{Switch, Topology, TopologyBuilder};
use std::collections::{BTreeMap, BTreeSet};

/// Racks of a grid whose first dimension is inside: s1 cables, times parallel ones, between two
/// that differ in one coordinate, none between others; the racks stand as their coordinates say.
#[test]
fn racks_of_a_hyperx_differ_in_one_coordinate_or_have_no_cable() {
    for (net, [s1, s2, s3], parallel) in [
        ("hyperx:shape=3x4x5,p=1", [3, 4, 5], 1),
        ("flattened_butterfly:k=4,n=4,p=2", [4, 4, 4], 1),
        ("hyperx:shape=6x2x3,p=0", [6, 2, 3], 1),
        ("hyperx:shape=4x1x3x5,p=0", [4, 3, 5], 1),
    ] {
        let t = built(net);
        let floor = floored(&t, &studied());
        assert_eq!(floor.racks.len() as u32, s2 * s3, "{net}");
        let spots: BTreeSet<_> = floor.racks.iter().map(|r| (r.row, r.column)).collect();
        assert_eq!(spots, (0..s3).flat_map(|z| (0..s2).map(move |y| (z, y))).collect(), "{net}");
        let pairs = pairs(&t, &floor);
        for a in 0..s2 * s3 {
            for b in a + 1..s2 * s3 {
                let [x, y] = [a, b].map(|r| &floor.racks[r as usize]);
                let differ = u32::from(x.row != y.row) + u32::from(x.column != y.column);
                let expect = if differ == 1 { Some(s1 * parallel) } else { None };
                assert_eq!(pairs.get(&(a, b)).copied(), expect, "{net}: racks {a} and {b}");
            }
        }
    }
    // SC14: c^2 racks of c routers; C(c, 2) c^2 cables inside, 2 c^2 C(c, 2) between
    let t = built("flattened_butterfly:k=10,n=4,p=10");
    let floor = floored(&t, &studied());
    assert_eq!((floor.racks.len(), links(&t, &floor)[2]), (100, 9000));
    // the fourth dimension in blocks of the second: 2 x 3 columns
    let floor = floored(&built("hyperx:shape=2x3x4x2,p=0"), &studied());
    let last = floor.racks.last().expect("racks");
    assert_eq!((floor.racks.len(), last.row, last.column), (24, 3, 5));
}

/// Most steps along a row or a column that any link takes.
fn longest_step(t: &Topology, floor: &RackFloor) -> u32 {
    let rack = |s: SwitchId| &floor.racks[floor.switches[s.ix()].rack as usize];
    let steps = t.links().iter().map(|l| {
        let (a, b) = (rack(l.a.switch), rack(l.b.switch));
        a.row.abs_diff(b.row) + a.column.abs_diff(b.column)
    });
    steps.max().unwrap_or(0)
}

#[test]
fn neighbours_on_a_torus_are_two_positions_apart_at_most() {
    for (net, units) in [
        ("torus:shape=16x16", 42),
        ("torus:shape=16x16", 4),
        ("torus:shape=9x7", 1),
        ("torus:shape=8x8x8", 42),
        ("torus:shape=5x12x13", 11),
        ("torus:shape=4x3x10x11", 12),
        ("ring:n=100", 1),
        ("ring:n=101", 7),
        ("torus:shape=4x64", 5),
    ] {
        let t = built(net);
        let rules = FloorRules { rack_units: units, ..studied() };
        let longest = longest_step(&t, &floored(&t, &rules));
        assert!((1..=2).contains(&longest), "{net} in racks of {units}: {longest}");
    }
    for (net, units) in [("mesh:shape=16x16", 16), ("mesh:shape=4x30x20", 8), ("mesh:shape=50", 3)]
    {
        let t = built(net);
        let rules = FloorRules { rack_units: units, ..studied() };
        assert_eq!(longest_step(&t, &floored(&t, &rules)), 1, "{net} in racks of {units}");
    }
}

/// 2^n switches in subcubes of 2^k: every switch has n - k cables that leave its rack.
#[test]
fn hypercubes_are_seated_by_subcubes() {
    for (n, units, k) in [(4, 42, 4), (6, 42, 5), (8, 42, 5), (9, 15, 3), (5, 1, 0)] {
        let t = built(&format!("hypercube:n={n},p=0"));
        let rules = FloorRules { rack_units: units, ..FloorRules::default() };
        let floor = floored(&t, &rules);
        assert_eq!(floor.racks.len(), 1 << (n - k), "n={n} in racks of {units}");
        assert_eq!(links(&t, &floor)[2], (1 << n) * (n - k) / 2, "n={n} in racks of {units}");
    }
}

/// k pods of k/2 edge and k/2 aggregation switches; (k/2)^2 cables from each to the core.
#[test]
fn pods_have_a_rack_and_the_top_its_own() {
    for k in [4, 8, 16] {
        let t = built(&format!("fat_tree:levels=3,k={k}"));
        let floor = floored(&t, &studied());
        let core = (k * k / 4_u32).div_ceil(42);
        assert_eq!(floor.racks.len() as u32, k + core);
        let mut to_core = vec![0; k as usize];
        for ((a, b), cables) in pairs(&t, &floor) {
            assert!(a < k && b >= k, "k={k}: {cables} cables between racks {a} and {b}");
            to_core[a as usize] += cables;
        }
        assert!(to_core.iter().all(|&n| n == k * k / 4), "k={k}: {to_core:?}");
    }
    for net in ["k_ary_n_tree:k=4,n=3", "xgft:m=4x4x4,w=1x4x4", "clos:n=4,m=4,r=6"] {
        let t = built(net);
        let floor = floored(&t, &studied());
        let top = t.switches().iter().map(|s| s.level).max().expect("switches");
        let racks = |is_top: bool| -> BTreeSet<u32> {
            let seats = t.switches().iter().zip(&floor.switches);
            seats.filter(|(s, _)| (s.level == top) == is_top).map(|(_, seat)| seat.rack).collect()
        };
        assert!(racks(true).is_disjoint(&racks(false)), "{net}");
        let pods = pairs(&t, &floor)
            .keys()
            .all(|(a, b)| racks(true).contains(a) != racks(true).contains(b));
        assert!(pods, "{net}: all cables between racks go to the top");
    }
}

/// A group too large for a rack keeps its racks beside each other.
#[test]
fn racks_of_one_group_adjoin() {
    for (net, units) in
        [("dragonfly:p=2,a=8,h=2", 3), ("megafly:leaves=4,h=2,p=2", 3), ("slim_fly:q=9,p=0", 7)]
    {
        let t = built(net);
        let row_pitch_m = Some(1.0);
        let rules = FloorRules { rack_units: units, row_pitch_m, ..FloorRules::default() };
        let floor = floored(&t, &rules);
        let mut of: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (s, seat) in t.switches().iter().zip(&floor.switches) {
            let group = if net.starts_with("slim") { s.coordinates[1] } else { s.group };
            of.entry(group).or_default().insert(seat.rack);
        }
        for racks in of.values() {
            assert!(racks.len() > 1, "{net}: the group is split");
            let mut reached = BTreeSet::from([*racks.first().expect("racks")]);
            for _ in racks {
                let next = |r: &&u32| reached.iter().any(|&o| floor.distance_m(o, **r) <= 1.0);
                let more: Vec<u32> = racks.iter().filter(next).copied().collect();
                reached.extend(more);
            }
            assert_eq!(&reached, racks, "{net}");
        }
    }
}

/// Switches of all planes that serve the same endpoints share a rack.
#[test]
fn planes_share_racks_where_they_serve_the_same_endpoints() {
    for net in [
        "fit_fly:q=5,p=4",
        "fit_fly:q=4,p=2,planes=3,map=equal",
        "multi_plane:planes=2,of=dragonfly:p=2,a=4,h=2",
        "multi_plane:planes=4,of=torus:shape=8x8",
        "multi_plane:planes=2,of=fat_tree:leaves=12,spines=6,parallel=3,p=18",
        "multi_plane:planes=2,of=fit_fly:q=4,p=2",
        "multi_plane:planes=2,of=hyperx:shape=4x4x3,p=2",
    ] {
        let t = built(net);
        let floor = floored(&t, &FloorRules::default());
        for rail in t.terminals() {
            let seat = floor.endpoints[rail.endpoint.ix()].expect("seated");
            assert_eq!(seat.rack, floor.switches[rail.plug.switch.ix()].rack, "{net}");
        }
    }
    // each plane still has its q racks, and 2 q cables between any two of them
    let t = built("fit_fly:q=5,p=4");
    let floor = floored(&t, &deployed());
    let pairs = pairs(&t, &floor);
    assert_eq!((floor.racks.len(), pairs.len()), (5, 10));
    assert!(pairs.values().all(|&n| n == 20), "{pairs:?}");
}

/// Cliques of a rack's size in a random order, joined to a ring by single links, are found again.
#[test]
fn planted_racks_are_found() {
    for (count, size, seed) in
        [(2, 8, 1), (3, 8, 2), (5, 8, 3), (7, 12, 4), (9, 5, 5), (16, 10, 6), (24, 42, 7)]
    {
        let n = count * size;
        let mut name: Vec<u32> = (0..n).collect();
        RandomStream::new(seed, "names", 0).shuffle(&mut name);
        let mut edges = Vec::new();
        for c in 0..count {
            for i in 0..size {
                edges.extend(
                    (0..i).map(|j| (name[(c * size + i) as usize], name[(c * size + j) as usize])),
                );
            }
            if count > 2 || c == 0 {
                let next = (c + 1) % count * size;
                edges.push((name[(c * size) as usize], name[(next + 1) as usize]));
            }
        }
        let joints = if count > 2 { count } else { 1 };
        let t = network(n, &edges, 0);
        let rules = FloorRules { rack_units: size as u16, ..FloorRules::default() };
        let floor = floored(&t, &rules);
        assert_eq!(
            (floor.racks.len() as u32, links(&t, &floor)[2] as u32),
            (count, joints),
            "{count} of {size}"
        );
    }
}

/// Random graphs: fewer racks than in the order of their ids are not possible, and their cables are
/// shorter.
#[test]
fn random_graphs_are_laid_shorter_than_in_order() {
    for (net, units) in [
        ("jellyfish:n=60,k=4,p=2", 10),
        ("jellyfish:n=100,k=7,p=0", 9),
        ("jellyfish:n=200,k=3,p=1", 42),
        ("de_bruijn:d=2,n=8,p=1", 16),
        ("kautz:d=3,n=4,p=1", 42),
        ("xpander:d=7,lift=10,p=2", 20),
        ("dln:n=96,x=4,y=2,p=1", 12),
    ] {
        let t = built(net);
        let rules = FloorRules { rack_units: units, ..studied() };
        let floor = floored(&t, &rules);
        let (n, most) = (t.switches().len(), usize::from(units));
        assert_eq!(floor.racks.len(), n.div_ceil(most), "{net}");
        let across = (floor.racks.len() as f64).sqrt().ceil() as usize;
        let even = n.div_ceil(floor.racks.len());
        let in_order: f64 = t
            .links()
            .iter()
            .map(|l| {
                let [a, b] = [l.a.switch, l.b.switch].map(|s| s.ix() / even);
                let rows = (a / across).abs_diff(b / across);
                let columns = (a % across).abs_diff(b % across);
                if a == b { 1.0 } else { (rows + columns) as f64 + 2.0 }
            })
            .sum();
        let found = metres(&t, &floor, &rules);
        assert!(found < in_order, "{net}: {found} m, in order {in_order} m");
        assert_eq!(floored(&t, &rules), floor, "the same again");
    }
}

/// Every exchange of a switch with one in the rack of a neighbour, tried out on the finished floor:
/// none makes the cables shorter, where one between racks counts its overhead twice.
#[test]
fn no_exchange_with_the_rack_of_a_neighbour_is_an_improvement() {
    for (net, units) in [
        ("jellyfish:n=60,k=4,p=2", 10),
        ("de_bruijn:d=2,n=7,p=1", 8),
        ("kautz:d=3,n=4,p=1", 9),
        ("xpander:d=7,lift=10,p=2", 6),
    ] {
        let t = built(net);
        let rules = FloorRules { rack_units: units, ..studied() };
        let floor = floored(&t, &rules);
        let mut rack: Vec<u32> = floor.switches.iter().map(|s| s.rack).collect();
        let ends: Vec<[usize; 2]> =
            t.links().iter().map(|l| [l.a.switch.ix(), l.b.switch.ix()]).collect();
        let length = |rack: &[u32]| -> f64 {
            let cable = |&[a, b]: &[usize; 2]| match (rack[a], rack[b]) {
                (a, b) if a == b => rules.inside_m,
                (a, b) => floor.distance_m(a, b) + 2.0 * rules.overhead_m,
            };
            ends.iter().map(cable).sum()
        };
        let least = length(&rack);
        for [near, s] in ends.iter().flat_map(|&[a, b]| [[a, b], [b, a]]) {
            for other in (0..rack.len()).filter(|&o| rack[o] == rack[near]).collect::<Vec<_>>() {
                rack.swap(s, other);
                assert!(length(&rack) >= least, "{net}: {s} and {other}");
                rack.swap(s, other);
            }
        }
    }
}

/// Lengths that the search found before switches moved, with more halvings and longer annealing, on
/// a floor of rows 1 m apart.
#[test]
fn cables_are_no_longer_than_racks_of_few_cables_had_them() {
    for (net, before) in [
        ("kautz:d=4,n=4,p=2", 4324.0),
        ("de_bruijn:d=4,n=4,p=2", 3238.0),
        ("k_ary_n_tree:k=5,n=4,p=5", 6977.0),
        ("delorme:q=8,p=3", 15333.0),
        ("xpander:d=19,lift=5,p=10", 5494.0),
        ("xgft:m=10x10x10x1,w=1x10x10x1,parallel=1x1x1x10", 17025.0),
    ] {
        let t = built(net);
        let catalog = Catalog::named("products-2026").expect("it comes along");
        let shop = PriceSource::of(&catalog);
        let rules = FloorRules { row_pitch_m: Some(1.0), ..FloorRules::default() };
        let rules = rules.resolved(&t, shop).expect("valid rules");
        let floor = floored(&t, &rules);
        let list = cables(&t, &floor, &rules, shop).expect("all is on sale");
        let found = sum_m(list.iter().map(|c| c.length_m));
        assert!(found <= before, "{net}: {found} m");
    }
}

/// The length of every order of racks on their spots: the least is found.
#[test]
fn few_racks_are_placed_as_exhaustive_search_does() {
    fn least(cost: &dyn Fn(&[usize]) -> u64, order: &mut Vec<usize>, from: usize) -> u64 {
        if from == order.len() {
            return cost(order);
        }
        let mut best = u64::MAX;
        for i in from..order.len() {
            order.swap(from, i);
            best = best.min(least(cost, order, from + 1));
            order.swap(from, i);
        }
        best
    }
    let mut draw = RandomStream::new(3, "cables", 0);
    for racks in 2..=7_usize {
        for (across, pitch_m, rows_m) in [(2, 1.0, 1.0), (3, 1.0, 3.0), (7, 0.5, 2.0)] {
            let weight: Vec<u32> = (0..racks * racks).map(|_| draw.below(4) as u32).collect();
            let cables = |a: usize, b: usize| weight[a.min(b) * racks + a.max(b)];
            let mut graph = WeightedGraph {
                offsets: vec![0],
                targets: Vec::new(),
                weights: Vec::new(),
                masses: vec![1; racks],
                held: 0,
            };
            for a in 0..racks {
                for b in (0..racks).filter(|&b| b != a && cables(a, b) > 0) {
                    graph.targets.push(b as u32);
                    graph.weights.push(cables(a, b));
                }
                graph.offsets.push(graph.targets.len() as u32);
            }
            let spot = |i: usize| ((i / across) as u32, (i % across) as u32);
            let length = |spots: &[(u32, u32)]| -> u64 {
                let mut sum = 0.0;
                for a in 0..racks {
                    for b in 0..a {
                        let columns = f64::from(spots[a].1.abs_diff(spots[b].1)) * pitch_m;
                        let rows = f64::from(spots[a].0.abs_diff(spots[b].0)) * rows_m;
                        sum += f64::from(cables(a, b)) * (columns + rows);
                    }
                }
                (sum * 2.0) as u64
            };
            let rules = FloorRules { pitch_m, row_pitch_m: Some(rows_m), ..FloorRules::default() };
            let start: Vec<(u32, u32)> = (0..racks).map(spot).collect();
            let found = annealed(&graph, start, &rules, &QuietWatch).expect("not interrupted");
            let taken: BTreeSet<_> = found.iter().copied().collect();
            assert_eq!(taken, (0..racks).map(spot).collect(), "the same spots");
            let cost =
                |order: &[usize]| length(&order.iter().map(|&i| spot(i)).collect::<Vec<_>>());
            let best = least(&cost, &mut (0..racks).collect(), 0);
            assert_eq!(length(&found), best, "{racks} racks, {across} in a row");
        }
    }
}

/// Files: by group where their switches carry one, else by their links, working or not.
#[test]
fn networks_of_files_are_seated_by_group_or_by_links() {
    let edges: Vec<(u32, u32)> = (0..12).map(|i| (i, (i + 2) % 12)).collect();
    let t = network(12, &edges, 0);
    let rules = FloorRules { rack_units: 6, ..FloorRules::default() };
    let halves =
        |t: &Topology| -> Vec<u32> { floored(t, &rules).switches.iter().map(|s| s.rack).collect() };
    // two rings, of the even and of the odd switches
    let found = halves(&t);
    assert!((0..10).all(|s| found[s] == found[s + 2]) && found[0] != found[1], "{found:?}");
    let broken = t.with_failures(&[base::LinkId(3)], &[SwitchId(5)]).expect("they are there");
    assert_eq!(halves(&broken), found, "what fails is not moved");
    assert_eq!(floored(&network(0, &[], 0), &rules).racks, [], "no switch, no rack");
    let mut b = TopologyBuilder::new();
    for s in t.switches() {
        let half = u32::from(s.name.len() > 2);
        b.switch(Switch { group: half, ..s.clone() });
    }
    for l in t.links() {
        b.link_at(l.a, l.b, l.cable);
    }
    let t = b.finish(t.recipe().clone()).expect("valid");
    let floor = floored(&t, &FloorRules::default());
    assert_eq!(
        floor.racks.iter().map(|r| r.units).collect::<Vec<_>>(),
        [10, 2],
        "s0 to s9, s10 and s11"
    );
}
