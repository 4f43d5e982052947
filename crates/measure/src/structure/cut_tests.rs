//! Tests of load, spectrum and bisection against slow, independent code and formulae.

use super::tests::{built, multigraphs, network};
use super::*;
use base::ComputationError;
use base::seed::RandomStream;
use base::{QuietWatch, SwitchId};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use proptest::prelude::*;

fn load_of(t: &Topology) -> MinimalPathChannelLoads {
    minimal_load(t, &QuietWatch).expect("not interrupted")
}

fn spectrum_of(t: &Topology) -> GraphSpectrum {
    spectrum(t, &QuietWatch).expect("not interrupted").expect("there are switches")
}

fn cut_of(t: &Topology) -> BisectionInterval {
    bisection(t, 16, 1, &QuietWatch).expect("not interrupted")
}

/// A network with these numbers of endpoints on its switches.
fn carrying(endpoints: &[u32], links: &[(u32, u32)]) -> Topology {
    let mut b = TopologyBuilder::new();
    for (i, &p) in endpoints.iter().enumerate() {
        let id = b.switch(Switch::new(format!("s{i}")));
        b.endpoints_on(std::iter::once(id), p);
    }
    for &(x, y) in links {
        b.link(SwitchId(x), SwitchId(y));
    }
    b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() })
        .expect("valid")
}

/// Load by channel from every minimal path of every pair, one by one.
fn slow_load(n: u32, links: &[(u32, u32)]) -> Vec<f64> {
    let mut load = vec![0.0; links.len() * 2];
    for s in 0..n {
        // all simple paths from s, shortest first
        let mut level = vec![(s, 1_u32 << s, Vec::new())];
        let mut found = vec![false; n as usize];
        while !level.is_empty() {
            for t in (0..n).filter(|&t| t != s && !found[t as usize]).collect::<Vec<_>>() {
                let paths: Vec<&Vec<usize>> =
                    level.iter().filter(|p| p.0 == t).map(|p| &p.2).collect();
                found[t as usize] |= !paths.is_empty();
                for &channel in paths.iter().copied().flatten() {
                    load[channel] += 1.0 / paths.len() as f64;
                }
            }
            let mut next = Vec::new();
            for (v, seen, path) in level {
                for (l, &(a, b)) in links.iter().enumerate() {
                    for (from, to, channel) in [(a, b, 2 * l), (b, a, 2 * l + 1)] {
                        if from == v && seen >> to & 1 == 0 {
                            let longer = path.iter().copied().chain([channel]).collect();
                            next.push((to, seen | 1 << to, longer));
                        }
                    }
                }
            }
            level = next;
        }
    }
    load
}

/// All eigenvalues of a symmetric matrix by Jacobi rotations, rising.
fn jacobi(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = 1.0_f64.copysign(theta) / (theta.abs() + theta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                for k in 0..n {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (c * (x - t * y), c * (t * x + y));
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * (x - t * y), c * (t * x + y));
                }
            }
        }
    }
    let mut all: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-7, "found {found}, wanted {wanted}");
}

proptest! {
    #[test]
    fn load_agrees_with_every_path((n, links) in multigraphs()) {
        let n = n.min(7);
        let links: Vec<_> = links.into_iter().filter(|l| l.0 < n && l.1 < n).collect();
        let found = load_of(&network(n, &links));
        for (l, wanted) in found.unit.by_channel.iter().zip(slow_load(n, &links)) {
            prop_assert!((l - wanted).abs() < 1e-9);
        }
        prop_assert!(found.forwarding_index_low <= found.forwarding_index_high);
    }

    #[test]
    fn eigenvalues_agree_with_jacobi((n, links) in multigraphs()) {
        let n = n as usize;
        let mut adjacency = vec![vec![0.0; n]; n];
        for &(a, b) in &links {
            adjacency[a as usize][b as usize] += 1.0;
            adjacency[b as usize][a as usize] += 1.0;
        }
        let degree = |v: usize| adjacency[v].iter().sum::<f64>();
        let laplacian = (0..n)
            .map(|i| {
                let own = |j: usize| if i == j { degree(i) } else { 0.0 };
                (0..n).map(|j| own(j) - adjacency[i][j]).collect()
            })
            .collect();
        let found = spectrum_of(&network(n as u32, &links));
        let (a, l) = (jacobi(adjacency.clone()), jacobi(laplacian));
        close(found.adjacency_largest, a[n - 1]);
        close(found.adjacency_second.expect("two switches"), a[n - 2]);
        close(found.adjacency_least, a[0]);
        close(found.algebraic_connectivity.expect("two switches"), l[1]);
        prop_assert!(found.error < 1e-6);
    }
}

