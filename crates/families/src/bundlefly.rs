//! `BundleFly`: the star product of a Slim Fly's graph and Paley graphs, diameter 3.
//!
//! Source: Lei, Dong, Liao & Duato, "Bundlefly: a low-diameter topology for multicore fiber", ICS
//! 2020; star products: Bermond, Delorme & Farhi, "Large graphs with given degree
//! and diameter II", Journal of Combinatorial Theory B 36, 1984.
//!
//! Every switch u of the Slim Fly becomes a group of switches, linked as a Paley graph. Let f(x) be
//! the product of the primitive element and x. For every link u - v of the Slim Fly, u before v in
//! the order of half, column, row, (u, x) is linked to (v, f(x)). Ports: inside the group, then by
//! the group they lead to.
//!
//! The promised distances are exact. f takes squares to non-squares, and f(f(x)) keeps squares. So
//! one Paley link before, between or after two links between groups leads to every element except
//! those that two links between groups reach without it. These elements are f(f(x)), x, or
//! f^-1(f^-1(x)), depending on the order of the three Slim Fly switches on the path; the promise
//! counts for how many pairs there are two such elements.

use super::algebra::{PaleyGraph, endpoints, largest_of_each_radix, sized, star_product};
use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::slim_fly::SlimFly;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue, recipe};
use base::field::{FiniteField, prime_power};
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `BundleFly`: diameter 3 with 2 q^2 paley switches, for q = 4 w + d.
///
/// The network radix is (3 q - d) / 2 + (paley - 1) / 2.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bundlefly {
    /// Order of the Slim Fly: a prime power with q mod 4 = 0, 1 or 3, at most 128.
    pub q: u32,
    /// Order of the Paley graph: a prime power 4w+1 from 5 to 256.
    pub paley: u32,
    /// Endpoints per switch; the default is a third of the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 128;
const MAX_PALEY: u32 = 256;

/// The checked parameters of a `BundleFly` network, with what follows from them.
struct CheckedBundleflyParameters {
    structure: SlimFly,
    /// The network radix of the Slim Fly.
    structure_radix: u32,
    /// The network radix of the whole network.
    radix: u32,
    p: u32,
}

impl Bundlefly {
    fn checked(&self) -> Result<CheckedBundleflyParameters, Refusal> {
        let structure = SlimFly { q: self.q, p: Some(0) };
        let structure_radix = structure.promise()?.network_radix;
        super::in_range("q", self.q, 3, MAX_Q)?;
        let radix = structure_radix + (PaleyGraph::order(self.paley, MAX_PALEY)? - 1) / 2;
        let p = endpoints(self.p, radix, 3)?;
        Ok(CheckedBundleflyParameters { structure, structure_radix, radix, p })
    }
}

/// The number of ordered pairs of Slim Fly switches at two hops whose paths reach two elements
/// instead of one, because the order of switches rises twice (or falls twice) along one path, and
/// rises and falls along another. O(q^2).
fn double_pairs(structure: &SlimFly) -> Result<u64, Refusal> {
    let q = structure.q;
    let field = FiniteField::new(q)?;
    let sets = structure.generators(&field)?;
    let below = |x: u32| if x == 128 { u128::MAX } else { (1_u128 << x) - 1 };
    let mut double = 0;
    // pairs in one of q columns: one common neighbour is between the two in the order, another is
    // not
    for set in &sets {
        let near = |y: u32| set.iter().fold(0, |mask, &x| mask | 1_u128 << field.add(y, x));
        let near: Vec<u128> = (0..q).map(near).collect();
        for y in 0..q {
            for other in (y + 1..q).filter(|&o| near[y as usize] >> o & 1 == 0) {
                let common = near[y as usize] & near[other as usize];
                let between = below(other) & !below(y);
                let both = common & between != 0 && common & !between != 0;
                double += 2 * u64::from(q) * u64::from(both);
            }
        }
    }
    // pairs in different halves that are off by x, an element of both sets: where adding x rises in
    // one column and falls in the other, one path falls and then rises, and another rises twice;
    // the factor q - 1 counts the pairs (r, c) of lines and points
    for &x in sets[0].iter().filter(|x| sets[1].contains(x)) {
        let falls = (0..q).filter(|&y| field.add(y, x) < y).count() as u64;
        let q = u64::from(q);
        double += 2 * 2 * falls * (q - falls) * (q - 1);
    }
    Ok(double)
}

impl Family for Bundlefly {
    const NAME: &'static str = "bundlefly";

