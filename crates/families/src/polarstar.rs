//! `PolarStar`: star products of a polarity graph and Paley or inductive-quad graphs, diameter 3.
//!
//! Source: Lakhotia et al., "`PolarStar`: expanding the horizon of diameter-3 networks", SPAA 2024,
//! the sections on star products and on supernodes; star products are of Bermond, Delorme & Farhi,
//! "Large graphs with given degree and diameter II", Journal of Combinatorial Theory B 36, 1984.
//!
//! Every point u of the polarity graph becomes a supernode with a map f; supernodes are groups. For
//! every link u - v with u before v, (u, x) is linked to (v, f(x)). At a quadric u, (u, x) is
//! linked to (u, f(x)), unless the two are linked already. Ports: links inside the supernode, links
//! by the supernode they lead to, and at quadrics last the link along f.
//!
//! The promised distances are exact, because any two points have exactly one walk of two steps
//! between them, if the link of a quadric to itself counts as a step. With Paley graphs, f
//! multiplies by the primitive element; it takes squares to non-squares, and f(f(x)) keeps squares.
//! So one Paley link before, between or after two links between supernodes leads to every element
//! except the one that these two links alone lead to. With inductive quads, f is an involution: one
//! link inside a supernode before or after the two leads to every element except f of that one, to
//! which three links between supernodes lead.

use super::algebra::{
    PaleyGraph, PolarityGraphCounts, ProjectivePlane, endpoints, largest_of_each_radix, one_of,
    sized, star_product,
};
use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue};
use base::field::prime_power;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `PolarStar`: diameter 3, q^2 + q + 1 supernodes, each a Paley or an inductive-quad graph.
///
/// The network radix is q + 1 and the degree of the supernode: (paley - 1) / 2 for paley switches,
/// or iq for 2 iq + 2. With Paley graphs some switches of quadrics have one link less.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polarstar {
    /// Order of the polarity graph: a prime power from 2 to 128.
    pub q: u32,
    /// Order of the Paley graph: a prime power 4w+1 from 5 to 256. Give this or iq.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paley: Option<u32>,
    /// Degree of the inductive-quad graph: 4w-1 or 4w from 3 to 128. Give this or paley.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iq: Option<u32>,
    /// Endpoints per switch; the default is a third of the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 128;
const MAX_PALEY: u32 = 256;
const MAX_IQ: u32 = 128;

/// The kind of supernode: its links inside.
enum SupernodeKind {
    /// The Paley graph of this order.
    Paley(u32),
    /// The inductive-quad graph of this degree.
    InductiveQuad(u32),
}

/// The links x - y, x < y, ascending, of the inductive-quad graph of degree d, for d mod 4 = 3 or
/// 0.
///
/// The 2 d + 2 switches are pairs 2 i, 2 i + 1, which f exchanges. Among any two pairs, one pair
/// has a switch that is linked to both switches of the other. Four pairs make the graph of degree
/// 3, and a fifth pair that of degree 4. Four more pairs, linked like the first four, raise the
/// degree to d + 4.
fn inductive_quad(d: u32) -> Vec<(u32, u32)> {
    const FOUR: [(u32, u32, u32); 6] =
        [(1, 0, 0), (1, 1, 3), (2, 0, 0), (2, 1, 1), (3, 1, 0), (3, 0, 2)];
    let mut links = Vec::new();
    // links switch s of pair i to both switches of pair j
    let mut link = |i: u32, s: u32, j: u32| {
        let x = 2 * i + s;
        links.extend([2 * j, 2 * j + 1].map(|y| (x.min(y), x.max(y))));
    };
    let mut pairs = 0;
    while pairs <= d {
        for (i, s, j) in FOUR {
            link(pairs + i, s, pairs + j);
        }
        for old in 0..pairs {
            (0..4).for_each(|new| link(old, new / 2, pairs + new));
        }
        pairs += 4;
        if pairs == 4 && d.is_multiple_of(4) {
            (0..4).for_each(|j| link(4, j / 2, j));
            pairs += 1;
        }
    }
    links.sort_unstable();
    links
}

