//! The ways of packets: one kind a dialect, and one for all networks and tables.

use super::event::{Packet, Sender};
use super::guided::Guided;
use super::node::Node;
use super::order::{Kind, Steps};
use super::plant::Plant;
use super::runs::Runs;
use super::{dally, dfplus, slim_fly};

/// How packets find their ways.
pub enum Route {
    /// By proved candidates, as the flit level.
    Guided(Guided),
    /// Slim Fly and Fit Fly as CODES has them.
    SlimFly(slim_fly::Route),
    /// Dragonfly as CODES has it.
    Dally(dally::Route),
    /// Megafly as CODES has it.
    DfPlus(dfplus::Route),
}

impl Route {
    /// Makes a packet ready for its way, at its endpoint, and returns its first virtual channel.
    #[inline]
    pub(super) fn enters(
        &self,
        plant: &Plant,
        packet: &mut Packet,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> u8 {
        match self {
            Self::Guided(route) => route.enters(plant, packet, node, to),
            _ => 0,
        }
    }

    /// The port and virtual channel of a packet at a router; what it has decided is kept in it.
    #[inline]
    pub(super) fn way(
        &self,
        plant: &Plant,
        packet: &mut Packet,
        sender: Sender,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> (u16, u8) {
        let at = to.me();
        match self {
            Self::Guided(route) => route.way(plant, packet, sender, node, to),
            Self::SlimFly(route) => route.way(plant, at, packet, node, to),
            Self::Dally(route) => route.way(plant, at, packet, node, to),
            Self::DfPlus(route) => route.way(plant, at, packet, node, to),
        }
    }

    /// Links of the shortest way between two routers of a plane, where it is known.
    pub(super) fn length(&self, plant: &Plant, from: u32, to: u32) -> u32 {
        match self {
            Self::Guided(route) => route.length(from, to),
            Self::SlimFly(route) => route.links(plant, from, to),
            Self::Dally(_) | Self::DfPlus(_) => 0,
        }
    }

    /// The steps of a dialect, and the kinds of its first channels; none of guides, which are
    /// proved elsewhere.
    pub(super) fn steps(&self) -> Option<(&'static [Kind], Steps)> {
        match self {
            Self::Guided(_) => None,
            Self::SlimFly(_) => Some((slim_fly::FIRST, slim_fly::STEPS)),
            Self::Dally(_) => Some((dally::FIRST, dally::STEPS)),
            Self::DfPlus(_) => Some((dfplus::FIRST, dfplus::STEPS)),
        }
    }
}
