//! Random regular graphs, and bounds of the distances in any regular graph.

use super::wish::NetworkWish;
use super::{ExactFraction, PromisedValue};
use base::moore::moore_tree;
use base::seed::RandomStream;
use base::{Graph, SwitchId};

/// The ends of every link, as numbers of switches.
pub(super) type LinkEnds = Vec<[u32; 2]>;

/// Whether `links` connect all of the `n` switches. O(n + links).
pub(super) fn connected(n: u32, links: &[[u32; 2]]) -> bool {
    let ends = links.iter().map(|&[a, b]| Some((SwitchId(a), SwitchId(b))));
    Graph::new(n as usize, ends).components().1 == 1
}

/// Sorts links: each begins at its switch of lower number, and the links are in lexicographic
/// order.
pub(super) fn in_order(mut links: LinkEnds) -> LinkEnds {
    for ends in &mut links {
        ends.sort_unstable();
    }
    links.sort_unstable();
    links
}

/// A multigraph of `n` switches that is being turned into a simple graph in which each switch has
/// `k` links.
struct RandomRegularGraphBuilder {
    k: usize,
    links: LinkEnds,
    /// The neighbours, k per switch.
    rows: Vec<u32>,
}

impl RandomRegularGraphBuilder {
    /// Draws by the pairing model: the n k ends of links are paired at random, even to loops and
    /// repeats.
    fn drawn(n: u32, k: u32, draw: &mut RandomStream) -> Self {
        let mut ends: Vec<u32> = (0..n).flat_map(|v| std::iter::repeat_n(v, k as usize)).collect();
        draw.shuffle(&mut ends);
        let links: LinkEnds = ends.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
        let k = k as usize;
        let mut rows = vec![0; n as usize * k];
        let mut filled = vec![0; n as usize];
        for &[a, b] in &links {
            for (from, to) in [(a as usize, b), (b as usize, a)] {
                rows[from * k + filled[from]] = to;
                filled[from] += 1;
            }
        }
        Self { k, links, rows }
    }

    fn row(&mut self, v: u32) -> &mut [u32] {
        let first = v as usize * self.k;
        &mut self.rows[first..first + self.k]
    }

    fn is_bad(&mut self, link: usize) -> bool {
        let [a, b] = self.links[link];
        a == b || self.row(a).iter().filter(|&&w| w == b).count() > 1
    }

    /// Draws a link c-d and an order of its ends, and replaces links a-b and c-d by a-c and b-d
    /// where neither of these is a loop or exists already. O(k).
    fn switch(&mut self, link: usize, draw: &mut RandomStream) {
        let choice = draw.below(2 * self.links.len() as u64) as usize;
        let (other, turned) = (choice / 2, choice % 2);
        let ([a, b], [c, d]) = (self.links[link], self.links[other]);
        let [c, d] = if turned == 1 { [d, c] } else { [c, d] };
        let loops = a == c || b == d || (a == b && c == d);
        if loops || self.row(a).contains(&c) || self.row(b).contains(&d) {
            return;
        }
        for (at, old, new) in [(a, b, c), (b, a, d), (c, d, a), (d, c, b)] {
            let place = self.row(at).iter_mut().find(|w| **w == old);
            *place.expect("rows hold both ends of every link") = new;
        }
        (self.links[link], self.links[other]) = ([a, c], [b, d]);
    }

    /// Removes loops and repeated links by switchings; returns false when that takes too long.
    fn repair(&mut self, draw: &mut RandomStream) -> bool {
        let mut left = 64 * self.links.len() + 1024;
        for link in 0..self.links.len() {
            while self.is_bad(link) {
                if left == 0 {
                    return false;
                }
                left -= 1;
                self.switch(link, draw);
            }
        }
        true
    }
}

