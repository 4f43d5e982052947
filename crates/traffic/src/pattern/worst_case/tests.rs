//! Tests of the worst case, against definitions and against all permutations one by one.

use super::*;
use crate::destinations::PacketDestinations;
use base::{ChannelId, LinkId, QuietWatch};
use fabric::network::{Switch, TopologyBuilder};
use serde_json::json;

fn network(family: &str, params: &serde_json::Value) -> Topology {
    let given = params.as_object().expect("a table");
    families::family(family).and_then(|f| f.build(given)).expect("a network")
}

fn worst(t: &Topology) -> PacketDestinations {
    PacketDestinations::named(t, "worst_case", 1, &QuietWatch).expect("a permutation")
}

fn shifted(n: u32, by: u32) -> Vec<u32> {
    (0..n).map(|e| (e + by) % n).collect()
}

#[test]
fn groups_pods_and_leaves_send_to_the_next() {
    for (family, params, n, by) in [
        ("dragonfly", json!({ "h": 2 }), 72, 8), // 9 groups of 4 switches of 2
        ("megafly", json!({ "leaves": 3 }), 90, 9), // 10 groups of 3 leaves of 3
        ("fat_tree", json!({ "leaves": 4, "spines": 2, "p": 3 }), 12, 3),
        ("k_ary_n_tree", json!({ "k": 3, "n": 2 }), 9, 3),
        ("k_ary_n_tree", json!({ "k": 3, "n": 3 }), 27, 9),
        ("multi_plane", json!({ "planes": 2, "of": "dragonfly:h=2" }), 72, 8),
    ] {
        let all = worst(&network(family, &params));
        assert_eq!(all.fixed(), Some(&shifted(n, by)[..]), "{family}");
        assert_eq!((all.active(), all.largest_load()), (n, None));
    }
}

/// A direct implementation of the pairing rule, with sets of neighbours.
fn by_the_rule(t: &Topology) -> Vec<Option<usize>> {
    let r = t.switches().len();
    let near: Vec<std::collections::BTreeSet<usize>> =
        (0..r).map(|v| t.graph().neighbours(v).iter().map(|&w| w as usize).collect()).collect();
    let local = |a: usize, b: usize| t.switches()[a].group == t.switches()[b].group;
    let mut pair: Vec<Option<usize>> = vec![None; r];
    'next: for a in 0..r {
        if pair[a].is_some() {
            continue;
        }
        for b in (0..r).map(|i| (a + r / 2 + i) % r) {
            if b == a || pair[b].is_some() {
                continue;
            }
            for kind in [(true, false), (false, true), (false, false), (true, true)] {
                for &m in near[a].intersection(&near[b]) {
                    if pair[m].is_some() || (local(a, m), local(m, b)) != kind {
                        continue;
                    }
                    for c in (0..r).map(|i| (m + r / 2 + i) % r) {
                        let other = ![a, b, m].contains(&c) && pair[c].is_none();
                        let mut both = near[m].intersection(&near[c]);
                        if other && both.any(|&x| x == a || x == b) {
                            (pair[a], pair[b]) = (Some(b), Some(a));
                            (pair[m], pair[c]) = (Some(c), Some(m));
                            continue 'next;
                        }
                    }
                }
            }
        }
    }
    pair
}

#[test]
fn slim_fly_is_paired_by_the_published_rule() {
    for (q, p) in [(3, 2), (4, 2), (5, 4), (7, 1), (9, 1)] {
        let t = network("slim_fly", &json!({ "q": q, "p": p }));
        let pair = by_the_rule(&t);
        assert!(pair.iter().flatten().count() * 10 >= pair.len() * 8, "{q}");
        let all = worst(&t);
        for e in 0..t.endpoints().len() as u32 {
            let partner = pair[(e / p) as usize];
            assert_eq!(all.is_active(e), partner.is_some());
            let to = partner.map_or(e, |b| b as u32 * p + e % p);
            assert_eq!(all.fixed().expect("a table")[e as usize], to, "q {q}, endpoint {e}");
        }
    }
}

/// Adds to `sum` the load of each channel if `amount` is sent from switch `from` and is split
/// evenly, at every switch, over the links that lead nearer to `to`; it follows each link
/// separately.
fn loads(t: &Topology, from: usize, to: usize, amount: f64, sum: &mut Vec<f64>) {
    if from == to {
        return;
    }
    let far = |v: usize| t.graph().distances_from(v)[to];
    let ends = |c: usize| {
        let channel = ChannelId(c as u32);
        (t.tail(channel).switch.ix(), t.head(channel).switch.ix())
    };
    let channels: Vec<usize> = (0..2 * t.links().len())
        .filter(|&c| ends(c).0 == from && far(ends(c).1) < far(from))
        .collect();
    for &c in &channels {
        sum[c] += amount / channels.len() as f64;
        loads(t, ends(c).1, to, amount / channels.len() as f64, sum);
    }
}

