//! Paths of packets in megaflies, or dragonfly+, as CODES models them (`codes-dfplus-v1`).
//!
//! Packets use virtual channel 0 until they have turned towards their destination in an
//! intermediate group, then 1.

use super::groups::{DetourRule, RouterGroups, any, lowest};
use super::kind::{CODES_MESSAGES, ModelDefaults, ModelPathInputs, PacketPaths};
use super::order::ChannelDirection::{Across, Down, Near};
use super::order::{ChannelKind, KindSuccessors};
use crate::event::{NONE, PacketChunk};
use crate::nic::MessageInjectionProcess;
use crate::node::NodePorts;
use crate::plant::SimulatedNetwork;
use crate::runs::EventHandlerContext;
use crate::timing::{DialectTimingRules, VirtualChannelSendOrder};
use base::Refusal;
use paths::select::PathSelection;

/// The kinds of channels that a packet may take first.
const FIRST: &[ChannelKind] = &[(Near, 0)];
/// Packets go up, across and down; packets on detours do so again, on the other virtual channel.
const STEPS: KindSuccessors = &[
    ((Near, 0), &[(Across, 0), (Down, 0)]),
    ((Across, 0), &[(Down, 0)]),
    ((Down, 0), &[(Near, 1)]),
    ((Near, 1), &[(Across, 1)]),
    ((Across, 1), &[(Down, 1)]),
    ((Down, 1), &[]),
];

/// The defaults of CODES for this model.
pub(crate) const ENTRY: ModelDefaults = ModelDefaults {
    networks: &["megafly:leaves=3,spines=3,p=3,h=3,g=4"],
    selections: Some(&[PathSelection::Minimal, PathSelection::Par]),
    order: Some((FIRST, STEPS)),
    injection: MessageInjectionProcess::Synchronised,
    virtual_channels: 2,
    threshold_bytes: Some(THRESHOLD_BYTES),
    draws_steps: true,
    timing: |usual| DialectTimingRules { order: VirtualChannelSendOrder::Lowest, ..usual },
    messages: Some(CODES_MESSAGES),
    ..ModelDefaults::usual("codes-dfplus-v1", "Megafly, or dragonfly+, as CODES has it")
};

/// `adaptive_threshold` in the megafly of the Fit Fly study, which is more than any port holds.
const THRESHOLD_BYTES: u32 = 131_072;

/// Paths up to a spine, across, and down to a leaf, over at most one intermediate group.
#[derive(Debug, Clone)]
pub struct DragonflyPlusPaths {
    groups: RouterGroups,
    selection: PathSelection,
    /// A minimal path is taken if its score, in chunks, is at most this.
    threshold: u32,
    /// Factor of a detour's score in comparisons.
    weight: u32,
}

impl PacketPaths for DragonflyPlusPaths {
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
        let between = here != first && here != there;
        let turned = packet.is_detour && here != first && packet.via() != here;
        let lane = u8::from(turned);
        if at == end.router {
            return (end.port, lane);
        }
        if here == there {
            let down = self.groups.direct(plant, at, end.router);
            let port = down.unwrap_or_else(|| self.up(plant, at, node, to));
            return (port, lane);
        }
        if between && !self.groups.is_leaf(at) && packet.via() == here {
            // a detour that arrives at a spine goes down to a random leaf, where it turns
            packet.set_via(NONE);
            return (any(self.groups.local(at), node, to), lane);
        }
        if here == first && self.selection == PathSelection::Par {
            return (self.progressive(plant, (at, here, there), packet, node, to), lane);
        }
        (self.minimal(plant, at, there, node, to), lane)
    }

    #[cfg(test)]
    fn leads(&self, router: u32, class: crate::plant::LinkClass) -> super::order::ChannelDirection {
        match class {
            crate::plant::LinkClass::Global => Across,
            _ if self.groups.is_leaf(router) => Near,
            _ => Down,
        }
    }
}

impl DragonflyPlusPaths {
    /// # Errors
    /// When a leaf lacks a link to a spine of its group or has one elsewhere, or a group has no
    /// link to another group.
    fn check(&self, plant: &SimulatedNetwork) -> Result<(), Refusal> {
        let groups = &self.groups;
        let is_whole = |a: u32| {
            let mates =
                |b: &u32| groups.of(*b) == groups.of(a) && groups.is_leaf(*b) != groups.is_leaf(a);
            let mut due: Vec<u32> = (0..plant.routers).filter(mates).collect();
            let mut near: Vec<u32> =
                groups.local(a).iter().map(|port| plant.behind(a, *port).lp).collect();
            near.sort_unstable();
            due.sort_unstable();
            let leads =
                |g: u32| !(groups.global(a, g).is_empty() && groups.towards(a, g).is_empty());
            let others = (0..groups.count()).filter(|g| *g != groups.of(a));
            near == due
                && (!groups.is_leaf(a) || others.clone().all(|g| groups.global(a, g).is_empty()))
                && (!groups.is_leaf(a) || others.clone().all(leads))
                && (groups.is_leaf(a) || others.clone().all(|g| !groups.global(a, g).is_empty()))
        };
        if (0..plant.routers).all(is_whole) {
            return Ok(());
        }
        let why = "codes-dfplus-v1 on another network";
        let help = "a megafly whose spines lead to all groups, or the dialect physical";
        Err(Refusal::new("dialect", why, help))
    }

    /// The best link to another router of the group.
    fn up(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u16 {
        lowest(plant, self.groups.local(at), node, to)
    }

    /// The port towards a group: at a leaf the best link to a spine that leads there; at a spine
    /// any link, or the better of two under adaptive routing.
    fn minimal(
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
        } else if self.selection == PathSelection::Par {
            // the two draws are independent and may give the same link
            let drawn = [any(across, node, to), any(across, node, to)];
            lowest(plant, &drawn, node, to)
        } else {
            any(across, node, to)
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
        let best =
            |group, node: &mut NodePorts, to: &mut _| self.minimal(plant, at, group, node, to);
        weighed.progressive(plant, (at, here, there), packet, (node, to), best)
    }
}
