//! Functions that the algebraic families share: checks of parameters, Cayley graphs of binary
//! words, projective planes, Paley graphs.

use super::wish::NetworkWish;
use super::{Family, MAX_P, MAX_PORTS, in_range};
use base::field::FiniteField;
use base::{Refusal, SwitchId};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use std::collections::BTreeMap;

/// The number of endpoints per switch: `p` where it is given, otherwise network radix over
/// diameter, rounded up.
///
/// # Errors
/// Refuses `p` above 4096 or above the number of ports that remain.
pub(super) fn endpoints(p: Option<u32>, network_radix: u32, diameter: u32) -> Result<u32, Refusal> {
    let most = MAX_P.min(MAX_PORTS - network_radix);
    let rule = network_radix.div_ceil(diameter.max(1)).clamp(1, most);
    in_range("p", p.unwrap_or(rule), 0, most)
}

/// Returns `value` when it is at most `most` and `good`; otherwise a refusal of `param` with the
/// nearest valid values. O(most) calls of `good`.
pub(super) fn one_of(
    param: &str,
    value: u32,
    most: u32,
    what: &str,
    good: impl Fn(u32) -> bool,
) -> Result<u32, Refusal> {
    if value <= most && good(value) {
        return Ok(value);
    }
    let below = (0..value.min(most + 1)).rev().find(|&v| good(v));
    let above = (value..=most).find(|&v| good(v));
    let near: Vec<String> = below.into_iter().chain(above).map(|v| v.to_string()).collect();
    let why = format!("{value} must be {what}, at most {most}");
    Err(Refusal::new(param, why, format!("nearest: {}", near.join(", "))))
}

/// The member with the number of endpoints per switch that `wish` implies; `None` where there is
/// none. `of` makes the member for a number of endpoints per switch.
pub(super) fn sized<F: Family>(wish: &NetworkWish, of: impl Fn(Option<u32>) -> F) -> Option<F> {
    let promise = of(Some(0)).promise().ok()?;
    wish.endpoints_of(&promise).map(|p| of(Some(p)))
}

/// For each network radix, the largest of `members`. Families whose two parameters give many
/// members of one radix, most of them far from the largest, offer only these for a wish.
pub(super) fn largest_of_each_radix<F: Family>(members: impl Iterator<Item = F>) -> Vec<F> {
    let mut best: BTreeMap<u32, (u64, F)> = BTreeMap::new();
    for member in members {
        let Ok(promise) = member.promise() else { continue };
        let found = best.get(&promise.network_radix);
        if found.is_none_or(|(switches, _)| *switches < promise.switches) {
            best.insert(promise.network_radix, (promise.switches, member));
        }
    }
    best.into_values().map(|(_, member)| member).collect()
}

/// The Cayley graph of the n-bit words: x is linked to x + c for every word c of `columns`.
///
/// The first bit of a word is the highest. Column i gives port i + 1 after the endpoints, at both
/// ends.
pub(super) fn binary_cayley(prefix: &str, n: u32, columns: &[u32], p: u32) -> TopologyBuilder {
    let mut b = TopologyBuilder::new();
    for x in 0..1_u32 << n {
        let bits: Vec<u32> = (0..n).rev().map(|i| x >> i & 1).collect();
        let name: String = bits.iter().map(u32::to_string).collect();
        b.switch(Switch::new(format!("{prefix}-{name}")).at(0, bits));
    }
    b.endpoints_on((0..1 << n).map(SwitchId), p);
    for x in 0..1_u32 << n {
        for (port, &c) in (p + 1..).zip(columns) {
            if x < x ^ c {
                let plug = |x| CablePlug { switch: SwitchId(x), port: port as u16 };
                b.link_at(plug(x), plug(x ^ c), Cable::default());
            }
        }
    }
    b
}

/// Adds the links of a star product: the graph with the links `inner` in each of `nodes` groups of
/// `order` switches, and for every link u - v of `outer` the links (u, x) - (v, f(x)).
///
/// Switch (u, x) has number u * order + x. Ports are assigned in the order in which links are
/// added.
pub(super) fn star_product(
    b: &mut TopologyBuilder,
    (nodes, order): (u32, u32),
    inner: &[(u32, u32)],
    outer: impl Iterator<Item = (u32, u32)>,
    f: impl Fn(u32) -> u32,
) {
    let id = |u: u32, x: u32| SwitchId(u * order + x);
    for u in 0..nodes {
        for &(x, y) in inner {
            b.link(id(u, x), id(u, y));
        }
    }
    for (u, v) in outer {
        for x in 0..order {
            b.link(id(u, x), id(v, f(x)));
        }
    }
}

