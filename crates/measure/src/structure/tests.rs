//! Tests of structure against formulae and slow, independent code.

use super::*;
use base::{Graph, QuietWatch, SwitchId};
use fabric::network::parse_inline;
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use families::family;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) fn built(net: &str) -> Topology {
    let recipe = parse_inline(net).expect("well formed");
    family(&recipe.family).expect("a family").build(&recipe.params).expect("a member")
}

/// A network of `n` switches with these links and one endpoint on every switch.
pub(super) fn network(n: u32, links: &[(u32, u32)]) -> Topology {
    let mut b = TopologyBuilder::new();
    let ids: Vec<SwitchId> = (0..n).map(|i| b.switch(Switch::new(format!("s{i}")))).collect();
    b.endpoints_on(ids.into_iter(), 1);
    for &(x, y) in links {
        b.link(SwitchId(x), SwitchId(y));
    }
    b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() })
        .expect("valid")
}

fn measure(t: &Topology) -> StructureFigures {
    structure(t, &QuietWatch).expect("not interrupted")
}

pub(super) fn paths_of(t: &Topology) -> ShortPathCounts {
    short_paths(t, &QuietWatch).expect("not interrupted")
}

pub(super) fn torus(kx: u32, ky: u32) -> Topology {
    let id = |x: u32, y: u32| (x % kx) * ky + y % ky;
    let links: Vec<(u32, u32)> = (0..kx)
        .flat_map(|x| (0..ky).map(move |y| (x, y)))
        .flat_map(|(x, y)| [(id(x, y), id(x + 1, y)), (id(x, y), id(x, y + 1))])
        .collect();
    network(kx * ky, &links)
}

/// The polarity graph of PG(2, q) for prime q: points are adjacent if their scalar product is 0 mod
/// q.
fn polarity_graph(q: u32) -> Topology {
    let mut points = vec![[0, 0, 1]];
    points.extend((0..q).map(|a| [0, 1, a]));
    points.extend((0..q).flat_map(|a| (0..q).map(move |b| [1, a, b])));
    let mut links = Vec::new();
    for (i, u) in points.iter().enumerate() {
        for (j, v) in points.iter().enumerate().skip(i + 1) {
            if (0..3).map(|c| u[c] * v[c]).sum::<u32>() % q == 0 {
                links.push((i as u32, j as u32));
            }
        }
    }
    network(points.len() as u32, &links)
}

#[test]
fn slim_fly_girths_are_the_published_ones() {
    let table = [(4, 4), (5, 5)].into_iter();
    let threes = [7, 8, 9, 11, 13, 16, 17, 19, 23, 25].map(|q| (q, 3));
    for (q, girth) in table.chain(threes) {
        let s = measure(&built(&format!("slim_fly:q={q},p=1")));
        assert_eq!(s.girth, Some(girth), "q={q}");
    }
}

#[test]
fn slim_fly_structure_is_its_formula() {
    for (q, d) in [(4_u64, 0_i64), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1), (16, 0)] {
        let s = measure(&built(&format!("slim_fly:q={q},p=3")));
        let (n, k) = (2 * q * q, ((3 * q as i64 - d) / 2) as u64);
        assert_eq!((s.switches, s.links, u64::from(s.network_radix)), (n, n * k / 2, k));
        assert_eq!((s.endpoints, s.terminals, s.concentration), (3 * n, 3 * n, 3));
        assert_eq!((s.radix, s.planes), (k as u32 + 3, 1));
        assert_eq!((s.diameter, s.diameter_all_switches, s.unreachable), (2, 2, 0));
        assert_eq!(s.histogram, [0, n * k, n * (n - 1 - k)]);
        assert_eq!(s.mean_distance, (n * (2 * (n - 1) - k), n * (n - 1)));
        assert_eq!(s.mean_distance_all_switches, s.mean_distance);
        assert_eq!(s.moore_bound, Some(u128::from(1 + k * k)));
        let fraction = n as f64 / (1 + k * k) as f64;
        assert!((s.moore_fraction.expect("connected") - fraction).abs() < 1e-15);
    }
}

