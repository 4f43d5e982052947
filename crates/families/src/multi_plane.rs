//! Several planes of one network: every endpoint has a rail in each.
//!
//! Source: `McGlohon` et al., "Fit Fly: a case study on interconnect innovation through parallel
//! simulation", SIGSIM-PADS 2019, for planes of which every second one is mirrored.
//!
//! Plane j is a copy of the network with the same switches and ports; groups are numbered through
//! all planes, and coordinates begin with the plane. Rail j of endpoint i is on the switch where
//! endpoint i is in the network. With the mirrored map, rail j of endpoint i in planes 1, 3, ... is
//! on the switch of endpoint N - 1 - i of the N endpoints.

use super::{Family, FamilyPromise, family, in_range};
use base::{Refusal, SwitchId};
use fabric::geometry::NetworkGeometry;
use fabric::network::parse_inline;
use fabric::network::{CablePlug, Switch, Topology, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Multi-plane network: copies of a network that share nothing but the endpoints.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiPlane {
    /// Planes, and rails of an endpoint.
    pub planes: u32,
    /// Where endpoints are in each plane; default equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<PlaneEndpointOrder>,
    /// The network of a plane, in its inline form; in an inline form the last parameter.
    pub of: String,
}

/// Where the endpoints are in the planes after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "PlaneMap")]
pub enum PlaneEndpointOrder {
    /// Every endpoint is on the same switch in every plane.
    Equal,
    /// In planes 1, 3, ... endpoints are in opposite order: the first is on the switch of the last
    /// one in plane 0.
    Mirrored,
}

/// The most planes.
pub const MAX_PLANES: u32 = 64;

/// `planes` copies of `one`; the endpoints have a rail in each. O(planes times the network).
pub(super) fn copies(one: &Topology, planes: u32, map: PlaneEndpointOrder) -> TopologyBuilder {
    let mut b = TopologyBuilder::new();
    let (switches, groups) = (one.switches(), 1 + most(one, |s| s.group));
    let inner = 1 + most(one, |s| s.plane.into());
    for plane in 0..planes {
        for s in switches {
            let mut coordinates = vec![plane];
            coordinates.extend(&s.coordinates);
            let name = format!("p{plane}-{}", s.name);
            let copy = Switch { name, plane: (plane * inner) as u16 + s.plane, ..s.clone() };
            b.switch(copy.at(plane * groups + s.group, coordinates));
        }
    }
    let plug = |plane: u32, plug: CablePlug| CablePlug {
        switch: SwitchId(plane * switches.len() as u32 + plug.switch.0),
        port: plug.port,
    };
    let endpoints = one.endpoints().len();
    let mut rails = vec![Vec::new(); endpoints];
    for terminal in one.terminals() {
        rails[terminal.endpoint.ix()].push((terminal.plug, terminal.cable));
    }
    for (i, endpoint) in one.endpoints().iter().enumerate() {
        let id = b.endpoint(endpoint.name.clone(), None);
        for plane in 0..planes {
            let mirrored = map == PlaneEndpointOrder::Mirrored && plane % 2 == 1;
            for &(at, cable) in &rails[if mirrored { endpoints - 1 - i } else { i }] {
                let at = plug(plane, at);
                b.attach(id, at.switch, at.port, cable);
            }
        }
    }
    for plane in 0..planes {
        for link in one.links() {
            b.link_at(plug(plane, link.a), plug(plane, link.b), link.cable);
        }
    }
    b
}

fn most(t: &Topology, number: impl Fn(&Switch) -> u32) -> u32 {
    t.switches().iter().map(number).max().unwrap_or(0)
}

/// The promise of `planes` copies of a network with promise `one`.
///
/// # Errors
/// Refuses `planes` when there are more than 2^32 switches or links in all.
pub(super) fn promise_of(one: FamilyPromise, planes: u32) -> Result<FamilyPromise, Refusal> {
    let times = u64::from(planes);
    let all = one.switches.max(one.links).saturating_mul(times);
    if all > u64::from(u32::MAX) {
        let why = format!("{planes} planes of {} links are too large", one.links);
        let most = u64::from(u32::MAX) / one.switches.max(one.links).max(1);
        return Err(Refusal::new("planes", why, format!("at most {}", most.max(1))));
    }
    Ok(FamilyPromise {
        switches: one.switches * times,
        links: one.links * times,
        edge_switches: one.edge_switches * times,
        planes: one.planes * planes,
        ..one
    })
}

impl MultiPlane {
    fn planes(&self) -> Result<u32, Refusal> {
        in_range("planes", self.planes, 1, MAX_PLANES)
    }

    /// The family of a plane and its parameters.
    fn inner(
        &self,
    ) -> Result<(&'static super::FamilyEntry, fabric::network::NetworkRecipe), Refusal> {
        let within = |r: Refusal| r.within("of");
        let recipe = parse_inline(&self.of).map_err(within)?;
        if recipe.family == Self::NAME {
            let why = "planes of planes are planes";
            return Err(Refusal::new("of", why, "multiply the numbers of planes"));
        }
        Ok((family(&recipe.family).map_err(within)?, recipe))
    }
}

impl Family for MultiPlane {
    const NAME: &'static str = "multi_plane";

    fn geometry(&self) -> NetworkGeometry {
        let of = self.inner().and_then(|(entry, recipe)| entry.geometry(&recipe.params));
        of.unwrap_or_default().in_planes()
    }

    fn notes(&self) -> Vec<String> {
        let of = self.inner().and_then(|(entry, recipe)| entry.notes(&recipe.params));
        of.unwrap_or_default()
    }

    fn examples() -> Vec<Self> {
        let of = |planes, map, of: &str| Self { planes, map, of: of.into() };
        vec![
            of(2, None, "slim_fly:q=3,p=1"),
            of(3, Some(PlaneEndpointOrder::Mirrored), "hyperx:shape=3x2,p=2"),
            of(2, Some(PlaneEndpointOrder::Mirrored), "fat_tree:leaves=4,spines=2,parallel=2,p=2"),
            of(1, Some(PlaneEndpointOrder::Equal), "torus:shape=4,p=1"),
            of(2, None, "xgft:m=2x3,w=2x1"),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let planes = self.planes()?;
        let (entry, recipe) = self.inner()?;
        promise_of(entry.promise(&recipe.params).map_err(|r| r.within("of"))?, planes)
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        self.promise()?;
        let (entry, recipe) = self.inner()?;
        let one = entry.build(&recipe.params).map_err(|r| r.within("of"))?;
        Ok(copies(&one, self.planes, self.map.unwrap_or(PlaneEndpointOrder::Equal)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FAMILIES, recipe};
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::PortPeer;
    use std::collections::BTreeSet;

    fn of(planes: u32, map: PlaneEndpointOrder, of: &str) -> MultiPlane {
        MultiPlane { planes, map: Some(map), of: of.into() }
    }

    fn built(member: &MultiPlane) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// Every example of every family in three planes: each plane equals the network, port by port.
    #[test]
    fn planes_are_copies_of_every_family() {
        for inner in FAMILIES.iter().flat_map(super::super::FamilyEntry::examples) {
            if inner.family == MultiPlane::NAME {
                continue;
            }
            let one = family(&inner.family).unwrap().build(&inner.params).expect("an example");
            let member = of(3, PlaneEndpointOrder::Mirrored, &inner.to_string());
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            assert_eq!(broken_promises(&promise, &t), Vec::<String>::new(), "{inner}");
            assert_eq!(t.planes(), 3 * one.planes(), "{inner}");
            let n = one.switches().len();
            for s in 0..3 * n {
                let there = &one.switches()[s % n];
                assert_eq!(t.switches()[s].ports, there.ports);
                for port in 0..=there.ports {
                    let [copy, original] = [(&t, s), (&one, s % n)].map(|(t, s)| {
                        match t.peer(SwitchId::from(s), port) {
                            PortPeer::Switch(c) => Some(t.head(c)),
                            _ => None,
                        }
                    });
                    let moved = original.map(|plug| CablePlug {
                        switch: SwitchId::from(s / n * n + plug.switch.ix()),
                        port: plug.port,
                    });
                    assert_eq!(copy, moved, "{inner}");
                }
            }
            let groups: BTreeSet<u32> = t.switches().iter().map(|s| s.group).collect();
            let before: BTreeSet<u32> = one.switches().iter().map(|s| s.group).collect();
            assert_eq!(groups.len(), 3 * before.len(), "{inner}");
        }
    }

    #[test]
    fn mirrored_rails_run_from_the_other_end_and_equal_ones_do_not() {
        for map in [PlaneEndpointOrder::Equal, PlaneEndpointOrder::Mirrored] {
            let t = built(&of(4, map, "torus:shape=5,p=2"));
            for terminal in t.terminals() {
                let (i, plane) = (terminal.endpoint.0, u32::from(terminal.rail));
                let mirrored = map == PlaneEndpointOrder::Mirrored && [1, 3].contains(&plane);
                let router = if mirrored { 4 - i / 2 } else { i / 2 };
                assert_eq!(terminal.plug.switch.0, plane * 5 + router);
                assert_eq!(
                    u32::from(t.plane_of(base::TerminalId::from(i as usize * 4 + plane as usize))),
                    plane
                );
            }
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let equal = PlaneEndpointOrder::Equal;
        let cases = [
            (of(0, equal, "torus:shape=4"), "planes", "1 to 64"),
            (of(65, equal, "torus:shape=4"), "planes", "1 to 64"),
            (of(2, equal, "slim_fly:q=6"), "of: slim_fly: q", "nearest: 5, 7"),
            (of(2, equal, "no_such:q=6"), "of: topology", "families: "),
            (of(2, equal, "torus:shape"), "of: torus", "write key=value"),
            (of(2, equal, "multi_plane:planes=2,of=torus:shape=4"), "of", "multiply"),
            (of(64, equal, "torus:shape=1024x1024x1024"), "planes", "at most 1"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!(refusal.param, param, "{refusal}");
            assert!(refusal.help.contains(help), "{refusal}");
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
