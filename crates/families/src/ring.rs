//! Rings: every switch is linked to the next and the previous one.
//!
//! Source: Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5.
//!
//! The first port after the endpoints leads to the next switch, the second to the previous one. Two
//! switches have one link, at the first port of both.

use super::{ExactFraction, Family, FamilyPromise, MAX_P, MAX_PORTS, PromisedValue, in_range};
use base::{Refusal, SwitchId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{Cable, CablePlug, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ring: n switches in a cycle.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingNetwork {
    /// Number of switches, 1 to 2^26.
    pub n: u32,
    /// Endpoints per switch; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_N: u32 = 1 << 26;
const _: () = assert!(MAX_P + 2 <= MAX_PORTS);

impl RingNetwork {
    /// Checks the parameters and returns the endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        in_range("n", self.n, 1, MAX_N)?;
        in_range("p", self.p.unwrap_or(1), 0, MAX_P)
    }
}

impl Family for RingNetwork {
    const NAME: &'static str = "ring";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Grid(GridRowLinks::Ring))
    }

    fn examples() -> Vec<Self> {
        let of = |n, p| Self { n, p };
        vec![of(1, None), of(2, Some(3)), of(3, None), of(8, Some(2)), of(15, Some(0))]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (p, n) = (self.checked()?, u64::from(self.n));
        // the distances from a switch to all others add up to floor(n^2 / 4)
        let mean = PromisedValue::Exact(ExactFraction { num: n * n / 4, den: (n - 1).max(1) });
        let links = if n > 2 { n } else { n - 1 };
        let radix = (self.n - 1).min(2);
        let promise =
            FamilyPromise::direct(n, p, links, radix, PromisedValue::Exact(self.n / 2), mean);
        Ok(promise.vertex_transitive())
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (p, n) = (self.checked()?, self.n);
        let mut b = TopologyBuilder::new();
        for s in 0..n {
            b.switch(Switch::new(format!("ring-{s}")).at(0, vec![s]));
        }
        b.endpoints_on((0..n).map(SwitchId), p);
        let plug = |s, port: u32| CablePlug { switch: SwitchId(s), port: port as u16 };
        if n == 2 {
            b.link_at(plug(0, p + 1), plug(1, p + 1), Cable::default());
        }
        for s in (0..n).filter(|_| n > 2) {
            b.link_at(plug(s, p + 1), plug((s + 1) % n, p + 2), Cable::default());
        }
        Ok(b)
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;

    #[test]
    fn every_size_to_40_keeps_its_promise_and_is_a_cycle() {
        for n in 1..=40_u32 {
            let member = RingNetwork { n, p: Some(1) };
            assert_eq!(broken(&member), Vec::<String>::new(), "n={n}");
            let t = built(&member);
            for s in 0..n {
                let found = t.graph().distances_from(s as usize);
                let round = |o: u32| s.abs_diff(o).min(n - s.abs_diff(o));
                assert_eq!(found, (0..n).map(round).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_limits_hold() {
        let promise = RingNetwork { n: MAX_N, p: None }.promise().expect("the largest");
        assert_eq!((promise.links, promise.diameter), (1 << 26, PromisedValue::Exact(1 << 25)));
        for n in [0, MAX_N + 1, u32::MAX] {
            assert_eq!(refused(&RingNetwork { n, p: None }).param, "n");
        }
        assert_eq!(refused(&RingNetwork { n: 4, p: Some(4097) }).help, "0 to 4096");
    }
}
