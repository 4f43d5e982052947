//! Complete graphs: every switch is linked to every other (full mesh).
//!
//! Source: Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 3.
//!
//! Ports come in the order of the switches they lead to.

use super::algebra::{endpoints, sized};
use super::hyperx::HyperX;
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, GridShape, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Complete graph: n switches, a link between every two.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteGraph {
    /// Number of switches, 1 to 8192.
    pub n: u32,
    /// Endpoints per switch; the default is the network radix, n - 1 (1 for a single switch).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_N: u32 = 8192;

impl CompleteGraph {
    /// Checks the parameters and returns the endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        in_range("n", self.n, 1, MAX_N)?;
        endpoints(self.p, self.n - 1, 1)
    }
}

impl Family for CompleteGraph {
    const NAME: &'static str = "complete";

    fn examples() -> Vec<Self> {
        let of = |n, p| Self { n, p };
        vec![of(1, None), of(2, Some(3)), of(5, None), of(12, Some(0)), of(9, Some(1))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (p, n) = (self.checked()?, u64::from(self.n));
        let one = u32::from(n > 1);
        let mean = PromisedValue::Exact(ExactFraction { num: one.into(), den: 1 });
        let links = n * (n - 1) / 2;
        let promise =
            FamilyPromise::direct(n, p, links, self.n - 1, PromisedValue::Exact(one), mean);
        Ok(promise.vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let mut b = TopologyBuilder::new();
        for s in 0..self.n {
            b.switch(Switch::new(format!("complete-{s}")).at(0, vec![s]));
        }
        b.endpoints_on((0..self.n).map(SwitchId), p);
        for s in 0..self.n {
            for other in s + 1..self.n {
                b.link(SwitchId(s), SwitchId(other));
            }
        }
        Ok(b)
    }

    fn general_form(&self) -> Option<NetworkRecipe> {
        let p = Some(self.checked().ok()?);
        HyperX { shape: GridShape(vec![self.n]), k: None, p }.general_form()
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let most = wish.radix.min(MAX_N);
        (2..=most).filter_map(|n| sized(wish, |p| Self { n, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;

    #[test]
    fn every_size_to_40_keeps_its_promise_and_ports_are_sorted() {
        for n in 1..=40 {
            let member = CompleteGraph { n, p: Some(2) };
            assert_eq!(broken(&member), Vec::<String>::new(), "n={n}");
            let t = built(&member);
            for s in 0..n {
                let others: Vec<u32> = (0..n).filter(|&o| o != s).collect();
                assert_eq!(t.graph().neighbours(s as usize), others);
            }
        }
    }

    #[test]
    fn the_limits_hold() {
        let promise = CompleteGraph { n: MAX_N, p: None }.promise().expect("the largest");
        assert_eq!((promise.links, promise.radix), (33_550_336, 8191 + 4096));
        for n in [0, MAX_N + 1, u32::MAX] {
            assert_eq!(refused(&CompleteGraph { n, p: None }).help, "1 to 8192");
        }
        assert_eq!(refused(&CompleteGraph { n: 4, p: Some(u32::MAX) }).param, "p");
    }
}
