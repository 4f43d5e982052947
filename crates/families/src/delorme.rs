//! Delorme: the polarity graphs of the symplectic generalized quadrangles W(q), diameter 3.
//!
//! Source: Delorme, "Grands graphes de degre et diametre donnes", European Journal of Combinatorics
//! 6, 1985; coordinates and polarity as in Van Maldeghem, "Generalized Polygons", 1998, section
//! 3.4; as a network: Besta & Hoefler, SC 2014, section II-C.
//!
//! Points of the quadrangle are (), (a), (k, b) and (a, l, c), lines are [], [k], [a, l] and [k, b,
//! c], all over GF(q). (a, l, c) is on [k, b, c'] when b = a k + c and c' = a^2 k + l. Every other
//! point is on the lines with one coordinate more or less that agree with it, and () is on []. With
//! q = 2^(2e+1), t(x) = x^(2^e) and s(x) = t(x)^2 (s is the inverse of t), the polarity takes (a,
//! l, c) to [s(a), t(l), s(c)] and (k, b) to [t(k), s(b)]. Two points are linked when one is on the
//! line of the other. Points on their own line (absolute points) have one link less. Groups are the
//! points with the same first coordinate. Ports are in the order of the switches they lead to.

use super::algebra::{endpoints, one_of, sized};
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue};
use base::field::FiniteField;
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Delorme graph: diameter 3 with (q + 1) (q^2 + 1) switches of network radix q + 1.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Delorme {
    /// Order of the field: 2, 8 or 32 (an odd power of 2).
    pub q: u32,
    /// Endpoints per switch; the default is a third of the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 32;

impl Delorme {
    /// Checks the parameters and returns the endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        let good = |q: u32| q.is_power_of_two() && q.ilog2() % 2 == 1;
        one_of("q", self.q, MAX_Q, "an odd power of 2", good)?;
        endpoints(self.p, self.q + 1, 3)
    }
}

/// The points of a generalized quadrangle, numbered (), (a), (k, b), (a, l, c), each in
/// lexicographic order.
struct GeneralizedQuadrangle {
    field: FiniteField,
    /// 2^e, for q = 2^(2e+1).
    exponent: u32,
}

impl GeneralizedQuadrangle {
    fn at(&self, point: u32) -> Vec<u32> {
        let q = self.field.order();
        let (pairs, triples) = (1 + q, 1 + q + q * q);
        match point {
            0 => vec![],
            i if i < pairs => vec![i - 1],
            i if i < triples => vec![(i - pairs) / q, (i - pairs) % q],
            i => vec![(i - triples) / (q * q), (i - triples) / q % q, (i - triples) % q],
        }
    }

    fn number(&self, at: &[u32]) -> u32 {
        let q = self.field.order();
        let first = [0, 1, 1 + q, 1 + q + q * q][at.len()];
        first + at.iter().fold(0, |number, x| number * q + x)
    }

    fn t(&self, x: u32) -> u32 {
        (0..self.exponent.ilog2()).fold(x, |x, _| self.field.mul(x, x))
    }

    fn s(&self, x: u32) -> u32 {
        let x = self.t(x);
        self.field.mul(x, x)
    }

    /// The points whose lines go through `point`, ascending; `point` itself is among them if it is
    /// absolute.
    fn linked(&self, point: u32) -> Vec<u32> {
        let (f, q) = (&self.field, self.field.order());
        // the point whose line is [k], [a, l] or [k, b, c]: the polarity is its own inverse
        let of = |line: &[u32]| match *line {
            [] => self.number(&[]),
            [k] => self.number(&[self.t(k)]),
            [a, l] => self.number(&[self.s(a), self.t(l)]),
            [k, b, c] => self.number(&[self.t(k), self.s(b), self.t(c)]),
            _ => unreachable!("a line has three coordinates at most"),
        };
        let mut all: Vec<u32> = match self.at(point)[..] {
            [] => (0..q).map(|k| of(&[k])).chain([of(&[])]).collect(),
            [a] => (0..q).map(|l| of(&[a, l])).chain([of(&[])]).collect(),
            [k, b] => (0..q).map(|c| of(&[k, b, c])).chain([of(&[k])]).collect(),
            [a, l, c] => {
                let along = |k: u32| {
                    let ak = f.mul(a, k);
                    of(&[k, f.add(ak, c), f.add(f.mul(a, ak), l)])
                };
                (0..q).map(along).chain([of(&[a, l])]).collect()
            }
            _ => unreachable!("a point has three coordinates at most"),
        };
        all.sort_unstable();
        all
    }
}

