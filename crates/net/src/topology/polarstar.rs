//! `PolarStar`: the star product of a polarity graph and Paley graphs, diameter 3.
//!
//! Source: Lakhotia et al., "`PolarStar`: expanding the scalability horizon of diameter-3
//! networks", SPAA 2024, the sections on star products and on Paley supernodes; star products are
//! of Bermond, Delorme & Farhi, "Large graphs with given degree and diameter II", Journal of
//! Combinatorial Theory B 36, 1984.
//!
//! Every point u of the polarity graph becomes a Paley graph, its group. With f(x) the primitive
//! element times x, (u, x) is linked to (v, f(x)) for every link u - v with u before v, and at a
//! quadric u (u, x) to (u, f(x)), unless it is already. Ports: inside the group, by structure
//! link, and at quadrics the link along f last.
//!
//! Distances are exact: f turns squares into non-squares and f f keeps them, so that one Paley link
//! before, between or after two structure links leads to every element but the one that the
//! structure links alone lead to; every two points have exactly one walk of two steps between them.

use super::algebra::{Paley, Plane, PlaneCounts, endpoints, one_of, sized, star_product};
use super::wish::Wish;
use super::{Claim, Family, Promise, Ratio};
use crate::network::{Builder, Switch};
use base::field::prime_power;
use base::{Refusal, SwitchId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `PolarStar` with Paley supernodes: diameter 3, (q^2 + q + 1) paley switches.
///
/// The network radix is q + 1 + (paley - 1) / 2; some switches of quadrics have one link less.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polarstar {
    /// Order of the polarity graph: a prime power from 2 to 128.
    pub q: u32,
    /// Order of the Paley graph: a prime power 4w+1 from 5 to 256.
    pub paley: u32,
    /// Endpoints per switch; the default is a third of the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 128;
const MAX_PALEY: u32 = 256;

impl Polarstar {
    /// Endpoints per switch, of a member that exists.
    fn checked(&self) -> Result<u32, Refusal> {
        one_of("q", self.q, MAX_Q, "a prime power", |q| prime_power(q).is_some())?;
        Paley::order(self.paley, MAX_PALEY)?;
        endpoints(self.p, self.network_radix(), 3)
    }

    fn network_radix(&self) -> u32 {
        self.q + 1 + (self.paley - 1) / 2
    }
}

impl Family for Polarstar {
    const NAME: &'static str = "polarstar";

    fn examples() -> Vec<Self> {
        let of = |q, paley, p| Self { q, paley, p };
        vec![of(2, 5, Some(1)), of(3, 5, None), of(2, 9, Some(0)), of(4, 5, Some(0))]
    }

    fn promise(&self) -> Result<Promise, Refusal> {
        let p = self.checked()?;
        let PlaneCounts { points, adjacent, quadrics, apart } = PlaneCounts::new(self.q);
        let order = u64::from(self.paley);
        // a quadric's links along f: of 0 a loop, of every other x one of f(x), f^-1(x) is linked
        let own = points * (order * (order - 1) / 4) + quadrics * ((order - 1) / 2);
        let links = own + adjacent / 2 * order;
        let pairs = points * order * (points * order - 1);
        // of the elements of a point two links apart all but one are three hops away
        let three = apart * order * (order - 1);
        let mean = Claim::Exact(Ratio { num: 2 * pairs + three - 2 * links, den: pairs });
        let radix = self.network_radix();
        Ok(Promise::direct(points * order, p, links, radix, Claim::Exact(3), mean))
    }

    fn build(&self) -> Result<Builder, Refusal> {
        let p = self.checked()?;
        let (plane, paley) = (Plane::new(self.q)?, Paley::new(self.paley)?);
        let (nodes, order) = (plane.points(), self.paley);
        let mut b = Builder::new();
        for u in 0..nodes {
            let [i, j, k] = plane.at(u);
            for x in 0..order {
                let switch = Switch::new(format!("polarstar-{i}-{j}-{k}-{x}"));
                b.switch(switch.at(u, vec![i, j, k, x]));
            }
        }
        b.endpoints_on((0..nodes * order).map(SwitchId), p);
        let inner = paley.links();
        let f = |x| paley.turned(x);
        star_product(&mut b, (nodes, order), &inner, plane.links(), f);
        for u in (0..nodes).filter(|&u| plane.is_quadric(u)) {
            for x in 1..order {
                let (low, high) = (x.min(f(x)), x.max(f(x)));
                if inner.binary_search(&(low, high)).is_err() {
                    b.link(SwitchId(u * order + x), SwitchId(u * order + f(x)));
                }
            }
        }
        Ok(b)
    }

    fn near(wish: &Wish) -> Vec<Self> {
        let orders = |most: u32| 2..=most.min(wish.radix);
        let all = orders(MAX_Q).flat_map(|q| orders(MAX_PALEY).map(move |paley| (q, paley)));
        let fits = all.filter(|(q, paley)| q + 1 + (paley - 1) / 2 < wish.radix);
        fits.filter_map(|(q, paley)| sized(wish, |p| Self { q, paley, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_members_keep_their_promise() {
        for (q, paley) in [
            (2, 5),
            (2, 13),
            (3, 9),
            (4, 5),
            (4, 9),
            (5, 5),
            (5, 9),
            (7, 5),
            (7, 9),
            (8, 5),
            (9, 5),
            (3, 25),
        ] {
            let member = Polarstar { q, paley, p: Some(1) };
            assert_eq!(broken(&member), Vec::<String>::new(), "q={q} paley={paley}");
        }
    }

    /// The links along f at a quadric: every element but 0 has one of its own.
    #[test]
    fn quadrics_have_one_link_more_inside_and_one_less_outside() {
        let t = built(&Polarstar { q: 4, paley: 13, p: Some(0) });
        let plane = Plane::new(4).expect("4");
        for s in t.switches() {
            let degree = t.graph().neighbours((s.group * 13 + s.coordinates[3]) as usize).len();
            let expected = match (plane.is_quadric(s.group), s.coordinates[3]) {
                (true, 0) => 4 + 6,
                _ => 5 + 6,
            };
            assert_eq!(degree, expected, "{}", s.name);
        }
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            q in prop_oneof![any::<u32>(), 0_u32..140],
            paley in prop_oneof![any::<u32>(), 0_u32..280],
            p in prop::option::of(any::<u32>()),
        ) {
            if let Ok(promise) = (Polarstar { q, paley, p }).promise() {
                prop_assert!(prime_power(q).is_some() && paley % 4 == 1);
                let (q, order) = (u64::from(q), u64::from(paley));
                prop_assert_eq!(promise.switches, (q * q + q + 1) * order);
            }
        }
    }

    #[test]
    fn orders_that_there_are_not_are_refused() {
        let of = |q, paley, p| Polarstar { q, paley, p };
        assert_eq!(refused(&of(6, 5, None)).help, "nearest: 5, 7");
        assert_eq!(refused(&of(129, 5, None)).help, "nearest: 128");
        assert_eq!(refused(&of(5, 7, None)).help, "nearest: 5, 9");
        assert_eq!(refused(&of(5, u32::MAX, None)).param, "paley");
        assert_eq!(refused(&of(u32::MAX, 5, None)).param, "q");
        assert_eq!(refused(&of(5, 5, Some(5000))).param, "p");
    }
}