/// The largest load that a permutation of the rows from `row` on puts on channel `c`.
fn best(put: &[Vec<f64>], n: usize, row: usize, used: u32, c: usize) -> f64 {
    let free = (0..n).filter(|j| used >> j & 1 == 0);
    let over = free.map(|j| put[row * n + j][c] + best(put, n, row + 1, used | 1 << j, c));
    if row == n { 0.0 } else { over.fold(0.0, f64::max) }
}

/// The largest load of a channel over all permutations.
fn brute(t: &Topology) -> f64 {
    let n = t.endpoints().len();
    let home: Vec<usize> = t.terminals().iter().map(|x| x.plug.switch.ix()).collect();
    let channels = 2 * t.links().len();
    let put: Vec<Vec<f64>> = (0..n * n)
        .map(|i| {
            let mut sum = vec![0.0; channels];
            loads(t, home[i / n], home[i % n], 1.0, &mut sum);
            sum
        })
        .collect();
    (0..channels).map(|c| best(&put, n, 0, 0, c)).fold(0.0, f64::max)
}

/// The load of the busiest channel under a permutation.
fn busiest(t: &Topology, to: &[u32]) -> f64 {
    let home: Vec<usize> = t.terminals().iter().map(|x| x.plug.switch.ix()).collect();
    let mut sum = vec![0.0; 2 * t.links().len()];
    for (from, &to) in to.iter().enumerate() {
        loads(t, home[from], home[to as usize], 1.0, &mut sum);
    }
    sum.into_iter().fold(0.0, f64::max)
}

/// A chain of switches with these numbers of endpoints.
fn row(of: &[u32]) -> Topology {
    let mut b = TopologyBuilder::new();
    for i in 0..of.len() {
        b.switch(Switch::new(format!("s{i}")));
    }
    for (i, &p) in (0..).zip(of) {
        b.endpoints_on(std::iter::once(SwitchId(i)), p);
    }
    for i in 1..of.len() as u32 {
        b.link(SwitchId(i - 1), SwitchId(i));
    }
    let recipe =
        fabric::network::NetworkRecipe { family: "row".into(), params: serde_json::Map::new() };
    b.finish(recipe).expect("a network")
}

#[test]
fn no_permutation_loads_a_channel_more() {
    for t in [
        network("ring", &json!({ "n": 5, "p": 1 })),
        network("ring", &json!({ "n": 6, "p": 1 })),
        network("ring", &json!({ "n": 3, "p": 2 })),
        network("hypercube", &json!({ "n": 2, "p": 2 })),
        network("torus", &json!({ "shape": [3, 2], "p": 1 })),
        network("complete", &json!({ "n": 4, "p": 2 })),
        row(&[2, 1, 3]),
        row(&[3, 0, 2, 1]),
        row(&[1, 4]),
    ] {
        let all = worst(&t);
        let load = all.largest_load().expect("a load");
        assert!((load - brute(&t)).abs() < 1e-9, "{}: {load}", t.recipe());
        let to = all.fixed().expect("a table");
        assert!((busiest(&t, to) - load).abs() < 1e-9, "{}", t.recipe());
        let mut receivers: Vec<u32> = to.to_vec();
        receivers.sort_unstable();
        assert_eq!(receivers, (0..to.len() as u32).collect::<Vec<_>>());
    }
}

#[test]
fn slow_links_count_as_much_more() {
    let t = row(&[2, 2]);
    let load = worst(&t).largest_load().expect("a load");
    assert!((load - 2.0).abs() < 1e-12);
    let cut = t.with_failures(&[LinkId(0)], &[]).expect("a failure");
    assert!(PacketDestinations::named(&cut, "worst_case", 1, &QuietWatch).is_err());
    assert!(PacketDestinations::named(&row(&[4]), "worst_case", 1, &QuietWatch).is_err());
    assert!(PacketDestinations::named(&t, "worst_case:tables", 1, &QuietWatch).is_err());
    assert!(PacketDestinations::named(&t, "worst_case:x", 1, &QuietWatch).is_err());
    assert!(super::super::CommunicationPattern::parse("worst_case", 8).is_err());
}