impl Family for Delorme {
    const NAME: &'static str = "delorme";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        vec![Self { q: 2, p: None }, Self { q: 2, p: Some(0) }, Self { q: 8, p: Some(0) }]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let p = self.checked()?;
        let q = u64::from(self.q);
        let n = (q + 1) * (q * q + 1);
        // every line has one absolute point, so there are q^2 + 1 of them
        let absolute = q * q + 1;
        let links = ((q + 1) * n - absolute) / 2;
        // q (q + 1) points share a line with a given point. All are two hops away, because a
        // quadrangle has no triangles, except the q points on its own line if it is absolute, or
        // else the one absolute point on its line
        let two = absolute * q * q + (n - absolute) * (q * (q + 1) - 1);
        let pairs = n * (n - 1);
        let sum = 3 * pairs - 2 * (2 * links) - two;
        let mean = PromisedValue::Exact(ExactFraction { num: sum, den: pairs });
        Ok(FamilyPromise::direct(n, p, links, self.q + 1, PromisedValue::Exact(3), mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let field = FiniteField::new(self.q)?;
        let points = GeneralizedQuadrangle { field, exponent: 1 << (self.q.ilog2() / 2) };
        let q = self.q;
        let n = (q + 1) * (q * q + 1);
        let mut b = TopologyBuilder::new();
        for i in 0..n {
            let at = points.at(i);
            let name = at.iter().fold("delorme".to_owned(), |name, x| format!("{name}-{x}"));
            let group = at.first().map_or(0, |x| x + 1);
            b.switch(Switch::new(name).at(group, at));
        }
        b.endpoints_on((0..n).map(SwitchId), p);
        for i in 0..n {
            for j in points.linked(i).into_iter().filter(|&j| j > i) {
                b.link(SwitchId(i), SwitchId(j));
            }
        }
        Ok(b)
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        [2, 8, 32].into_iter().filter_map(|q| sized(wish, |p| Self { q, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;

    #[test]
    fn the_first_two_keep_their_promise() {
        for q in [2, 8] {
            assert_eq!(broken(&Delorme { q, p: Some(1) }), Vec::<String>::new(), "q={q}");
        }
    }

    /// Being on the other's line is symmetric for all pairs of points: the map is a polarity.
    #[test]
    fn being_on_the_other_s_line_is_symmetric() {
        for q in [2, 8, 32_u32] {
            let field = FiniteField::new(q).expect("a power of 2");
            let points = GeneralizedQuadrangle { field, exponent: 1 << (q.ilog2() / 2) };
            let n = (q + 1) * (q * q + 1);
            let mut absolute = 0;
            for i in 0..n {
                assert_eq!(points.number(&points.at(i)), i);
                let linked = points.linked(i);
                assert!(linked.windows(2).all(|w| w[0] < w[1]), "q={q} {i}");
                absolute += u32::from(linked.contains(&i));
                for j in linked.into_iter().filter(|j| q < 32 || (i + j) % 7 == 0) {
                    assert!(points.linked(j).contains(&i), "q={q} {i} {j}");
                }
            }
            assert_eq!(absolute, q * q + 1, "q={q}: an ovoid");
        }
    }

    /// In one of the largest networks, distances from a sample of switches are those of the
    /// formula.
    #[test]
    fn the_largest_has_diameter_three() {
        let t = built(&Delorme { q: 32, p: Some(0) });
        for v in (0..t.switches().len()).step_by(1999) {
            let distances = t.graph().distances_from(v);
            let at = |d: u32| distances.iter().filter(|&&x| x == d).count();
            let degree = t.graph().neighbours(v).len();
            let two = if degree == 32 { 32 * 32 } else { 32 * 33 - 1 };
            assert_eq!((at(1), at(2), at(3)), (degree, two, 33_824 - degree - two), "{v}");
        }
    }

    #[test]
    fn orders_that_there_are_not_are_refused() {
        for q in [0, 1, 3, 4, 16, 33, 128, u32::MAX] {
            assert_eq!(refused(&Delorme { q, p: None }).param, "q", "q={q}");
        }
        assert_eq!(refused(&Delorme { q: 16, p: None }).help, "nearest: 8, 32");
        assert_eq!(refused(&Delorme { q: 8, p: Some(5000) }).param, "p");
    }
}