/// A random simple graph of `n` switches with `k` links each; it may be disconnected.
///
/// It is drawn by the pairing model, and loops and repeats are removed by switchings. Then four
/// random switchings per link follow, under which all such graphs are equally likely in the long
/// run. For k above n/2 the graph is the complement of one with n - 1 - k links. O(n k^2). `n k`
/// must be even and `k < n`.
pub(super) fn regular(n: u32, k: u32, draw: &mut RandomStream) -> LinkEnds {
    if 2 * u64::from(k) > u64::from(n) - 1 {
        let mut linked = vec![false; n as usize * n as usize];
        for [a, b] in regular(n, n - 1 - k, draw) {
            linked[a as usize * n as usize + b as usize] = true;
            linked[b as usize * n as usize + a as usize] = true;
        }
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| [a, b]));
        return pairs.filter(|[a, b]| !linked[(a * n + b) as usize]).collect();
    }
    loop {
        let mut pairing = RandomRegularGraphBuilder::drawn(n, k, draw);
        if pairing.repair(draw) {
            for _ in 0..4 * pairing.links.len() {
                let link = draw.below(pairing.links.len() as u64) as usize;
                pairing.switch(link, draw);
            }
            return pairing.links;
        }
    }
}

/// The number of endpoints per switch of a random network by the rule for direct networks: network
/// radix over the least possible diameter, rounded up.
pub(super) fn concentration(n: u64, k: u32) -> u32 {
    k.div_ceil(moore_tree(n, k.into(), k.into()).0.max(1)).max(1)
}

/// Bounds of the diameter and the mean distance of a connected graph of `n` switches with `k` links
/// to others each, where the diameter is known to be at most `known`.
///
/// The lower bounds are those of Moore's tree. For the upper bounds: switches 0, 3, 6, ... of a
/// longest shortest path have no neighbour in common, so that (k + 1) (d / 3 + 1) <= n; and the
/// mean is at most n / (k + 1) + 2 (Kouider & Winkler, "Mean distance and minimum degree", J. Graph
/// Theory 1997). O(log n).
pub(super) fn distances(
    n: u64,
    k: u32,
    known: u32,
) -> (PromisedValue<u32>, PromisedValue<ExactFraction>) {
    let (least, sum) = moore_tree(n, k.into(), k.into());
    let (others, degree) = ((n - 1).max(1), u64::from(k));
    let low = ExactFraction { num: sum, den: others };
    if k <= 2 || n == degree + 1 {
        return (PromisedValue::Exact(least), PromisedValue::Exact(low));
    }
    let most = (3 * (n / (degree + 1)) - 1).min(known.into());
    // k switches are one hop away, and all others at most as far as the diameter
    let by_diameter = ExactFraction { num: degree + most * (n - 1 - degree), den: others };
    let by_degree = ExactFraction { num: n + 2 * (degree + 1), den: degree + 1 };
    let smaller = |x: ExactFraction, y: ExactFraction| {
        u128::from(x.num) * u128::from(y.den) < u128::from(y.num) * u128::from(x.den)
    };
    let high = if smaller(by_degree, by_diameter) { by_degree } else { by_diameter };
    let diameter = match most as u32 {
        most if most == least => PromisedValue::Exact(most),
        most => PromisedValue::Between(least, most),
    };
    (
        diameter,
        if smaller(low, high) {
            PromisedValue::Between(low, high)
        } else {
            PromisedValue::Exact(low)
        },
    )
}