#[test]
fn slim_fly_load_and_spectrum_are_the_known_ones() {
    for (q, d) in [(4, 0), (5, 1), (7, -1), (8, 0), (9, 1), (11, -1), (13, 1)] {
        let p = 3.0;
        let t = built(&format!("slim_fly:q={q},p=3"));
        let (found, q) = (load_of(&t), f64::from(q));
        let n = 2.0 * q * q;
        close(found.unit.max, 3.0 * q - 2.0);
        close(
            found.unit.mean,
            (2.0 * (n - 1.0) - (3.0 * q - f64::from(d)) / 2.0) / ((3.0 * q - f64::from(d)) / 2.0),
        );
        if d == 1 {
            close(found.unit.min, (2.0 * q + 3.0).min(3.0 * q - 2.0));
        }
        close(found.terminals.max, p * p * (3.0 * q - 2.0));
        let saturation = found.uniform_saturation.expect("there is load");
        close(saturation, (p * n - 1.0) / (p * p * (3.0 * q - 2.0)));
        let values = spectrum_of(&t);
        close(values.adjacency_second.expect("many"), (q - f64::from(d)) / 2.0);
        close(values.algebraic_connectivity.expect("many"), q);
    }
}

#[test]
fn loads_of_small_networks_are_worked_out_by_hand() {
    // a chain with 2, 0 and 3 endpoints: 6 units in each direction, switches with endpoints are 0
    // and 2
    let chain = load_of(&carrying(&[2, 0, 3], &[(0, 1), (1, 2)]));
    assert_eq!(chain.terminals.by_channel, [6.0; 4]);
    assert_eq!(chain.unit.by_channel, [1.0; 4]);
    close(chain.uniform_saturation.expect("load"), 4.0 / 6.0);
    // between two switches with three links, a third of the traffic each
    let three = load_of(&network(2, &[(0, 1), (0, 1), (0, 1)]));
    three.unit.by_channel.iter().for_each(|&l| close(l, 1.0 / 3.0));
    assert_eq!(three.unit.histogram.iter().sum::<u64>(), 6);
    // traffic is divided equally over paths, not over next hops: 0-1-4-5, 0-1-3-5 and 0-2-6-5 take
    // a third each
    let fork = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 6), (3, 5), (4, 5), (6, 5)];
    let load = load_of(&carrying(&[1, 0, 0, 0, 0, 1, 0], &fork));
    close(load.unit.by_channel[0], 2.0 / 3.0);
    close(load.unit.by_channel[2], 1.0 / 3.0);
    assert_eq!(load_of(&network(1, &[])).uniform_saturation, None);
}

#[test]
fn too_many_paths_are_refused() {
    let chain: Vec<(u32, u32)> = (0..1100).flat_map(|v| [(v, v + 1), (v, v + 1)]).collect();
    let error = minimal_load(&network(1101, &chain), &QuietWatch).expect_err("2^1100 paths");
    assert!(matches!(error, ComputationError::Refused(r) if r.why.contains("10^308")));
    assert!(minimal_load(&network(1001, &chain[..2000]), &QuietWatch).is_ok());
}

