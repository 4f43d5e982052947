//! Tests of numbers of paths against an enumeration of all paths and all cuts, and known graphs.

use super::bounded::BoundedPathCounter;
use super::packing::settle;
use super::tests::{built, multigraphs, network, paths_of};
use super::*;
use base::ComputationError;
use base::{Graph, QuietWatch, SwitchId};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use families::FAMILIES;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn rules(hops: Option<Vec<u32>>) -> DisjointPathParameters {
    DisjointPathParameters { hops, pairs: u64::MAX, seed: 0 }
}

fn disjoint(t: &Topology, rules: &DisjointPathParameters) -> DisjointPathCounts {
    disjoint_paths(t, rules, &QuietWatch).expect("not interrupted")
}

/// Every simple path from `s` to `t`, as the bits of its links.
fn all_paths(links: &[(u32, u32)], s: u32, t: u32) -> Vec<u32> {
    let mut found = Vec::new();
    let mut stack = vec![(s, 1_u32 << s, 0_u32)];
    while let Some((v, seen, used)) = stack.pop() {
        if v == t {
            found.push(used);
            continue;
        }
        for (l, &(a, b)) in links.iter().enumerate().filter(|(_, l)| l.0 == v || l.1 == v) {
            let w = a + b - v;
            if seen >> w & 1 == 0 {
                stack.push((w, seen | 1 << w, used | 1 << l));
            }
        }
    }
    found
}

/// The largest number of pairwise link-disjoint paths among `paths`.
fn packing(paths: &[u32], used: u32) -> u64 {
    let Some((&first, rest)) = paths.split_first() else { return 0 };
    let without = packing(rest, used);
    if first & used == 0 { without.max(1 + packing(rest, used | first)) } else { without }
}

/// The least number of links that leave a set of switches with `s` and without `t`.
fn least_cut(n: u32, links: &[(u32, u32)], s: u32, t: u32) -> u64 {
    let sets = (0..1_u32 << n).filter(|set| set >> s & 1 == 1 && set >> t & 1 == 0);
    let leaving = |set: u32| links.iter().filter(|l| (set >> l.0 ^ set >> l.1) & 1 == 1).count();
    sets.map(leaving).min().expect("there is a set") as u64
}

fn graph(n: u32, links: &[(u32, u32)]) -> Graph {
    Graph::new(n as usize, links.iter().map(|&(a, b)| Some((SwitchId(a), SwitchId(b)))))
}

fn ordered_pairs(n: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..n).flat_map(move |s| (0..n).filter(move |&t| t != s).map(move |t| (s, t)))
}

proptest! {
    #[test]
    fn almost_minimal_paths_agree_with_enumeration((n, links) in multigraphs()) {
        let mut expect = BTreeMap::new();
        for (s, t) in ordered_pairs(n) {
            let lengths: Vec<u32> =
                all_paths(&links, s, t).iter().map(|p| p.count_ones()).collect();
            let Some(&least) = lengths.iter().min() else { continue };
            let short = lengths.iter().filter(|&&l| l <= least + 1).count() as u64;
            *expect.entry(short).or_insert(0) += 1;
        }
        prop_assert_eq!(paths_of(&network(n, &links)).almost_minimal.histogram, expect);
    }

    #[test]
    fn disjoint_paths_agree_with_all_cuts((n, links) in multigraphs()) {
        let mut expect = BTreeMap::new();
        for (s, t) in ordered_pairs(n) {
            *expect.entry(least_cut(n, &links, s, t)).or_insert(0) += 1;
        }
        let found = disjoint(&network(n, &links), &rules(Some(vec![1])));
        prop_assert_eq!(found.any_length.histogram, expect);
    }

    #[test]
    fn bounded_disjoint_paths_agree_with_enumeration((n, links) in multigraphs()) {
        let graph = graph(n, &links);
        for hops in 1..6 {
            let mut room = BoundedPathCounter::new(&graph, hops);
            for (s, t) in ordered_pairs(n) {
                let near = graph.distances_from(t as usize);
                let mut short = all_paths(&links, s, t);
                short.retain(|p| p.count_ones() <= hops);
                short.truncate(22);
                let complete = short.len() < 22;
                let found = room.count(s, t, &near);
                let best = packing(&short, 0);
                prop_assert!(!complete || (found.low <= best && best <= found.high));
                prop_assert!(hops > 3 || found.low == found.high, "exact up to three hops");
                prop_assert!(!complete || hops > 3 || found.low == best, "{hops} {s} {t}");
                for work in [0, 10, 60, 300, u64::MAX] {
                    let known = settle(&graph, (s, t), hops, &near, found, work);
                    prop_assert!(found.low <= known.low && known.high <= found.high);
                    prop_assert!(!complete || (known.low <= best && best <= known.high));
                    prop_assert!(work < u64::MAX || known.low == known.high, "{hops} {s} {t}");
                }
            }
        }
    }
}

/// With girth 5, adjacent switches have only their link as a path of up to 3 hops, other pairs have
/// 7 paths.
#[test]
fn hoffman_singleton_has_seven_disjoint_paths_for_pairs_that_are_not_adjacent() {
    let found = disjoint(&built("slim_fly:q=5,p=4"), &rules(None));
    assert_eq!(found.any_length.histogram, BTreeMap::from([(7, 2450)]));
    let [two, three] = &found.bounded[..] else { panic!("the diameter and one more") };
    assert_eq!((two.hops, three.hops), (2, 3));
    assert_eq!(two.counts.histogram, BTreeMap::from([(1, 2450)]));
    assert_eq!(three.counts.histogram, BTreeMap::from([(1, 350), (7, 2100)]));
    assert!(two.exact && three.exact && !three.sampled);
}