/// The projective plane over GF(q) with the polarity of the dot product.
///
/// Points are numbered (1, y, z), then (0, 1, z), then (0, 0, 1), each in lexicographic order.
pub(super) struct ProjectivePlane {
    field: FiniteField,
}

impl ProjectivePlane {
    /// The plane of order `q`, a prime power.
    ///
    /// # Errors
    /// As [`FiniteField::new`].
    pub(super) fn new(q: u32) -> Result<Self, Refusal> {
        Ok(Self { field: FiniteField::new(q)? })
    }

    /// The number of points.
    pub(super) fn points(&self) -> u32 {
        let q = self.field.order();
        q * q + q + 1
    }

    /// The coordinates of a point; the first of them that is not 0 is 1.
    pub(super) fn at(&self, point: u32) -> [u32; 3] {
        let q = self.field.order();
        match point {
            i if i < q * q => [1, i / q, i % q],
            i if i < q * q + q => [0, 1, i - q * q],
            _ => [0, 0, 1],
        }
    }

    /// The q + 1 points orthogonal to `point`, ascending; `point` itself is among them if it is a
    /// quadric.
    pub(super) fn polar(&self, point: u32) -> Vec<u32> {
        let (f, q) = (&self.field, self.field.order());
        let over = |x: u32, y: u32| f.inverse(y).map(|i| f.sub(0, f.mul(x, i)));
        let [a, b, c] = self.at(point);
        // the third coordinate, -(a + b y) / c, where c is not 0
        let third = |y: u32| over(f.add(a, f.mul(b, y)), c);
        match (third(0), over(a, b)) {
            (Some(_), _) => {
                let finite = (0..q).filter_map(|y| Some(y * q + third(y)?));
                finite.chain(over(b, c).map(|z| q * q + z)).collect()
            }
            (None, Some(y)) => (0..q).map(|z| y * q + z).chain([q * q + q]).collect(),
            (None, None) => (q * q..=q * q + q).collect(),
        }
    }

    /// The links u - v of the polarity graph with u < v, ascending.
    pub(super) fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let above = |u: u32| self.polar(u).into_iter().filter(move |&v| v > u);
        (0..self.points()).flat_map(move |u| above(u).map(move |v| (u, v)))
    }

    /// Whether `point` is orthogonal to itself.
    pub(super) fn is_quadric(&self, point: u32) -> bool {
        self.polar(point).binary_search(&point).is_ok()
    }

    /// The cluster of every point, as in PolarFly's racks: cluster 0 has the quadrics; each other
    /// cluster has a neighbour of the first quadric with its own neighbours. O(q^2 log q).
    pub(super) fn clusters(&self) -> Vec<u32> {
        let mut cluster = vec![0; self.points() as usize];
        let quadrics: Vec<u32> = (0..self.points()).filter(|&u| self.is_quadric(u)).collect();
        let hub = quadrics[0];
        let centres = self.polar(hub).into_iter().filter(|&v| v != hub);
        for (i, centre) in (1..).zip(centres) {
            cluster[centre as usize] = i;
            for v in self.polar(centre).into_iter().filter(|&v| v != hub) {
                cluster[v as usize] = i;
            }
        }
        for u in quadrics {
            cluster[u as usize] = 0;
        }
        cluster
    }
}

/// The sizes of the polarity graph of order `q` (Erdos & Renyi 1962, Brown 1966): points, quadrics,
/// and ordered pairs of points at one hop and at two hops.
pub(super) struct PolarityGraphCounts {
    /// The number of points, q^2 + q + 1.
    pub(super) points: u64,
    /// The number of ordered pairs of neighbours, q (q + 1)^2: each of the q + 1 quadrics has q
    /// neighbours, every other point q + 1.
    pub(super) adjacent: u64,
    /// The number of quadrics, q + 1.
    pub(super) quadrics: u64,
    /// The number of all other ordered pairs of distinct points. They are two hops apart, because
    /// two points have exactly one point orthogonal to both.
    pub(super) apart: u64,
}

impl PolarityGraphCounts {
    pub(super) fn new(q: u32) -> Self {
        let q = u64::from(q);
        let points = q * q + q + 1;
        let adjacent = q * (q + 1) * (q + 1);
        Self { points, adjacent, quadrics: q + 1, apart: points * (points - 1) - adjacent }
    }
}

