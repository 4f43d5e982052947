//! Paths of packets over any network or tables: they use a guide of the flit level, which is proved
//! free of deadlock.

use super::groups::score;
use super::kind::ModelDefaults;
use crate::event::{ChunkSender, PacketChunk};
use crate::node::NodePorts;
use crate::plant::{LinkClass, SimulatedNetwork};
use crate::runs::EventHandlerContext;
use base::Refusal;
use paths::guide::{PacketPosition, QueueView, RoutingGuide};
use paths::lengths::RouterDistances;
use paths::word::{self, FlitLayout, HOP};

/// The defaults of flyloom's own model.
pub(crate) const PHYSICAL: ModelDefaults =
    ModelDefaults::usual("physical", "Our own: links with latency, buffers at inputs, cut-through");

/// A guide, and the layout of the words that it writes into packets.
pub struct RoutingGuidePaths {
    guide: Box<dyn RoutingGuide + Send>,
    layout: FlitLayout,
    /// Distances between any two routers; none if all paths are shortest ones and the selection of
    /// rails does not need distances.
    lengths: Option<RouterDistances>,
}

/// The load of the ports of a router, as guides see it.
struct PortLoads<'a>(&'a SimulatedNetwork, &'a NodePorts);

impl QueueView for PortLoads<'_> {
    fn used(&self, port: u16) -> u32 {
        score(self.0, self.1, port)
    }

    fn used_at(&self, _: u32, _: u16) -> u32 {
        0 // Guided::new refuses guides that need it
    }
}

impl RoutingGuidePaths {
    /// # Errors
    /// When the guide reads queues at other routers, which the packet level cannot offer.
    pub fn new(
        guide: Box<dyn RoutingGuide + Send>,
        plant: &SimulatedNetwork,
        lengths: Option<RouterDistances>,
    ) -> Result<Self, Refusal> {
        if guide.sees_far() {
            let why = "ugal_g looks at queues of other routers, as they are this very moment";
            return Err(Refusal::new("selection", why, "ugal_l, or the flit level"));
        }
        let targets = plant.endpoints * plant.rails;
        let layout = FlitLayout::new(targets, 1, guide.vias(), 0, 0)?;
        Ok(Self { guide, layout, lengths })
    }

    /// Decisions so far in which a score of the user's was not a number; none of built-in
    /// selections.
    pub(crate) fn undefined_decisions(&self) -> Option<u64> {
        self.guide.undefined_decisions()
    }

    pub(crate) fn length(&self, from: u32, to: u32) -> u32 {
        self.lengths.as_ref().map_or(0, |lengths| lengths.get(from, to).into())
    }

    pub(crate) fn enters(
        &self,
        plant: &SimulatedNetwork,
        packet: &mut PacketChunk,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> u8 {
        let rail = |endpoint: u32| endpoint * plant.rails + u32::from(packet.rail);
        let source = rail(packet.from);
        packet.word = self.layout.packet(rail(packet.to), 0, 0);
        let mut written = word::PacketHeader::new(&mut packet.word, &self.layout);
        let lanes = self.guide.inject(source, &mut written, node.dice(to));
        lanes.trailing_zeros() as u8
    }

    pub(crate) fn next_hop(
        &self,
        plant: &SimulatedNetwork,
        packet: &mut PacketChunk,
        sender: ChunkSender,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> (u16, u8) {
        let mut dice = *node.dice(to);
        let mut here = PacketPosition {
            router: to.me(),
            in_port: plant.comes_by(sender),
            lane: sender.lane - plant.class_of(sender.lane) * plant.lanes_each() as u8,
            sight: &PortLoads(plant, node),
            random: &mut dice,
        };
        let mut written = word::PacketHeader::new(&mut packet.word, &self.layout);
        let want = self.guide.want(&mut here, &mut written);
        packet.word += HOP;
        node.dice = dice;
        if plant.behind(to.me(), want.port).class == LinkClass::Endpoint {
            let links = u32::from(packet.hops);
            let from = plant.at(packet.from, packet.rail).router;
            packet.is_detour = self.lengths.is_some() && links > self.length(from, to.me());
        }
        let first = plant.class_of(sender.lane) * plant.lanes_each() as u8;
        (want.port, emptiest(plant, node, (want.port, first), want.lanes))
    }
}

/// The virtual channel with the fewest chunks queued or in flight; the lowest one if several have
/// the fewest. `lanes` are the eligible channels of the port, a bit each, counted from channel
/// `own`.
fn emptiest(plant: &SimulatedNetwork, node: &NodePorts, (port, own): (u16, u8), lanes: u32) -> u8 {
    let first = usize::from(port) * plant.lanes as usize + usize::from(own);
    let mut best = (u32::MAX, 0);
    let mut left = lanes;
    while left != 0 {
        let lane = left.trailing_zeros();
        left &= left - 1;
        let of = &node.lanes[first + lane as usize];
        let busy = of.chunks + of.waiting;
        if busy < best.0 {
            best = (busy, lane);
        }
    }
    own + best.1 as u8
}
