//! Stars: one hub and the leaves around it.
//!
//! Source: Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 1.
//!
//! Port i + 1 of the hub leads to leaf i; a leaf's last port leads to the hub.

use super::{ExactFraction, Family, FamilyPromise, MAX_P, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Star: a hub without endpoints, and n leaves with one link each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarNetwork {
    /// Number of leaves, 1 to 65534.
    pub n: u32,
    /// Endpoints per leaf; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

impl StarNetwork {
    /// Checks the parameters and returns the endpoints per leaf.
    fn checked(&self) -> Result<u32, Refusal> {
        in_range("n", self.n, 1, super::MAX_PORTS)?;
        in_range("p", self.p.unwrap_or(1), 0, MAX_P)
    }
}

impl Family for StarNetwork {
    const NAME: &'static str = "star";

    fn examples() -> Vec<Self> {
        let of = |n, p| Self { n, p };
        vec![of(1, None), of(2, Some(3)), of(7, None), of(1, Some(0)), of(9, Some(0))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (p, n) = (self.checked()?, u64::from(self.n));
        // without endpoints the hub counts, too: n leaves are one hop from it and two hops from
        // each other
        let (edge, diameter, sum) = match (p, self.n) {
            (0, n) => (n + 1, n.min(2), 2 * u64::from(n).pow(2)),
            (_, 1) => (1, 0, 0),
            (_, n) => (n, 2, 2 * u64::from(n) * u64::from(n - 1)),
        };
        let edge = u64::from(edge);
        Ok(FamilyPromise {
            switches: n + 1,
            endpoints: n * u64::from(p),
            links: n,
            network_radix: self.n,
            diameter: PromisedValue::Exact(diameter),
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: sum,
                den: (edge * (edge - 1)).max(1),
            }),
            edge_switches: edge,
            radix: self.n.max(p + 1),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let mut b = TopologyBuilder::new();
        for s in 0..self.n {
            b.switch(Switch::new(format!("star-leaf-{s}")).at(0, vec![0, s]));
        }
        b.switch(Switch { level: 1, ..Switch::new("star-hub").at(0, vec![1, 0]) });
        b.endpoints_on((0..self.n).map(SwitchId), p);
        for s in 0..self.n {
            b.link(SwitchId(s), SwitchId(self.n));
        }
        Ok(b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, refused};
    use super::*;

    #[test]
    fn every_size_to_20_keeps_its_promise() {
        for (n, p) in (1..=20).flat_map(|n| [(n, 0), (n, 1), (n, 3)]) {
            assert_eq!(broken(&StarNetwork { n, p: Some(p) }), Vec::<String>::new(), "n={n} p={p}");
        }
    }

    #[test]
    fn the_limits_hold() {
        let promise = StarNetwork { n: 65_534, p: None }.promise().expect("the largest");
        assert_eq!((promise.switches, promise.radix), (65_535, 65_534));
        for n in [0, 65_535, u32::MAX] {
            assert_eq!(refused(&StarNetwork { n, p: None }).param, "n");
        }
        assert_eq!(refused(&StarNetwork { n: 4, p: Some(4097) }).help, "0 to 4096");
    }
}