/// Between corners of a hypercube at distance d there are d disjoint paths of d hops, and n in
/// total; the others are two hops longer.
#[test]
fn hypercube_paths_are_known() {
    let found = disjoint(&built("hyperx:shape=2x2x2x2,p=1"), &rules(Some(vec![2, 4, 6])));
    assert_eq!(found.any_length.histogram, BTreeMap::from([(4, 240)]));
    assert_eq!(found.bounded[0].counts.histogram, BTreeMap::from([(0, 80), (1, 64), (2, 96)]));
    assert_eq!(found.bounded[2].counts.histogram, BTreeMap::from([(4, 240)]));
    assert!(found.bounded[2].exact, "four links at every corner are an upper bound");
}

#[test]
fn parallel_links_are_paths_of_their_own() {
    // triple links 0-1 and 1-2, and a single link 0-2
    let t = network(3, &[(0, 1), (0, 1), (0, 1), (1, 2), (1, 2), (1, 2), (0, 2)]);
    let found = disjoint(&t, &rules(Some(vec![1, 2])));
    assert_eq!(found.any_length.histogram, BTreeMap::from([(4, 6)]));
    assert_eq!(found.bounded[0].counts.histogram, BTreeMap::from([(1, 2), (3, 4)]));
    assert_eq!(found.bounded[1].counts.histogram, BTreeMap::from([(4, 6)]));
}

#[test]
fn a_sample_is_what_its_seed_says() {
    let t = built("slim_fly:q=5,p=4");
    let sample = |seed| {
        let found = disjoint(&t, &DisjointPathParameters { hops: Some(vec![3]), pairs: 700, seed });
        found.bounded.into_iter().next().expect("one bound")
    };
    let one = sample(1);
    assert!(one.sampled && one.counts.pairs == 700);
    assert_eq!(one, sample(1));
    assert_ne!(one.counts.histogram, sample(2).counts.histogram);
    // 6/7 of the pairs have seven paths; the tolerance is five standard deviations of a
    // binomial(700, 6/7)
    assert!(one.counts.histogram[&7].abs_diff(600) < 47);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let t = network(2, &[(0, 1)]);
    let refused = |rules: &DisjointPathParameters, param: &str| {
        let error = disjoint_paths(&t, rules, &QuietWatch).expect_err("refused");
        assert!(matches!(error, ComputationError::Refused(r) if r.param == param));
    };
    refused(&rules(Some(vec![3, 0])), "hops");
    refused(&DisjointPathParameters { hops: None, pairs: 0, seed: 0 }, "pairs");
    let far = disjoint(&t, &rules(Some(vec![u32::MAX])));
    assert_eq!(far.bounded[0].counts.histogram, BTreeMap::from([(1, 2)]));
    let alone = disjoint(&network(1, &[]), &rules(None));
    assert_eq!((alone.any_length.pairs, alone.bounded.len()), (0, 0));
}

/// The same network with a recipe that promises no symmetry.
fn anonymous(t: &Topology) -> Topology {
    let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
    TopologyBuilder::from(t).finish(recipe).expect("valid")
}

#[test]
fn one_source_tells_what_all_would() {
    let mut alike = 0;
    for recipe in FAMILIES.iter().flat_map(families::FamilyEntry::examples) {
        let t = built(&recipe.to_string());
        let one = symmetry::sources(&t, &t.edge_switches()).1 > 1;
        alike += u32::from(one);
        if !one || t.switches().len() > 150 {
            continue;
        }
        assert_eq!(paths_of(&t), paths_of(&anonymous(&t)), "{recipe}");
        let hops = Some(vec![2, 3, 4]);
        let all = disjoint(&anonymous(&t), &rules(hops.clone()));
        let found = disjoint(&t, &rules(hops));
        assert_eq!(found.any_length, all.any_length, "{recipe}");
        for (found, all) in found.bounded.iter().zip(&all.bounded).take(2) {
            assert_eq!(found, all, "{recipe}");
        }
    }
    assert!(alike > 3, "some families promise it");
}

#[test]
fn a_recipe_that_does_not_fit_is_not_believed() {
    let t = built("torus:shape=4x4,p=1");
    assert_eq!(symmetry::sources(&t, &t.edge_switches()).1, 16);
    let broken = t.with_failures(&[base::LinkId(3)], &[]).expect("known");
    assert_eq!(symmetry::sources(&broken, &broken.edge_switches()).1, 1);
    let mut builder = TopologyBuilder::new();
    for i in 0..16 {
        builder.switch(Switch::new(format!("s{i}")));
    }
    builder.endpoints_on((0..16).map(SwitchId), 1);
    for link in t.links() {
        builder.link(link.a.switch, link.b.switch);
    }
    builder.link(SwitchId(0), SwitchId(10));
    let more = builder.finish(t.recipe().clone()).expect("valid");
    assert_eq!(symmetry::sources(&more, &more.edge_switches()).1, 1);
}

#[test]
fn threads_change_no_count() {
    let t = built("dragonfly:h=2,p=2");
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| (disjoint(&t, &rules(None)), paths_of(&t)))
    };
    assert_eq!(with(1), with(3));
}