/// Pairs of numbers of switches and of endpoints per switch, for networks of `k` links per switch
/// that exist with any number of switches: those just below and above the wish; none where the wish
/// names no number of endpoints.
pub(super) fn sizes(wish: &NetworkWish, k: u32) -> Vec<(u64, u32)> {
    let Some(endpoints) = wish.endpoints else { return Vec::new() };
    // the number of endpoints per switch depends on the number of switches and vice versa, so every
    // least diameter is tried
    let of = |diameter: u32| {
        let rule = f64::from(k) / f64::from(diameter);
        let p = |n: u64| {
            let (_, sum) = moore_tree(n, k.into(), k.into());
            let mean = ExactFraction { num: sum, den: (n - 1).max(1) };
            wish.per_switch(rule, NetworkWish::ideal(k, n, mean))
        };
        let mut n = endpoints.max(2);
        for _ in 0..6 {
            n = (endpoints / u64::from(p(n))).max(2);
        }
        let sizes = [n - 1, n, n + 1, n + 2].map(|n| (n, p(n.max(2))));
        let fits = move |&(n, _): &(u64, u32)| {
            n > u64::from(k) && moore_tree(n, k.into(), k.into()).0 == diameter
        };
        sizes.into_iter().filter(fits)
    };
    (1..=24).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn graphs_are_simple_and_regular(
            n in 1_u32..30, part in 0_u32..1000, seed in any::<u64>(),
        ) {
            let k = part % n;
            prop_assume!(n * k % 2 == 0);
            let links = in_order(regular(n, k, &mut RandomStream::new(seed, "test", 0)));
            let mut degrees = vec![0; n as usize];
            for &[a, b] in &links {
                prop_assert!(a < b);
                degrees[a as usize] += 1;
                degrees[b as usize] += 1;
            }
            prop_assert!(degrees.iter().all(|&degree| degree == k));
            prop_assert!(links.windows(2).all(|w| w[0] != w[1]));
            if k > 1 && connected(n, &links) {
                let ends = links.iter().map(|&[a, b]| Some((SwitchId(a), SwitchId(b))));
                let graph = Graph::new(n as usize, ends);
                let hops = (0..n as usize).flat_map(|v| graph.distances_from(v));
                let hops: Vec<u64> = hops.map(u64::from).collect();
                let (diameter, mean) = distances(n.into(), k, u32::MAX);
                let longest = *hops.iter().max().expect("a switch") as u32;
                let sum: u64 = hops.iter().sum();
                let order = |r: ExactFraction| (sum * r.den).cmp(&(r.num * u64::from(n * (n - 1))));
                match diameter {
                    PromisedValue::Exact(d) => prop_assert_eq!(d, longest),
                    PromisedValue::Between(low, high) => {
                        prop_assert!((low..=high).contains(&longest));
                    }
                }
                match mean {
                    PromisedValue::Exact(r) => prop_assert!(order(r).is_eq()),
                    PromisedValue::Between(x, y) => {
                        prop_assert!(order(x).is_ge() && order(y).is_le());
                    }
                }
            }
        }
    }

    fn triangles(n: u32, links: &[[u32; 2]]) -> u32 {
        let linked = |a: u32, b: u32| links.contains(&[a.min(b), a.max(b)]);
        let third = |&[a, b]: &[u32; 2]| (0..n).filter(|&c| linked(a, c) && linked(b, c)).count();
        links.iter().map(third).sum::<usize>() as u32 / 3
    }

    /// Finds every simple graph of `n` switches with `k` links each, by exhaustive search.
    fn every(n: u32, links: &mut LinkEnds, left: &mut [u32], found: &mut Vec<LinkEnds>) {
        let Some(a) = left.iter().position(|&l| l > 0) else {
            found.push(links.clone());
            return;
        };
        let a = a as u32;
        let after = links.last().filter(|l| l[0] == a).map_or(a + 1, |l| l[1] + 1);
        for b in (after..n).filter(|&b| b > a) {
            if left[b as usize] > 0 {
                left[a as usize] -= 1;
                left[b as usize] -= 1;
                links.push([a, b]);
                every(n, links, left, found);
                links.pop();
                left[a as usize] += 1;
                left[b as usize] += 1;
            }
        }
    }

    /// Compares how often graphs are drawn, by their number of triangles, with the list of all
    /// graphs: 70 of 6 switches with 2 links each (with 3, the complements), 19,355 of 8 with 3
    /// (Read 1960).
    #[test]
    fn every_graph_is_as_likely_as_any_other() {
        for (n, k, all) in [(6, 2, 70), (6, 3, 70), (8, 3, 19_355)] {
            let mut found = Vec::new();
            every(n, &mut Vec::new(), &mut vec![k; n as usize], &mut found);
            assert_eq!(found.len(), all);
            let mut expected = BTreeMap::new();
            for links in &found {
                *expected.entry(triangles(n, links)).or_insert(0_u32) += 1;
            }
            let draws = 4000;
            let mut drawn = BTreeMap::new();
            for seed in 0..draws {
                let links = in_order(regular(n, k, &mut RandomStream::new(seed, "test", 1)));
                *drawn.entry(triangles(n, &links)).or_insert(0_u32) += 1;
            }
            assert!(drawn.keys().all(|t| expected.contains_key(t)));
            for (triangles, graphs) in expected {
                let share = f64::from(graphs) / all as f64;
                let mean = share * draws as f64;
                let deviation = (mean * (1.0 - share)).sqrt();
                let count = f64::from(drawn.get(&triangles).copied().unwrap_or(0));
                let off = (count - mean).abs();
                assert!(off < 5.0 * deviation + 1.0, "{n} {k} {triangles}: {count} of {mean}");
            }
        }
    }
}