#[test]
fn spectra_of_known_graphs() {
    use std::f64::consts::PI;
    let ring: Vec<(u32, u32)> = (0..700).map(|v| (v, (v + 1) % 700)).collect();
    let found = spectrum_of(&network(700, &ring));
    close(found.adjacency_second.expect("many"), 2.0 * (2.0 * PI / 700.0).cos());
    close(found.adjacency_least, -2.0);
    let chain = spectrum_of(&network(700, &ring[..699]));
    close(chain.algebraic_connectivity.expect("many"), 2.0 - 2.0 * (PI / 700.0).cos());
    close(chain.adjacency_largest, 2.0 * (PI / 701.0).cos());
    // a torus is a product: eigenvalues add up
    let torus = spectrum_of(&built("torus:shape=12x20x16,p=1"));
    close(torus.adjacency_largest, 6.0);
    close(torus.algebraic_connectivity.expect("many"), 2.0 - 2.0 * (2.0 * PI / 20.0).cos());
    close(torus.adjacency_least, -6.0);
    let star: Vec<(u32, u32)> = (1..50).map(|v| (0, v)).collect();
    let star = spectrum_of(&network(50, &star));
    close(star.adjacency_largest, 7.0);
    close(star.adjacency_second.expect("many"), 0.0);
    close(star.algebraic_connectivity.expect("many"), 1.0);
    let apart = spectrum_of(&network(5, &[(0, 1), (2, 3), (3, 4), (4, 2)]));
    assert_eq!(apart.algebraic_connectivity, Some(0.0));
    close(apart.adjacency_second.expect("many"), 1.0);
    let alone = spectrum_of(&network(1, &[]));
    assert_eq!((alone.adjacency_second, alone.algebraic_connectivity), (None, None));
    assert_eq!(spectrum(&network(0, &[]), &QuietWatch), Ok(None));
}

/// The least difference of the sides, and the fewest links cut by any partition with that
/// difference.
fn slow_bisection(masses: &[u32], links: &[(u32, u32)]) -> (u64, u64) {
    let total: u32 = masses.iter().sum();
    let all = (0..1_u32 << masses.len()).map(|set| {
        let on = |v: u32| set >> v & 1 == 1;
        let mass: u32 =
            (0..masses.len() as u32).filter(|&v| on(v)).map(|v| masses[v as usize]).sum();
        let cut = links.iter().filter(|l| on(l.0) != on(l.1)).count() as u64;
        (u64::from(total.abs_diff(2 * mass)), cut)
    });
    all.min().expect("there is a set")
}

#[test]
fn bisections_of_small_networks_agree_with_all_partitions() {
    for case in 0..300 {
        let mut draw = RandomStream::new(case, "cases", 0);
        let n = 2 + draw.below(9) as u32;
        let kinds = case % 4 + 1;
        let mass = |_| if kinds == 1 { 1 } else { draw.below(kinds) as u32 };
        let mut masses: Vec<u32> = (0..n).map(mass).collect();
        if masses.iter().all(|&m| m == 0) {
            masses = vec![1; n as usize];
        }
        let links: Vec<(u32, u32)> = (0..draw.below(3 * u64::from(n)))
            .map(|_| {
                let a = draw.below(u64::from(n)) as u32;
                (a, (a + 1 + draw.below(u64::from(n) - 1) as u32) % n)
            })
            .collect();
        let found = cut_of(&carrying(&masses, &links));
        let (difference, cut) = slow_bisection(&masses, &links);
        assert_eq!(found.difference, difference, "case {case}");
        assert_eq!(found.high, cut, "case {case}");
        assert!(found.low <= cut, "case {case}: {found:?}");
        let crossing =
            links.iter().filter(|l| found.side[l.0 as usize] != found.side[l.1 as usize]);
        assert_eq!(crossing.count() as u64, found.high);
    }
}

#[test]
fn bisections_are_the_published_ones() {
    for q in [4, 5, 7, 8, 9, 11, 13] {
        let found = cut_of(&built(&format!("slim_fly:q={q},p=2")));
        let q = q as u64;
        let (low, high) = if q.is_multiple_of(2) {
            (q.pow(3) / 2, q.pow(3) / 2)
        } else {
            (q.pow(3).div_ceil(2), u64::midpoint(q.pow(3), q))
        };
        assert_eq!((found.low, found.high, found.difference), (low, high, 0), "q={q}");
    }
    for (net, links) in [
        ("torus:shape=8x4x6,p=1", 2 * 8 * 4 * 6 / 8),
        ("torus:shape=16,p=3", 2),
        ("hyperx:shape=2x2x2x2x2x2,p=1", 32),
        ("hyperx:shape=6x4,p=2", 4 * 24 / 4),
        ("fat_tree:k=8,levels=3", 64),
        ("fat_tree:leaves=12,spines=6,parallel=3,p=18", 108),
        ("mesh:shape=8x4,p=1", 4),
    ] {
        let found = cut_of(&built(net));
        assert_eq!(found.high, links, "{net}");
        assert!(found.low <= links && found.difference == 0, "{net}");
    }
    for exact in ["torus:shape=8x8,p=1", "hyperx:shape=6x6,p=2", "fat_tree:k=6,levels=3"] {
        let found = cut_of(&built(exact));
        assert_eq!(found.low, found.high, "{exact}");
    }
}