impl Polarstar {
    /// The supernode and the endpoints per switch of this member, checked.
    fn checked(&self) -> Result<(SupernodeKind, u32), Refusal> {
        one_of("q", self.q, MAX_Q, "a prime power", |q| prime_power(q).is_some())?;
        let supernode = match (self.paley, self.iq) {
            (Some(order), None) => SupernodeKind::Paley(PaleyGraph::order(order, MAX_PALEY)?),
            (None, Some(d)) => {
                let good = |d: u32| d > 2 && matches!(d % 4, 0 | 3);
                SupernodeKind::InductiveQuad(one_of("iq", d, MAX_IQ, "4w-1 or 4w", good)?)
            }
            (Some(_), Some(_)) => {
                let help = "give either paley or iq";
                return Err(Refusal::new("iq", "there are two kinds of supernode", help));
            }
            (None, None) => {
                let help = "give paley (its order, as 5) or iq (its degree, as 3)";
                return Err(Refusal::new("paley", "there is no supernode", help));
            }
        };
        let p = endpoints(self.p, self.q + 1 + supernode.degree(), 3)?;
        Ok((supernode, p))
    }
}

impl SupernodeKind {
    fn order(&self) -> u32 {
        match self {
            Self::Paley(order) => *order,
            Self::InductiveQuad(d) => 2 * d + 2,
        }
    }

    fn degree(&self) -> u32 {
        match self {
            Self::Paley(order) => (order - 1) / 2,
            Self::InductiveQuad(d) => *d,
        }
    }
}

impl Family for Polarstar {
    const NAME: &'static str = "polarstar";

