//! Paths of packets in Slim Fly and Fit Fly as CODES models them (`codes-slimfly-v1`).
//!
//! The virtual channel of a chunk is the number of routers that it has visited; ejection uses 0.

use super::kind::{CODES_MESSAGES, ModelDefaults, ModelPathInputs, PacketPaths};
use super::order::ChannelDirection::On;
use super::order::{ChannelKind, KindSuccessors};
use crate::event::{NONE, PacketChunk};
use crate::node::NodePorts;
use crate::plant::{LinkClass, SimulatedNetwork};
use crate::runs::EventHandlerContext;
use crate::timing::{DialectTimingRules, VirtualChannelSendOrder};
use base::Refusal;
use fabric::Topology;
use paths::select::PathSelection;
use paths::select::RailSelection;

/// The number of random detours that are compared.
const DRAWN: u32 = 4;

/// The kinds of channels that a packet may take first.
const FIRST: &[ChannelKind] = &[(On, 0)];
/// Virtual channels rise by one with every hop.
const STEPS: KindSuccessors =
    &[((On, 0), &[(On, 1)]), ((On, 1), &[(On, 2)]), ((On, 2), &[(On, 3)]), ((On, 3), &[])];

/// The defaults of CODES for this model.
pub(crate) const ENTRY: ModelDefaults = ModelDefaults {
    networks: &["slim_fly:q=5,p=3", "fit_fly:q=5,p=3"],
    selections: Some(&[PathSelection::Minimal, PathSelection::Valiant, PathSelection::UgalL]),
    order: Some((FIRST, STEPS)),
    // CODES has no random rails; its default is the fixed rail
    random_rails: RailSelection::Fixed,
    // CODES divides the transmission time of a full chunk by the number of rails
    shares_chunk_time: true,
    groups: rows_of_switches,
    timing: |usual| DialectTimingRules { order: VirtualChannelSendOrder::Highest, ..usual },
    messages: Some(CODES_MESSAGES),
    ..ModelDefaults::usual("codes-slimfly-v1", "Slim Fly and Fit Fly as CODES has them")
};

/// The group of every router: groups are rows of `q` consecutive routers.
fn rows_of_switches(on: &Topology) -> Result<Vec<u32>, Refusal> {
    let q = row(on)?;
    Ok((0..on.switches().len() as u32).map(|router| router / q).collect())
}

/// The parameter q of a network whose planes have 2 q^2 routers.
fn row(on: &Topology) -> Result<u32, Refusal> {
    let planes = u32::from(on.planes()).max(1);
    let routers = on.switches().len() as u32 / planes;
    let q = (f64::from(routers) / 2.0).sqrt().round() as u32;
    if q > 0 && 2 * q * q == routers && routers * planes == on.switches().len() as u32 {
        return Ok(q);
    }
    let why = format!("codes-slimfly-v1 on {}", on.recipe());
    Err(Refusal::new("dialect", why, "slim_fly or fit_fly, or the dialect physical"))
}

/// Paths within planes whose routers are at most two links apart.
#[derive(Debug, Clone)]
pub struct SlimFlyPaths {
    /// Number of routers of each plane.
    routers: u32,
    /// Number of routers of each group; their numbers are consecutive.
    group: u32,
    /// The port from each router of a plane towards each other one.
    next: Vec<u8>,
    /// The selection: how packets choose among paths.
    selection: PathSelection,
}

impl PacketPaths for SlimFlyPaths {
    fn new(request: &ModelPathInputs<'_>) -> Result<Self, Refusal> {
        let ModelPathInputs { on, plant, selection, .. } = *request;
        let route = Self::of(plant, u32::from(on.planes()).max(1), row(on)?, selection);
        route.check(plant)?;
        Ok(route)
    }