#[test]
fn hoffman_singleton_meets_the_moore_bound_with_one_path_a_pair() {
    let t = built("slim_fly:q=5,p=4");
    let s = measure(&t);
    assert_eq!((s.moore_bound, s.moore_fraction), (Some(50), Some(1.0)));
    let paths = paths_of(&t).minimal;
    assert_eq!((paths.pairs, paths.min, paths.max), (50 * 49, 1, 1));
}

/// For q = 1 mod 4, X and X' partition the nonzero elements. So every pair has one minimal path,
/// except pairs within a column that are not adjacent; these have (q - 1) / 4.
#[test]
fn slim_fly_path_counts_are_their_formula() {
    for q in [9_u64, 13, 17, 25] {
        let t = built(&format!("slim_fly:q={q},p=1"));
        let paths = paths_of(&t).minimal;
        let n = 2 * q * q;
        let in_column = q * q * (q - 1);
        let expect = [(1, n * (n - 1) - in_column), ((q - 1) / 4, in_column)];
        assert_eq!(paths.histogram, expect.into_iter().collect(), "q={q}");
    }
}

#[test]
fn polarity_graphs_have_unique_shortest_paths() {
    for q in [3_u32, 5, 7, 11] {
        let t = polarity_graph(q);
        let s = measure(&t);
        let n = u64::from(q * q + q + 1);
        assert_eq!((s.switches, s.links), (n, u64::from(q * (q + 1) * (q + 1) / 2)));
        assert_eq!((s.network_radix, s.diameter, s.girth), (q + 1, 2, Some(3)));
        // there would be n (q+1) ordered adjacent pairs, but q+1 points, the quadrics, are adjacent
        // to themselves
        let near = n * u64::from(q + 1) - u64::from(q + 1);
        assert_eq!(s.histogram, [0, near, n * (n - 1) - near]);
        let paths = paths_of(&t).minimal;
        assert_eq!((paths.min, paths.max), (1, 1));
    }
}

#[test]
fn torus_paths_are_binomials() {
    let (kx, ky) = (7_u32, 5_u32);
    let t = torus(kx, ky);
    let s = measure(&t);
    assert_eq!((s.diameter, s.girth, s.links), (3 + 2, Some(4), 70));
    // mean over all ordered pairs, including equal ones: (k^2 - 1) / 4k in each dimension
    let n = u64::from(kx * ky);
    assert_eq!(s.mean_distance.0 * 35, n * n * (12 * 5 + 6 * 7));
    let binomial = |n: u64, k: u64| (1..=k).fold(1, |b, i| b * (n - k + i) / i);
    let mut expect = BTreeMap::new();
    for dx in 0..kx {
        for dy in 0..ky {
            let (x, y) = (u64::from(dx.min(kx - dx)), u64::from(dy.min(ky - dy)));
            if x + y > 0 {
                *expect.entry(binomial(x + y, x)).or_insert(0) += n;
            }
        }
    }
    assert_eq!(paths_of(&t).minimal.histogram, expect);
    assert_eq!(measure(&torus(3, 9)).girth, Some(3));
}

#[test]
fn moore_bounds_are_the_known_ones() {
    for ((degree, diameter), bound) in [
        ((2, 6), 13),
        ((3, 2), 10),
        ((7, 2), 50),
        ((57, 2), 3250),
        ((3, 10), 3070),
        ((1, 1), 2),
        ((0, 4), 1),
        ((9, 0), 1),
    ] {
        assert_eq!(moore_bound(degree, diameter), bound, "({degree}, {diameter})");
    }
    for (k, d) in [(3_u128, 10), (20, 10), (96, 5)] {
        let closed_form = 1 + k * ((k - 1).pow(d) - 1) / (k - 2);
        assert_eq!(moore_bound(k as u32, d), closed_form, "({k}, {d})");
    }
    assert_eq!(moore_bound(1000, 60), u128::MAX);
    assert_eq!(moore_bound(3, u32::MAX), u128::MAX);
}

#[test]
fn long_cycles_and_forests_are_quick() {
    let n = 50_000;
    let mut links: Vec<(u32, u32)> = (0..n - 1).map(|v| (v, v + 1)).collect();
    assert_eq!(measure_girth(n, &links), None);
    links.push((n - 1, 0));
    assert_eq!(measure_girth(n, &links), Some(n));
    links.push((10, 20_000));
    assert_eq!(measure_girth(n, &links), Some(19_991));
    links.push((7, 8));
    assert_eq!(measure_girth(n, &links), Some(2));
}