#[test]
fn a_bisection_needs_a_start_and_is_the_same_with_any_threads() {
    let t = built("dragonfly:h=2");
    assert!(matches!(
        bisection(&t, 0, 0, &QuietWatch),
        Err(ComputationError::Refused(r)) if r.param == "starts"
    ));
    assert!(bisection(&t, u32::MAX, 0, &QuietWatch).is_err());
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| (cut_of(&t), load_of(&t), spectrum_of(&t)))
    };
    assert_eq!(with(1), with(3));
}

/// If translations are automorphisms, one source and its translations give the same loads as all
/// sources, also with several planes.
#[test]
fn one_source_gives_the_load_where_translations_are_automorphisms() {
    let symmetric = [
        "torus:shape=5x4x2,p=2",
        "torus:shape=2x2,p=1",
        "ring:n=7",
        "hypercube:n=5,p=2",
        "folded_hypercube:n=4,p=1",
        "hyperx:shape=4x3x2,p=2",
        "complete:n=6,p=1",
        "long_hop:n=5,p=1",
        "multi_plane:planes=3,of=torus:shape=4x3,p=2",
    ];
    let other = ["kautz:d=3,n=3,p=1", "fat_tree:levels=3,k=4", "mesh:shape=4x3,p=1"];
    for net in symmetric.iter().chain(&other) {
        let t = built(net);
        let first: Vec<u32> = (0..t.switches().len() as u32)
            .filter(|&v| t.switches()[v as usize].plane == 0)
            .collect();
        let known = symmetry::steps(&t, &first).is_some();
        assert_eq!(known, symmetric.contains(net), "{net}");
        let mut wanted = vec![0.0; t.switches().len()];
        let edge = t.edge_switches();
        for &v in &edge {
            wanted[v as usize] = 1.0;
        }
        let sources: Vec<(u32, f64)> = edge.iter().map(|&v| (v, 1.0)).collect();
        let slow =
            channel_load::split_evenly(t.graph(), &sources, &wanted, &QuietWatch).expect("loads");
        let fast = channel_load::unit_load(&t, &QuietWatch).expect("loads");
        for (a, b) in slow.iter().zip(&fast) {
            assert!((a - b).abs() <= 1e-9 * a.max(1.0), "{net}: {a} and {b}");
        }
    }
}

/// With one link moved or missing, no translation is an automorphism.
#[test]
fn a_torus_with_one_link_amiss_has_no_translations() {
    let of = |links: &[(u32, u32)]| {
        let t = network(12, links);
        symmetry::steps(&t, &(0..12).collect::<Vec<_>>()).is_some()
    };
    let ring: Vec<(u32, u32)> = (0..12).map(|v| (v, (v + 1) % 12)).collect();
    assert!(of(&ring));
    assert!(!of(&ring[1..]));
    let moved: Vec<(u32, u32)> = [(0, 2)].into_iter().chain(ring[1..].iter().copied()).collect();
    assert!(!of(&moved));
}

/// The bisection of equal planes is the sum of those of each plane alone.
#[test]
fn planes_have_the_bisection_of_one_each() {
    for (one, planes) in [
        ("slim_fly:q=5,p=2", "multi_plane:planes=3,of=slim_fly:q=5,p=2"),
        ("fat_tree:levels=3,k=4", "multi_plane:planes=3,map=mirrored,of=fat_tree:levels=3,k=4"),
    ] {
        let (one, all) = (cut_of(&built(one)), cut_of(&built(planes)));
        assert_eq!([all.low, all.high], [3 * one.low, 3 * one.high]);
        assert_eq!(all.low_by_flow, 3 * one.low_by_flow);
        assert_eq!(all.low_by_spectrum, 3 * one.low_by_spectrum);
        assert_eq!(all.side[..one.side.len()], one.side[..]);
        assert_eq!(all.side[2 * one.side.len()..], one.side[..]);
    }
}