    fn examples() -> Vec<Self> {
        let of = |q, paley, p| Self { q, paley, p };
        vec![of(3, 5, Some(1)), of(4, 5, Some(0)), of(3, 9, Some(0)), of(5, 5, Some(0))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let CheckedBundleflyParameters { structure, structure_radix, radix, p } = self.checked()?;
        let (q, order) = (u64::from(self.q), u64::from(self.paley));
        let nodes = 2 * q * q;
        let n = nodes * order;
        let links = n * u64::from(radix) / 2;
        let apart = nodes * (nodes - 1 - u64::from(structure_radix));
        // two hops from element 0 always lead to 0; from any other element they lead to one or two
        // elements
        let two = apart * order + double_pairs(&structure)? * (order - 1);
        let three = apart * order * order - two;
        let pairs = n * (n - 1);
        let mean =
            PromisedValue::Exact(ExactFraction { num: 2 * pairs + three - 2 * links, den: pairs });
        Ok(FamilyPromise::direct(n, p, links, radix, PromisedValue::Exact(3), mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let CheckedBundleflyParameters { structure, p, .. } = self.checked()?;
        let paley = PaleyGraph::new(self.paley)?;
        let structure = structure.build()?.finish(recipe(&structure))?;
        let mut b = TopologyBuilder::new();
        for (u, s) in (0..).zip(structure.switches()) {
            let [half, column, row] = s.coordinates[..] else { continue };
            for x in 0..self.paley {
                let switch = Switch::new(format!("bundlefly-{half}-{column}-{row}-{x}"));
                b.switch(switch.at(u, vec![half, column, row, x]));
            }
        }
        let nodes = structure.switches().len() as u32;
        b.endpoints_on((0..nodes * self.paley).map(SwitchId), p);
        let ends = |l: &fabric::network::Link| {
            let (a, z) = (l.a.switch.0, l.b.switch.0);
            (a.min(z), a.max(z))
        };
        let mut outer: Vec<(u32, u32)> = structure.links().iter().map(ends).collect();
        outer.sort_unstable();
        let inner = paley.links();
        let f = |x| paley.turned(x);
        star_product(&mut b, (nodes, self.paley), &inner, outer.into_iter(), f);
        Ok(b)
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let powers = |most: u32| (3..=most.min(wish.radix)).filter(|&x| prime_power(x).is_some());
        let all = powers(MAX_Q).flat_map(|q| {
            let fits = move |paley: &u32| paley % 4 == 1 && (3 * q + paley) / 2 - 1 <= wish.radix;
            powers(MAX_PALEY).filter(fits).map(move |paley| Self { q, paley, p: Some(0) })
        });
        let best = largest_of_each_radix(all).into_iter();
        best.filter_map(|m| sized(wish, |p| Self { p, ..m.clone() })).collect()
    }

    /// All members, not only the largest of each radix.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let mut members = CheapestMembers::of(need);
        let powers = |most: u32| (3..=most).filter(|&x| prime_power(x).is_some());
        let radix = need.wish.radix;
        for q in powers(MAX_Q.min(radix)) {
            let fits = |paley: &u32| {
                let switches = 2 * u64::from(q) * u64::from(q) * u64::from(*paley);
                paley % 4 == 1
                    && (3 * q + paley) / 2 - 1 <= radix
                    && need.per_switch(switches) <= u64::from(radix)
                    && switches <= need.endpoints.saturating_mul(2)
            };
            let bare = powers(MAX_PALEY.min(radix)).filter(fits);
            let bare = bare.map(|paley| Self { q, paley, p: Some(0) });
            members.offer_sized(bare, |m, p| Self { p: Some(p), ..m.clone() });
        }
        members.into_members()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, refused};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_members_of_every_kind_keep_their_promise() {
        for (q, paley) in [
            (3, 5),
            (3, 13),
            (4, 5),
            (4, 9),
            (5, 5),
            (5, 9),
            (7, 5),
            (8, 5),
            (8, 9),
            (9, 5),
            (11, 5),
            (13, 5),
            (16, 5),
        ] {
            let member = Bundlefly { q, paley, p: Some(0) };
            assert_eq!(broken(&member), Vec::<String>::new(), "q={q} paley={paley}");
        }
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            q in prop_oneof![any::<u32>(), 0_u32..140],
            paley in prop_oneof![any::<u32>(), 0_u32..280],
            p in prop::option::of(any::<u32>()),
        ) {
            if let Ok(promise) = (Bundlefly { q, paley, p }).promise() {
                prop_assert!(q % 4 != 2 && q <= 128 && paley % 4 == 1);
                prop_assert_eq!(promise.switches, 2 * u64::from(q).pow(2) * u64::from(paley));
            }
        }
    }

    #[test]
    fn orders_that_there_are_not_are_refused() {
        let of = |q, paley, p| Bundlefly { q, paley, p };
        assert_eq!(refused(&of(6, 5, None)).help, "nearest: 5, 7");
        assert_eq!(refused(&of(131, 5, None)).help, "3 to 128");
        assert_eq!(refused(&of(5, 7, None)).help, "nearest: 5, 9");
        assert_eq!(refused(&of(u32::MAX, u32::MAX, None)).param, "q");
        assert_eq!(refused(&of(5, u32::MAX, None)).param, "paley");
        assert_eq!(refused(&of(5, 5, Some(5000))).param, "p");
    }
}