fn measure_girth(n: u32, links: &[(u32, u32)]) -> Option<u32> {
    girth(&graph(n, links), &QuietWatch).expect("not interrupted")
}

fn graph(n: u32, links: &[(u32, u32)]) -> Graph {
    Graph::new(n as usize, links.iter().map(|&(a, b)| Some((SwitchId(a), SwitchId(b)))))
}

#[test]
fn planes_are_measured_apart() {
    let ring: Vec<(u32, u32)> = (0..6).map(|v| (v, (v + 1) % 6)).collect();
    let mut b = TopologyBuilder::new();
    for plane in 0..2_u16 {
        for i in 0..6 {
            b.switch(Switch { plane, ..Switch::new(format!("s{plane}-{i}")) });
        }
    }
    for &(x, y) in &ring {
        b.link(SwitchId(x), SwitchId(y));
        b.link(SwitchId(x + 6), SwitchId(y + 6));
    }
    for i in 0..6 {
        let e = b.endpoint(format!("h{i}"), None);
        b.attach(e, SwitchId(i), 0, fabric::network::Cable::default());
        b.attach(e, SwitchId(11 - i), 0, fabric::network::Cable::default());
    }
    let t = b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() });
    let s = measure(&t.expect("valid"));
    assert_eq!((s.planes, s.switches, s.endpoints, s.terminals), (2, 12, 6, 12));
    assert_eq!((s.diameter, s.unreachable, s.girth), (3, 0, Some(6)));
    assert_eq!(s.histogram, [0, 24, 24, 12]);
    assert_eq!(s.moore_fraction, Some(6.0 / 7.0), "one plane against the bound 1 + 2 d");
}

#[test]
fn what_is_down_is_not_counted() {
    let t = network(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]);
    let down = t.with_failures(&[base::LinkId(5)], &[SwitchId(3)]).expect("known ids");
    let s = measure(&down);
    assert_eq!((s.switches, s.links, s.endpoints, s.terminals), (4, 3, 4, 4));
    assert_eq!((s.diameter, s.unreachable, s.girth), (3, 0, None), "the path 4 0 1 2");
    let cut = t.with_failures(&[], &[SwitchId(0), SwitchId(2)]).expect("known ids");
    let s = measure(&cut);
    assert_eq!((s.unreachable, s.moore_bound, s.moore_fraction), (4, None, None));
    let nothing = measure(&network(0, &[]));
    assert_eq!((nothing.mean_distance_hops(), nothing.girth), (None, None));
}

#[test]
fn the_second_sweep_measures_switches_without_endpoints() {
    // a star of three leaves with endpoints around a spine without any; behind the spine, another
    // switch without endpoints
    let mut b = TopologyBuilder::new();
    for i in 0..5 {
        b.switch(Switch::new(format!("s{i}")));
    }
    b.endpoints_on((0..3).map(SwitchId), 2);
    for leaf in 0..3 {
        b.link(SwitchId(leaf), SwitchId(3));
    }
    b.link(SwitchId(3), SwitchId(4));
    let t = b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() });
    let s = measure(&t.expect("valid"));
    assert_eq!((s.diameter, s.mean_distance, s.diameter_all_switches), (2, (12, 6), 2));
    assert_eq!(s.mean_distance_all_switches, (4 * 2 + 12 * 2, 20));
}

/// The girth, computed by removing every link in turn and searching for another path between its
/// ends.
fn slow_girth(n: u32, links: &[(u32, u32)]) -> Option<u32> {
    (0..links.len())
        .filter_map(|l| {
            let others = links
                .iter()
                .enumerate()
                .map(|(i, &(a, b))| (i != l).then_some((SwitchId(a), SwitchId(b))));
            let round = Graph::new(n as usize, others).distances_from(links[l].0 as usize);
            Some(round[links[l].1 as usize]).filter(|&d| d < u32::MAX).map(|d| d + 1)
        })
        .min()
}