/// The Paley graph of order q, for q mod 4 = 1: field elements, linked when their difference is a
/// square.
pub(super) struct PaleyGraph {
    field: FiniteField,
}

impl PaleyGraph {
    /// Checks the order: it must be a prime power 4 w + 1 from 5 to `most`.
    ///
    /// # Errors
    /// Refuses `paley` when it is no such order.
    pub(super) fn order(paley: u32, most: u32) -> Result<u32, Refusal> {
        let good = |p| p % 4 == 1 && base::field::prime_power(p).is_some();
        one_of("paley", paley, most, "a prime power 4w+1", good)
    }

    /// The graph of order `q`.
    ///
    /// # Errors
    /// As [`FiniteField::new`].
    pub(super) fn new(q: u32) -> Result<Self, Refusal> {
        Ok(Self { field: FiniteField::new(q)? })
    }

    /// The (q - 1) / 2 neighbours of `x`, ascending.
    pub(super) fn neighbours(&self, x: u32) -> Vec<u32> {
        let squares = (0..(self.field.order() - 1) / 2).map(|i| self.field.power(2 * i));
        let mut all: Vec<u32> = squares.map(|s| self.field.add(x, s)).collect();
        all.sort_unstable();
        all
    }

    /// The links x - y with x < y, ascending.
    pub(super) fn links(&self) -> Vec<(u32, u32)> {
        let above = |x: u32| self.neighbours(x).into_iter().filter(move |&y| y > x);
        (0..self.field.order()).flat_map(|x| above(x).map(move |y| (x, y))).collect()
    }

    /// The product of the primitive element and `x`. As a map it takes the graph to its complement.
    pub(super) fn turned(&self, x: u32) -> u32 {
        self.field.mul(self.field.power(1), x)
    }
}

/// Functions that the tests of the families share.
#[cfg(test)]
pub(super) mod testing {
    use super::super::{Family, recipe};
    use crate::kept::broken_promises;
    use base::Refusal;
    use fabric::network::Topology;

    /// The network of a member that exists.
    pub(in super::super) fn built<F: Family>(member: &F) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// The parts of its promise that the network of an existing member breaks.
    pub(in super::super) fn broken<F: Family>(member: &F) -> Vec<String> {
        broken_promises(&member.promise().expect("a member"), &built(member))
    }

    /// The refusal of a member that does not exist; promise and build must refuse it with the same
    /// words.
    pub(in super::super) fn refused<F: Family>(member: &F) -> Refusal {
        let refusal = member.promise().expect_err("no such member");
        let Err(again) = member.build() else { panic!("built what is not promised: {refusal}") };
        assert_eq!(again, refusal);
        refusal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polars_are_the_points_of_dot_product_zero_and_clusters_are_stars() {
        for q in [2, 3, 4, 5, 7, 8, 9, 11] {
            let (plane, f) = (ProjectivePlane::new(q).expect("q"), FiniteField::new(q).expect("q"));
            let dot = |u: [u32; 3], v: [u32; 3]| {
                (0..3).map(|k| f.mul(u[k], v[k])).fold(0, |sum, x| f.add(sum, x))
            };
            for u in 0..plane.points() {
                let of = |v: &u32| dot(plane.at(u), plane.at(*v)) == 0;
                let orthogonal: Vec<u32> = (0..plane.points()).filter(of).collect();
                assert_eq!(plane.polar(u), orthogonal, "q={q} {u}");
            }
            let clusters = plane.clusters();
            let sizes: Vec<usize> =
                (0..=q).map(|c| clusters.iter().filter(|&&x| x == c).count()).collect();
            assert_eq!(sizes[0] as u32, q + 1, "q={q}: quadrics");
            if q % 2 == 1 {
                assert!(sizes[1..].iter().all(|&s| s as u32 == q), "q={q}: {sizes:?}");
            }
        }
    }

    #[test]
    fn values_beside_the_good_ones_are_refused_with_the_nearest() {
        assert_eq!(PaleyGraph::order(13, 20), Ok(13));
        assert_eq!(PaleyGraph::order(14, 20).expect_err("14").help, "nearest: 13, 17");
        assert_eq!(PaleyGraph::order(u32::MAX, 20).expect_err("far").help, "nearest: 17");
        assert_eq!(PaleyGraph::order(0, 20).expect_err("0").help, "nearest: 5");
    }
}
