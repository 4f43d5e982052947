//! Paths of packets in dragonflies as CODES models them (`codes-dally-v1`).
//!
//! Virtual channels: in the source's group, the number of local links crossed so far, or 1 once an
//! earlier router has chosen a detour; 2 in the intermediate group; 3 in the destination's group if
//! it is not the source's. Ejection uses the channel of the group that the packet is in.

use super::groups::{DetourRule, RouterGroups, any, better_of_two, lowest};
use super::kind::{CODES_MESSAGES, ModelDefaults, ModelPathInputs, PacketPaths, RATE};
use super::order::ChannelDirection::{Across, Near};
use super::order::{ChannelKind, KindSuccessors};
use crate::event::PacketChunk;
use crate::nic::MessageInjectionProcess;
use crate::node::NodePorts;
use crate::plant::SimulatedNetwork;
use crate::runs::EventHandlerContext;
use crate::timing::{DialectTimingRules, ForwardingRule, RandomDelay};
use base::Refusal;
use paths::select::PathSelection;

/// The kinds of channels that a packet may take first: in the source's group, or to another group.
const FIRST: &[ChannelKind] = &[(Near, 0), (Near, 1), (Across, 0), (Across, 1)];
/// A packet takes at most one local channel to a router with a link to the next group, then that
/// link; it does the same in the intermediate group; then it takes a local channel to its last
/// router.
const STEPS: KindSuccessors = &[
    ((Near, 0), &[(Across, 1)]),
    ((Near, 1), &[(Across, 1)]),
    ((Across, 0), &[(Near, 2), (Across, 2), (Near, 3)]),
    ((Across, 1), &[(Near, 2), (Across, 2), (Near, 3)]),
    ((Near, 2), &[(Across, 2)]),
    ((Across, 2), &[(Near, 3)]),
    ((Near, 3), &[]),
];

/// The defaults of CODES for this model.
pub(crate) const ENTRY: ModelDefaults = ModelDefaults {
    networks: &["dragonfly:h=2", "dragonfly:h=3", "dragonfly:p=2,a=4,h=4,g=5"],
    selections: Some(&[PathSelection::Minimal, PathSelection::Par]),
    order: Some((FIRST, STEPS)),
    injection: MessageInjectionProcess::Synchronised,
    rates_gib_per_s: [RATE, 2.0 * RATE, RATE / 2.0],
    threshold_bytes: Some(0),
    draws_steps: true,
    timing: |usual| DialectTimingRules {
        jitter: RandomDelay { more_ps: 0, ..usual.jitter },
        waking: None,
        passing: ForwardingRule::Twice,
        begins_late: true,
        ..usual
    },
    messages: Some(CODES_MESSAGES),
    ..ModelDefaults::usual("codes-dally-v1", "Dragonfly as CODES has it")
};

/// Paths over at most one intermediate group.
#[derive(Debug, Clone)]
pub struct DragonflyDallyPaths {
    groups: RouterGroups,
    selection: PathSelection,
    /// A minimal path is taken if its score, in chunks, is at most this.
    threshold: u32,
    /// Factor of a detour's score in comparisons.
    weight: u32,
}

impl PacketPaths for DragonflyDallyPaths {
    fn new(request: &ModelPathInputs<'_>) -> Result<Self, Refusal> {
        let route = Self {
            groups: RouterGroups::new(request.on, request.plant),
            selection: request.selection,
            threshold: request.threshold_chunks(),
            weight: request.detour_weight,
        };
        route.check(request.plant)?;
        Ok(route)
    }

    fn next_hop(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        packet: &mut PacketChunk,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> (u16, u8) {
        let end = plant.at(packet.to, packet.rail);
        let (here, there) = (self.groups.of(at), self.groups.of(end.router));
        let first = self.groups.of(plant.at(packet.from, packet.rail).router);
        let near = packet.hops.min(1);
        if here == there {
            let port = if at == end.router {
                end.port
            } else {
                self.groups.direct(plant, at, end.router).unwrap_or(0)
            };
            return (port, if here == first { near } else { 3 });
        }
        let is_adaptive = self.selection == PathSelection::Par;
        if here != first {
            let port = if is_adaptive {
                self.best(plant, at, there, node, to)
            } else {
                self.minimal(at, there, node, to)
            };
            return (port, 2);
        }
        // as in CODES, this decision affects the virtual channel only from the next router on
        let lane = if packet.is_detour { 1 } else { near };
        let port = if is_adaptive {
            self.progressive(plant, (at, here, there), packet, node, to)
        } else {
            self.minimal(at, there, node, to)
        };
        (port, lane)
    }
}

impl DragonflyDallyPaths {
    /// # Errors
    /// When a router lacks a link to another router of its group, or a group has no link to another
    /// group.
    fn check(&self, plant: &SimulatedNetwork) -> Result<(), Refusal> {
        let groups = &self.groups;
        let routers = 0..plant.routers;
        let is_whole = |a: u32| {
            let mates = (0..plant.routers).filter(|b| *b != a && groups.of(*b) == groups.of(a));
            let near: Vec<u32> =
                groups.local(a).iter().map(|port| plant.behind(a, *port).lp).collect();
            mates.clone().all(|b| near.contains(&b))
                && (0..groups.count())
                    .all(|g| g == groups.of(a) || !self.candidates(a, g).is_empty())
        };
        if routers.clone().all(is_whole) {
            return Ok(());
        }
        let why = "codes-dally-v1 on another network";
        let help = "a dragonfly whose groups are all linked, or the dialect physical";
        Err(Refusal::new("dialect", why, help))
    }

    /// A random link to a group or, at a router without one, to a router that has one.
    fn minimal(
        &self,
        at: u32,
        there: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u16 {
        any(self.candidates(at, there), node, to)
    }

    fn candidates(&self, at: u32, there: u32) -> &[u16] {
        let across = self.groups.global(at, there);
        if across.is_empty() { self.groups.towards(at, there) } else { across }
    }

    /// The best port towards a group: among links to it the better of two random ones, otherwise
    /// the best of all links to routers that have one.
    fn best(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        there: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u16 {
        let across = self.groups.global(at, there);
        if across.is_empty() {
            lowest(plant, self.groups.towards(at, there), node, to)
        } else {
            better_of_two(plant, across, node, to)
        }
    }

    /// Progressive adaptive routing (PAR) in the source's group.
    fn progressive(
        &self,
        plant: &SimulatedNetwork,
        (at, here, there): (u32, u32, u32),
        packet: &mut PacketChunk,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u16 {
        let weighed =
            DetourRule { groups: &self.groups, threshold: self.threshold, weight: self.weight };
        let best = |group, node: &mut NodePorts, to: &mut _| self.best(plant, at, group, node, to);
        weighed.progressive(plant, (at, here, there), packet, (node, to), best)
    }
}