/// Path counts from powers of the adjacency matrix: the first nonzero entry of each pair counts.
fn slow_path_counts(n: usize, links: &[(u32, u32)]) -> BTreeMap<u64, u64> {
    let mut adjacency = vec![vec![0_u64; n]; n];
    for &(a, b) in links {
        adjacency[a as usize][b as usize] += 1;
        adjacency[b as usize][a as usize] += 1;
    }
    let mut counts = BTreeMap::new();
    let mut found = vec![vec![false; n]; n];
    let mut power = adjacency.clone();
    for _ in 1..n {
        for (i, row) in power.iter().enumerate() {
            for (j, &walks) in row.iter().enumerate() {
                if i != j && walks > 0 && !found[i][j] {
                    found[i][j] = true;
                    *counts.entry(walks).or_insert(0) += 1;
                }
            }
        }
        power = (0..n)
            .map(|i| {
                let entry = |j| (0..n).map(|m| power[i][m] * adjacency[m][j]).sum();
                (0..n).map(entry).collect()
            })
            .collect();
    }
    counts
}

pub(super) fn multigraphs() -> impl Strategy<Value = (u32, Vec<(u32, u32)>)> {
    (2_u32..11).prop_flat_map(|n| {
        let link = (0..n, 1..n).prop_map(move |(a, step)| (a, (a + step) % n));
        (Just(n), prop::collection::vec(link, 0..14))
    })
}

proptest! {
    #[test]
    fn girth_agrees_with_search_without_each_link((n, links) in multigraphs()) {
        prop_assert_eq!(measure_girth(n, &links), slow_girth(n, &links));
    }

    #[test]
    fn path_counts_agree_with_matrix_powers((n, links) in multigraphs()) {
        let counts = paths_of(&network(n, &links)).minimal;
        prop_assert_eq!(counts.histogram, slow_path_counts(n as usize, &links));
    }
}

#[test]
fn girth_of_sparse_graphs_agrees_with_search_without_each_link() {
    // a ring of 60 with random chords has girths from 3 to 20; small graphs seldom have large
    // girths
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let mut draw = base::seed::RandomStream::new(seed, "chords", 0);
        let mut links: Vec<(u32, u32)> = (0..60).map(|v| (v, (v + 1) % 60)).collect();
        for _ in 0..=seed % 7 {
            let (a, b) = (draw.below(60) as u32, draw.below(59) as u32);
            links.push((a, (a + 1 + b) % 60));
        }
        let girth = measure_girth(60, &links);
        assert_eq!(girth, slow_girth(60, &links), "seed {seed}");
        seen.insert(girth);
    }
    assert!(seen.len() > 8, "the graphs differ: {seen:?}");
}

#[test]
fn threads_do_not_change_the_result() {
    let t = built("slim_fly:q=17,p=1");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| (measure(&t), paths_of(&t).minimal))
    };
    assert_eq!(with(1), with(3));
}

/// Words are alike under exchanges of letters, and these are found; so are switches of tori of
/// equal sides under steps along all of them. Without that, where a link has failed, and where only
/// some switches are asked for, distances are those of a search from every switch.
#[test]
fn distances_by_orbits_are_those_of_all_switches() {
    let names = [
        ("de_bruijn:d=3,n=4", true),
        ("de_bruijn:d=2,n=7", true),
        ("kautz:d=3,n=4", true),
        ("torus:shape=4x4x4,p=1", true),
        ("torus:shape=4x5x3,p=1", false),
        ("hyperx:shape=4x4,p=1", true),
        ("slim_fly:q=5", false),
        ("jellyfish:n=30,k=4", false),
    ];
    for (name, found) in names {
        let t = built(name);
        let all: Vec<u32> = (0..t.switches().len() as u32).collect();
        let orbits = symmetry::orbits(&t, &all);
        assert_eq!(orbits.is_some(), found, "{name}");
        let members: u64 = orbits.iter().flatten().map(|orbit| orbit.1).sum();
        assert!(!found || members == all.len() as u64, "{name}");
        let failed = t.with_failures(&[base::LinkId(0)], &[]).expect("a known id");
        assert!(!found || symmetry::orbits(&failed, &all) != orbits, "{name}");
        for t in [&t, &failed] {
            for set in [&all[..], &all[1..]] {
                let got = by_plane(t, set, &QuietWatch).expect("not interrupted");
                let wanted = distances_among(t.graph(), set, &QuietWatch);
                assert_eq!(got, wanted.expect("not interrupted"), "{name}");
            }
        }
    }
}