    fn examples() -> Vec<Self> {
        let paley = |q, order, p| Self { q, paley: Some(order), iq: None, p };
        let iq = |q, d, p| Self { q, paley: None, iq: Some(d), p };
        vec![
            paley(2, 5, Some(1)),
            paley(2, 9, Some(0)),
            paley(4, 5, Some(0)),
            iq(2, 3, None),
            iq(2, 4, Some(0)),
            iq(3, 3, Some(0)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (supernode, p) = self.checked()?;
        let PolarityGraphCounts { points, adjacent, quadrics, apart } =
            PolarityGraphCounts::new(self.q);
        let order = u64::from(supernode.order());
        let (along_f, far) = match supernode {
            // f(0) = 0. Every other x is linked already to either f(x) or the x' with f(x') = x
            SupernodeKind::Paley(_) => ((order - 1) / 2, 0),
            // the switches of the fifth pair have no common neighbour, and are linked only where f
            // links them
            SupernodeKind::InductiveQuad(d) => (order / 2, if d % 4 == 0 { 2 } else { 0 }),
        };
        let inside = points * (order * u64::from(supernode.degree()) / 2);
        let links = inside + quadrics * along_f + adjacent / 2 * order;
        let pairs = points * order * (points * order - 1);
        // in a supernode two links away, all switches but one are three hops away
        let three = apart * order * (order - 1) + (points - quadrics) * far;
        let mean =
            PromisedValue::Exact(ExactFraction { num: 2 * pairs + three - 2 * links, den: pairs });
        let radix = self.q + 1 + supernode.degree();
        Ok(FamilyPromise::direct(points * order, p, links, radix, PromisedValue::Exact(3), mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (supernode, p) = self.checked()?;
        let plane = ProjectivePlane::new(self.q)?;
        let (nodes, order) = (plane.points(), supernode.order());
        let (inner, f): (_, Vec<u32>) = match supernode {
            SupernodeKind::Paley(order) => {
                let paley = PaleyGraph::new(order)?;
                (paley.links(), (0..order).map(|x| paley.turned(x)).collect())
            }
            SupernodeKind::InductiveQuad(d) => {
                (inductive_quad(d), (0..order).map(|x| x ^ 1).collect())
            }
        };
        let mut b = TopologyBuilder::new();
        for u in 0..nodes {
            let [i, j, k] = plane.at(u);
            for x in 0..order {
                let switch = Switch::new(format!("polarstar-{i}-{j}-{k}-{x}"));
                b.switch(switch.at(u, vec![i, j, k, x]));
            }
        }
        b.endpoints_on((0..nodes * order).map(SwitchId), p);
        star_product(&mut b, (nodes, order), &inner, plane.links(), |x| f[x as usize]);
        let ends = (0..order).map(|x| (x.min(f[x as usize]), x.max(f[x as usize])));
        let new = |&(x, y): &(u32, u32)| x < y && inner.binary_search(&(x, y)).is_err();
        let mut along_f: Vec<(u32, u32)> = ends.filter(new).collect();
        along_f.sort_unstable();
        along_f.dedup();
        for u in (0..nodes).filter(|&u| plane.is_quadric(u)) {
            for &(x, y) in &along_f {
                b.link(SwitchId(u * order + x), SwitchId(u * order + y));
            }
        }
        Ok(b)
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let ports = wish.radix.min(2 * MAX_Q);
        let [mut paley, mut iq] = [Vec::new(), Vec::new()];
        for q in (2..=MAX_Q.min(ports)).filter(|&q| prime_power(q).is_some()) {
            for degree in 2..ports.saturating_sub(q) {
                // other degrees would be refused one by one, which takes time
                if degree % 2 == 0 && prime_power(2 * degree + 1).is_some() {
                    paley.push(Self { q, paley: Some(2 * degree + 1), iq: None, p: Some(0) });
                }
                if matches!(degree % 4, 0 | 3) {
                    iq.push(Self { q, paley: None, iq: Some(degree), p: Some(0) });
                }
            }
        }
        let best = [paley, iq].into_iter().flat_map(|kind| largest_of_each_radix(kind.into_iter()));
        best.filter_map(|m| sized(wish, |p| Self { p, ..m.clone() })).collect()
    }

    /// All members, not only the largest of each radix.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let ports = need.wish.radix.min(2 * MAX_Q);
        let [mut paley, mut iq] = [CheapestMembers::of(need), CheapestMembers::of(need)];
        for q in (2..=MAX_Q.min(ports)).filter(|&q| prime_power(q).is_some()) {
            for degree in 2..ports.saturating_sub(q) {
                let sized = |m: &Self, p| Self { p: Some(p), ..m.clone() };
                if degree % 2 == 0 && prime_power(2 * degree + 1).is_some() {
                    let order = 2 * degree + 1;
                    let bare = Self { q, paley: Some(order), iq: None, p: Some(0) };
                    paley.offer_sized([bare], sized);
                }
                if matches!(degree % 4, 0 | 3) {
                    let bare = Self { q, paley: None, iq: Some(degree), p: Some(0) };
                    iq.offer_sized([bare], sized);
                }
            }
        }
        let mut members = paley.into_members();
        members.extend(iq.into_members());
        members
    }

    fn kind(&self) -> String {
        if self.iq.is_some() { "inductive quad".to_owned() } else { "Paley".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;
    use proptest::prelude::*;

    fn paley(q: u32, order: u32, p: Option<u32>) -> Polarstar {
        Polarstar { q, paley: Some(order), iq: None, p }
    }

    fn iq(q: u32, d: u32, p: Option<u32>) -> Polarstar {
        Polarstar { q, paley: None, iq: Some(d), p }
    }

    #[test]
    fn small_members_keep_their_promise() {
        for (q, order) in [(2, 5), (2, 13), (3, 9), (4, 9), (5, 5), (7, 9), (8, 5), (9, 5), (3, 25)]
        {
            let member = paley(q, order, Some(1));
            assert_eq!(broken(&member), Vec::<String>::new(), "q={q} paley={order}");
        }
        for (q, d) in [(2, 3), (2, 4), (3, 7), (4, 4), (5, 3), (7, 4), (8, 3), (3, 8), (4, 11)] {
            let member = iq(q, d, Some(1));
            assert_eq!(broken(&member), Vec::<String>::new(), "q={q} iq={d}");
        }
    }

    /// The degree is d. For every x, all switches are among x, f(x), the neighbours of x, and f of
    /// the neighbours of f(x), and none is there twice (property R*). The diameter is 2 except for
    /// the fifth pair.
    #[test]
    fn the_inductive_quads_have_what_the_construction_needs() {
        for d in (3..=MAX_IQ).filter(|d| d % 4 == 3 || d % 4 == 0) {
            let n = 2 * d as usize + 2;
            let mut near = vec![vec![false; n]; n];
            for (x, y) in inductive_quad(d) {
                let (x, y) = (x as usize, y as usize);
                assert!(x < y && !near[x][y], "d={d}: {x} - {y} twice");
                (near[x][y], near[y][x]) = (true, true);
            }
            let mut far = Vec::new();
            for x in 0..n {
                assert_eq!(near[x].iter().filter(|&&l| l).count(), d as usize, "d={d} x={x}");
                assert!(!near[x][x ^ 1]);
                for y in (0..n).filter(|&y| y != x && y != x ^ 1) {
                    assert!(near[x][y] != near[x ^ 1][y ^ 1], "d={d}: {y} from {x}");
                }
                let apart = |y: &usize| !near[x][*y] && !(0..n).any(|z| near[x][z] && near[z][*y]);
                far.extend((0..n).filter(|&y| y != x).filter(apart).map(|y| (x, y)));
            }
            let expected = if d % 4 == 0 { vec![(8, 9), (9, 8)] } else { vec![] };
            assert_eq!(far, expected, "d={d}");
        }
    }

    /// At a quadric, every element except 0 has a link along f.
    #[test]
    fn quadrics_have_one_link_more_inside_and_one_less_outside() {
        let t = built(&paley(4, 13, Some(0)));
        let plane = ProjectivePlane::new(4).expect("4");
        for s in t.switches() {
            let degree = t.graph().neighbours((s.group * 13 + s.coordinates[3]) as usize).len();
            let expected = match (plane.is_quadric(s.group), s.coordinates[3]) {
                (true, 0) => 4 + 6,
                _ => 5 + 6,
            };
            assert_eq!(degree, expected, "{}", s.name);
        }
        let regular = built(&iq(5, 4, Some(0)));
        assert!((0..regular.switches().len()).all(|s| regular.graph().neighbours(s).len() == 10));
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            q in prop_oneof![any::<u32>(), 0_u32..140],
            order in prop::option::of(prop_oneof![any::<u32>(), 0_u32..280]),
            degree in prop::option::of(prop_oneof![any::<u32>(), 0_u32..140]),
            p in prop::option::of(any::<u32>()),
        ) {
            if let Ok(promise) = (Polarstar { q, paley: order, iq: degree, p }).promise() {
                prop_assert!(prime_power(q).is_some() && order.is_some() != degree.is_some());
                let q = u64::from(q);
                let order = order.or(degree.map(|d| 2 * d + 2)).map_or(0, u64::from);
                prop_assert_eq!(promise.switches, (q * q + q + 1) * order);
            }
        }
    }

    #[test]
    fn orders_that_there_are_not_are_refused() {
        assert_eq!(refused(&paley(6, 5, None)).help, "nearest: 5, 7");
        assert_eq!(refused(&paley(129, 5, None)).help, "nearest: 128");
        assert_eq!(refused(&paley(5, 7, None)).help, "nearest: 5, 9");
        assert_eq!(refused(&paley(5, u32::MAX, None)).param, "paley");
        assert_eq!(refused(&paley(u32::MAX, 5, None)).param, "q");
        assert_eq!(refused(&paley(5, 5, Some(5000))).param, "p");
        assert_eq!(refused(&iq(5, 5, None)).help, "nearest: 4, 7");
        assert_eq!(refused(&iq(5, 0, None)).help, "nearest: 3");
        assert_eq!(refused(&iq(5, u32::MAX, None)).param, "iq");
        let of = |paley, iq| Polarstar { q: 5, paley, iq, p: None };
        assert_eq!(refused(&of(None, None)).param, "paley");
        assert_eq!(refused(&of(Some(5), Some(3))).param, "iq");
    }
}