    #[inline]
    fn next_hop(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        packet: &mut PacketChunk,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> (u16, u8) {
        let end = plant.at(packet.to, packet.rail);
        if packet.hops == 0 {
            match self.selection {
                PathSelection::Valiant => {
                    packet.set_via(self.detour(at, node, to));
                    packet.is_detour = true;
                }
                PathSelection::UgalL if at != end.router => {
                    packet.set_via(self.adaptive(plant, at, end.router, node, to));
                    packet.is_detour = packet.via() != NONE;
                }
                _ => {}
            }
        }
        if packet.via() == at {
            packet.set_via(NONE);
        }
        // a detour ends early if it passes the destination's router
        if at == end.router {
            return (end.port, 0);
        }
        let target = if packet.via() == NONE { end.router } else { packet.via() };
        (self.next(at, target), packet.hops)
    }

    fn length(&self, plant: &SimulatedNetwork, from: u32, to: u32) -> u32 {
        self.links(plant, from, to)
    }

    #[cfg(test)]
    fn leads(&self, _: u32, _: LinkClass) -> super::order::ChannelDirection {
        On
    }
}

impl SlimFlyPaths {
    /// The paths in planes with groups of `group` routers; all planes are cabled like the first.
    /// O(routers x radix^2).
    fn of(plant: &SimulatedNetwork, planes: u32, group: u32, selection: PathSelection) -> Self {
        let routers = plant.routers / planes;
        let mut next = vec![u8::MAX; routers as usize * routers as usize];
        let links = |router: u32| {
            let mut all: Vec<(bool, u32, u8)> = (0..plant.ports(router) as u16)
                .map(|port| (plant.behind(router, port), port as u8))
                .filter(|(behind, _)| behind.class != LinkClass::Endpoint)
                // links between groups come first, in the order of the routers at their far ends
                .map(|(behind, port)| (behind.class == LinkClass::Local, behind.lp, port))
                .collect();
            all.sort_unstable();
            all
        };
        let all: Vec<Vec<(bool, u32, u8)>> = (0..routers).map(links).collect();
        for (own, row) in all.iter().zip(next.chunks_mut(routers.max(1) as usize)) {
            for &(_, other, port) in own {
                row[other as usize] = port;
            }
            for &(_, middle, port) in own {
                for &(_, other, _) in &all[middle as usize] {
                    if row[other as usize] == u8::MAX {
                        row[other as usize] = port;
                    }
                }
            }
        }
        Self { routers, group, next, selection }
    }

    /// # Errors
    /// When routers are more than two links apart, planes differ, or endpoints are not numbered in
    /// the order of their routers.
    fn check(&self, plant: &SimulatedNetwork) -> Result<(), Refusal> {
        let all = self.routers as usize;
        let far = (0..all * all).any(|at| at / all != at % all && self.next[at] == u8::MAX);
        let alike = |router: u32| {
            let (own, first) = (plant.all(router), plant.all(router % self.routers));
            own.zip(first).all(|(a, b)| {
                a.class == b.class
                    && (a.class == LinkClass::Endpoint || a.lp % self.routers == b.lp)
            })
        };
        let each = plant.endpoints / self.routers.max(1);
        let first = |endpoint: u32| plant.at(endpoint, 0).router * each.max(1) <= endpoint;
        let ordered = (1..plant.endpoints)
            .all(|e| plant.at(e - 1, 0).router <= plant.at(e, 0).router && first(e));
        if !far && ordered && (0..plant.routers).all(alike) {
            return Ok(());
        }
        let why = "codes-slimfly-v1 on another network";
        Err(Refusal::new("dialect", why, "slim_fly or fit_fly, or the dialect physical"))
    }

    /// The port of a router towards another router of its plane.
    #[inline]
    fn next(&self, from: u32, to: u32) -> u16 {
        let at = self.first(from) as usize * self.routers as usize;
        self.next[at + self.first(to) as usize].into()
    }

    /// The router of the first plane that corresponds to a router of any plane.
    #[inline]
    fn first(&self, router: u32) -> u32 {
        // a division is slow, and most networks have one or two planes
        let less = router.wrapping_sub(self.routers).min(router);
        if less < self.routers { less } else { less % self.routers }
    }

    /// Links of the shortest path from a router to another one of its plane.
    fn links(&self, plant: &SimulatedNetwork, from: u32, to: u32) -> u32 {
        if from == to { 0 } else { 1 + u32::from(plant.behind(from, self.next(from, to)).lp != to) }
    }

    /// A random router of another group, in the plane of router `at`.
    fn detour(&self, at: u32, node: &mut NodePorts, to: &mut impl EventHandlerContext) -> u32 {
        let plane = at / self.routers * self.routers;
        let drawn = node.dice(to).below(self.routers);
        let is_near = drawn / self.group == (at - plane) / self.group;
        plane + if is_near { (drawn + self.group) % self.routers } else { drawn }
    }

    /// An intermediate router whose path is cheaper than the minimal one, judged by the queues of
    /// this router; [`NONE`] if there is no such router.
    fn adaptive(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        end: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u32 {
        let plane = at / self.routers * self.routers;
        let bytes = |node: &NodePorts, port: u16| {
            let lane = usize::from(port) * plant.lanes as usize;
            f64::from(node.lanes[lane].chunks) * f64::from(plant.chunk_bytes)
        };
        let direct = f64::from(self.links(plant, at, end));
        let mut best = bytes(node, self.next(at, end)).trunc();
        let mut via = NONE;
        for _ in 0..DRAWN {
            let mut drawn = node.dice(to).below(self.routers);
            if plane + drawn == end {
                drawn = (drawn + 1) % (self.routers - 1);
            }
            let drawn = plane + drawn;
            if drawn == at {
                continue;
            }
            let links = self.links(plant, at, drawn) + self.links(plant, drawn, end);
            let cost = f64::from(links) / direct * bytes(node, self.next(at, drawn));
            if cost < best {
                best = cost.trunc();
                via = drawn;
            }
        }
        via
    }
}
