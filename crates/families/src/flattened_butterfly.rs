//! Flattened butterfly: the k-ary n-flat, a k-ary n-fly whose rows are one router each.
//!
//! Source: Kim, Dally & Abts, "Flattened butterfly: a cost-efficient topology for high-radix
//! networks", ISCA 2007, section 2.1, equation 1.
//!
//! A router has n - 1 digits below k and is linked to all routers that differ from it in one digit.
//! Ports: endpoints, then dimension by dimension, the first digit first, by the digit they lead to.

use super::grid::GridPoints;
use super::hyperx::HyperX;
use super::wish::NetworkWish;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, PromisedValue, in_range, power,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, CablePlug, NetworkRecipe, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flattened butterfly, k-ary n-flat: k^(n-1) switches, complete graphs along n - 1 dimensions.
///
/// `HyperX` has dimensions of several sizes and parallel links, too.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlattenedButterfly {
    /// Switches along each dimension.
    pub k: u32,
    /// Stages of the butterfly that is flattened: the dimensions and one.
    pub n: u32,
    /// Endpoints per switch; default k, which makes k^n.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

/// The most stages, and the most switches along a dimension.
const MAX_N: u32 = 30;
const MAX_K: u32 = 4096;
/// The most switches.
const MOST: u64 = 1 << 30;

impl FlattenedButterfly {
    /// The number of switches, k^(n-1), and the number of endpoints on each.
    fn checked(&self) -> Result<(u64, u32), Refusal> {
        let k = in_range("k", self.k, 2, MAX_K)?;
        let n = in_range("n", self.n, 2, MAX_N)?;
        let p = in_range("p", self.p.unwrap_or(k), 0, MAX_P)?;
        Ok((power(k, n, 2, MOST, "switches")?, p))
    }
}

impl Family for FlattenedButterfly {
    const NAME: &'static str = "flattened_butterfly";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Complete))
    }

    fn examples() -> Vec<Self> {
        let of = |k, n, p| Self { k, n, p };
        vec![of(4, 2, None), of(4, 3, None), of(3, 4, Some(1)), of(2, 5, None), of(5, 3, Some(0))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (switches, p) = self.checked()?;
        let (k, n) = (u64::from(self.k), self.n);
        let radix = (n - 1) * (self.k - 1);
        // each of the n - 1 digits differs from that of a given switch in (k - 1) / k of all
        // switches
        let far = u64::from(n - 1) * (switches - switches / k);
        let mean = PromisedValue::Exact(ExactFraction { num: far, den: switches - 1 });
        let links = switches * u64::from(radix) / 2;
        let promise =
            FamilyPromise::direct(switches, p, links, radix, PromisedValue::Exact(n - 1), mean);
        // adding a constant to every digit, modulo k, is an automorphism
        Ok(promise.vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (_, p) = self.checked()?;
        let (k, shape) = (self.k, GridShape(vec![self.k; self.n as usize - 1]));
        let grid = GridPoints::new(&shape)?;
        let mut b = TopologyBuilder::new();
        grid.populate(&mut b, "fbf", p);
        for i in 0..grid.places as u32 {
            for (d, _) in grid.wide() {
                let stride = grid.stride(d);
                let (digit, first) = (i / stride % k, p + 1 + d as u32 * (k - 1));
                for to in digit + 1..k {
                    let plug =
                        |switch, port| CablePlug { switch: SwitchId(switch), port: port as u16 };
                    let j = i + (to - digit) * stride;
                    // a switch has no port to its own digit, so the ports to higher digits move
                    // down by one
                    b.link_at(plug(i, first + to - 1), plug(j, first + digit), Cable::default());
                }
            }
        }
        Ok(b)
    }

    /// For two to five stages, every k that the ports allow, with k endpoints (Kim et al., section
    /// 2).
    fn general_form(&self) -> Option<NetworkRecipe> {
        let (_, p) = self.checked().ok()?;
        let shape = GridShape(vec![self.k; self.n as usize - 1]);
        HyperX { shape, k: None, p: Some(p) }.general_form()
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |n: u32, k: u32| {
            let rule = f64::from(k);
            Self { k, n, p: Some(wish.per_switch(rule, rule)) }
        };
        let stages = 2..=5_u32;
        let most = |n: u32| (wish.radix / (n - 1) + 1).min(MAX_K);
        stages.flat_map(|n| (2..=most(n)).map(move |k| of(n, k))).collect()
    }

    fn kind(&self) -> String {
        format!("{}D", self.n.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hyperx::HyperX;
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn built<F: Family>(member: &F) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Kim et al., equation 1: router i is linked to j = i + (m - i/k^(d-1) mod k) k^(d-1), for
    /// d = 1 .. n-1 and m = 0 .. k-1; and section 2.1: radix k' = n (k - 1) + 1, with endpoints.
    #[test]
    fn routers_are_linked_as_in_the_paper() {
        for (k, n) in [(2_u32, 5_u32), (3, 3), (4, 3), (5, 2), (3, 4)] {
            let member = FlattenedButterfly { k, n, p: None };
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            assert_eq!(promise.endpoints, u64::from(k.pow(n)));
            assert_eq!(promise.radix, n * (k - 1) + 1);
            for i in 0..k.pow(n - 1) {
                let mut expected: Vec<u32> = (1..n)
                    .flat_map(|d| (0..k).map(move |m| (k.pow(d - 1), m)))
                    .map(|(step, m)| i - i / step % k * step + m * step)
                    .filter(|&j| j != i)
                    .collect();
                let mut found = t.graph().neighbours(i as usize).to_vec();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected);
            }
            let hyperx = HyperX { shape: GridShape(vec![k; n as usize - 1]), k: None, p: None };
            let by_ports = |t: &Topology| {
                let ends = |l: &fabric::network::Link| (l.a.min(l.b), l.a.max(l.b));
                let mut all: Vec<(CablePlug, CablePlug)> = t.links().iter().map(ends).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(by_ports(&t), by_ports(&built(&hyperx)), "the same cables");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn members_keep_their_promise(k in 2_u32..5, n in 2_u32..5, p in 0_u32..3) {
            let member = FlattenedButterfly { k, n, p: Some(p) };
            let promise = member.promise().expect("a member");
            prop_assert_eq!(broken_promises(&promise, &built(&member)), Vec::<String>::new());
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            k in prop_oneof![any::<u32>(), 0_u32..70],
            n in prop_oneof![any::<u32>(), 0_u32..40],
            p in prop::option::of(any::<u32>()),
        ) {
            let there = (2..=MAX_K).contains(&k) && (2..=MAX_N).contains(&n)
                && f64::from(k).powi(n as i32 - 1) <= MOST as f64
                && p.is_none_or(|p| p <= MAX_P);
            prop_assert_eq!(FlattenedButterfly { k, n, p }.promise().is_ok(), there);
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let of = |k, n, p| FlattenedButterfly { k, n, p };
        let cases = [
            (of(1, 2, None), "k", "2 to 4096"),
            (of(4097, 2, None), "k", "2 to 4096"),
            (of(4, 1, None), "n", "2 to 30"),
            (of(8, 12, None), "n", "with k = 8, 2 to 11"),
            (of(2, 2, Some(4097)), "p", "0 to 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
