//! PolarFly: the polarity graphs of Erdos and Renyi over GF(q), diameter 2.
//!
//! Source: Lakhotia et al., "PolarFly: a cost-effective and flexible low-diameter topology",
//! SC 2022, sections IV and V.
//!
//! Groups are the clusters of the paper: the quadrics, then for each neighbour of the first quadric
//! that neighbour and its own neighbours. Ports come in the order of the switches they lead to.

use super::algebra::{PolarityGraphCounts, ProjectivePlane, endpoints, one_of, sized};
use super::wish::NetworkWish;
use super::{ExactFraction, Family, FamilyPromise, PromisedValue};
use base::field::prime_power;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// PolarFly: diameter 2 with q^2 + q + 1 switches of network radix q + 1.
///
/// Switches are the points of the projective plane over GF(q); two are linked when their dot
/// product is 0. The q + 1 points orthogonal to themselves (quadrics) have one link less.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolarFly {
    /// Order of the field: a prime power from 2 to 256.
    pub q: u32,
    /// Endpoints per switch; the default is half the network radix, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_Q: u32 = 256;

impl PolarFly {
    /// Checks the parameters and returns the endpoints per switch.
    fn checked(&self) -> Result<u32, Refusal> {
        one_of("q", self.q, MAX_Q, "a prime power", |q| prime_power(q).is_some())?;
        endpoints(self.p, self.q + 1, 2)
    }
}

impl Family for PolarFly {
    const NAME: &'static str = "polar_fly";

    fn examples() -> Vec<Self> {
        let mut members = [2, 3, 4, 5, 7, 8].map(|q| Self { q, p: None }).to_vec();
        members.extend([Self { q: 9, p: Some(0) }, Self { q: 11, p: Some(1) }]);
        members
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let p = self.checked()?;
        let PolarityGraphCounts { points, adjacent, .. } = PolarityGraphCounts::new(self.q);
        let pairs = points * (points - 1);
        let mean = PromisedValue::Exact(ExactFraction { num: 2 * pairs - adjacent, den: pairs });
        let radix = self.q + 1;
        Ok(FamilyPromise::direct(points, p, adjacent / 2, radix, PromisedValue::Exact(2), mean))
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let p = self.checked()?;
        let plane = ProjectivePlane::new(self.q)?;
        let mut b = TopologyBuilder::new();
        for (u, group) in (0..).zip(plane.clusters()) {
            let [x, y, z] = plane.at(u);
            b.switch(Switch::new(format!("polar-{x}-{y}-{z}")).at(group, vec![x, y, z]));
        }
        b.endpoints_on((0..plane.points()).map(SwitchId), p);
        for (u, v) in plane.links() {
            b.link(SwitchId(u), SwitchId(v));
        }
        Ok(b)
    }

    fn near(wish: &NetworkWish) -> Vec<Self> {
        let most = MAX_Q.min(wish.radix);
        (2..=most).filter_map(|q| sized(wish, |p| Self { q, p })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::algebra::testing::{broken, built, refused};
    use super::*;

    #[test]
    fn every_order_to_27_keeps_its_promise() {
        for q in (2..=27).filter(|&q| prime_power(q).is_some()) {
            let member = PolarFly { q, p: Some(1) };
            assert_eq!(broken(&member), Vec::<String>::new(), "q={q}");
        }
    }

    /// The friendship property: two points have one point orthogonal to both, so that two switches
    /// that are not linked have exactly one common neighbour.
    #[test]
    fn switches_two_hops_apart_have_one_common_neighbour() {
        for q in [2, 4, 5, 9] {
            let t = built(&PolarFly { q, p: Some(0) });
            let n = t.switches().len();
            let near = |v: usize| t.graph().neighbours(v);
            for (u, v) in (0..n).flat_map(|u| (0..u).map(move |v| (u, v))) {
                if !near(u).contains(&(v as u32)) {
                    assert_eq!(near(u).iter().filter(|w| near(v).contains(w)).count(), 1);
                }
            }
            assert_eq!((0..n).filter(|&v| near(v).len() as u32 == q).count() as u32, q + 1);
        }
    }

    #[test]
    fn orders_without_a_plane_are_refused() {
        for q in [0, 1, 6, 10, 12, 255, 257, u32::MAX] {
            assert_eq!(refused(&PolarFly { q, p: None }).param, "q", "q={q}");
        }
        assert_eq!(refused(&PolarFly { q: 6, p: None }).help, "nearest: 5, 7");
        assert_eq!(refused(&PolarFly { q: 5, p: Some(4097) }).help, "0 to 4096");
        let promise = PolarFly { q: 256, p: None }.promise().expect("the largest");
        assert_eq!((promise.switches, promise.endpoints), (65_793, 65_793 * 129));
    }
}
