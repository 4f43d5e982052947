//! Fit Fly: planes of a Slim Fly; every second plane has the endpoints in opposite order.
//!
//! Source: `McGlohon` et al., "Fit Fly: a case study on interconnect innovation through parallel
//! simulation", SIGSIM-PADS 2019; the mapping as in the `slimfly` model of CODES.
//!
//! Endpoint t is in plane j on router t / p, rounded down, if j is even, and on router n - 1 - t /
//! p of the plane's n routers if j is odd. Groups (columns) are numbered through all planes.

use super::multi_plane::{MAX_PLANES, PlaneEndpointOrder, copies, promise_of};
use super::slim_fly::SlimFly;
use super::wish::NetworkWish;
use super::{Family, FamilyPromise, in_range, recipe};
use base::Refusal;
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::TopologyBuilder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fit Fly: `planes` Slim Flies that share the endpoints, which have a rail in each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FitFly {
    /// Order of the field: a prime power with q mod 4 = 0, 1 or 3.
    pub q: u32,
    /// Endpoints per switch; the published default is half the network radix, rounded down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
    /// Planes, and rails of an endpoint; default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planes: Option<u32>,
    /// Where endpoints are in each plane; default mirrored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<PlaneEndpointOrder>,
}

impl FitFly {
    /// The Slim Fly of a plane, and the number of planes.
    fn checked(&self) -> Result<(SlimFly, u32), Refusal> {
        let planes = in_range("planes", self.planes.unwrap_or(2), 1, MAX_PLANES)?;
        let radix = SlimFly { q: self.q, p: Some(0) }.promise()?.network_radix;
        Ok((SlimFly { q: self.q, p: Some(self.p.unwrap_or(radix / 2)) }, planes))
    }
}

impl Family for FitFly {
    const NAME: &'static str = "fit_fly";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Columns).in_planes()
    }

    fn examples() -> Vec<Self> {
        let of = |q, p, planes, map| Self { q, p, planes, map };
        vec![
            of(3, None, None, None),
            of(4, Some(1), Some(3), None),
            of(3, Some(2), Some(2), Some(PlaneEndpointOrder::Equal)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (one, planes) = self.checked()?;
        promise_of(one.promise()?, planes)
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (one, planes) = self.checked()?;
        let one = one.build()?.finish(recipe(&one))?;
        Ok(copies(&one, planes, self.map.unwrap_or(PlaneEndpointOrder::Mirrored)))
    }

    /// Two planes of every Slim Fly that may fit the wish.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |one: SlimFly| Self { q: one.q, p: one.p, planes: None, map: None };
        SlimFly::near(wish).into_iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ExactFraction, PromisedValue};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;

    fn built(member: &FitFly) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    fn plain(q: u32) -> FitFly {
        FitFly { q, p: None, planes: None, map: None }
    }

    /// The configuration of the study: 3,042 nodes, 9 per router; 676 routers of 28 ports in 52
    /// groups, 169 global ports and 117 nodes per group; and 8,788 global ports in all, for which
    /// the paper prints 9,464 (it counts 182 per group).
    #[test]
    fn the_published_configuration_comes_out() {
        let (promise, t) = (plain(13).promise().expect("a member"), built(&plain(13)));
        assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
        assert_eq!((promise.endpoints, promise.switches, promise.radix), (3042, 676, 28));
        assert_eq!((t.planes(), t.concentration(), t.terminals().len()), (2, 9, 6084));
        let mut global = vec![0; 52];
        let mut inside = 0;
        for link in t.links() {
            let [x, y] = [link.a, link.b].map(|plug| t.switches()[plug.switch.ix()].group);
            if x == y {
                inside += 1;
            } else {
                global[x as usize] += 1;
                global[y as usize] += 1;
            }
        }
        assert!(global.iter().all(|&ports| ports == 169), "{global:?}");
        assert_eq!((global.iter().sum::<u32>(), inside), (8788, 52 * 13 * 6 / 2));
        assert!((0..52).all(|g| {
            let on = |s: &base::SwitchId| t.switches()[s.ix()].group == g;
            t.terminals().iter().filter(|rail| on(&rail.plug.switch)).count() == 117
        }));
        let others = 2 * 169 - 1;
        let mean = ExactFraction { num: 2 * others - 19, den: others };
        assert_eq!(promise.mean_distance, PromisedValue::Exact(mean));
    }

    /// The rule of CODES: terminal t on router t / p in even planes, on n - 1 - t / p in odd ones.
    #[test]
    fn endpoints_are_mirrored_in_odd_planes() {
        for (q, p, planes) in [(5, 3, 3), (4, 2, 2), (7, 1, 4)] {
            let member = FitFly { q, p: Some(p), planes: Some(planes), map: None };
            let (t, n) = (built(&member), 2 * q * q);
            for (i, rail) in t.terminals().iter().enumerate() {
                let (host, plane) = (i as u32 / planes, i as u32 % planes);
                let router = if plane % 2 == 0 { host / p } else { n - 1 - host / p };
                assert_eq!(rail.plug.switch.0, plane * n + router);
                assert_eq!((rail.endpoint.0, u32::from(rail.rail)), (host, plane));
            }
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let cases = [
            (plain(6), "q", "nearest: 5, 7"),
            (FitFly { planes: Some(0), ..plain(5) }, "planes", "1 to 64"),
            (FitFly { planes: Some(u32::MAX), ..plain(5) }, "planes", "1 to 64"),
            (FitFly { p: Some(u32::MAX), ..plain(5) }, "p", "at most 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
