//! The cycle of packets that wait for one another if a run deadlocks.

use super::event::{ChunkSender, PacketChunk};
use super::model::{NodeState, PacketSimulationModel};
use super::node::NodePorts;
use super::port::PortVirtualChannel;
use des::LpNumber;

/// A packet that waits for room in a channel that leaves a router.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockedPacket {
    /// The router that the packet is in.
    pub(super) router: LpNumber,
    /// The port that it waits for.
    pub(super) port: u16,
    /// The virtual channel that it waits for.
    pub(super) lane: u8,
    /// The packet that waits.
    pub(super) packet: PacketChunk,
}

/// The cycle in which packets wait for each other; empty if there is none.
///
/// The search starts at any waiting packet and proceeds to the first packet in the buffer that it
/// waits for. O(packets that wait in one router x length of the cycle).
pub(super) fn wait_cycle(
    model: &PacketSimulationModel,
    states: &[NodeState],
) -> Vec<BlockedPacket> {
    let lanes = model.plant.lanes as usize;
    let first_in = |at: LpNumber, node: &NodePorts, came: Option<ChunkSender>| {
        let waits = |(ix, of): (usize, &PortVirtualChannel)| {
            let fits = |sender: ChunkSender| came.is_none_or(|came| came == sender);
            let found = node.waiting(of.queued).find(|waiting| fits(waiting.sender))?;
            let (port, lane) = ((ix / lanes) as u16, (ix % lanes) as u8);
            Some(BlockedPacket { router: at, port, lane, packet: found.packet })
        };
        node.lanes.iter().enumerate().find_map(waits)
    };
    let router = |at: LpNumber| match states.get(at as usize) {
        Some(NodeState::Router(node)) => Some(node),
        _ => None,
    };
    let start = (0..model.plant.routers).find_map(|at| first_in(at, router(at)?, None));
    let mut path: Vec<BlockedPacket> = Vec::new();
    let mut next = start;
    while let Some(waits) = next {
        let key = |w: &BlockedPacket| (w.router, w.port, w.lane);
        if let Some(at) = path.iter().position(|w| key(w) == key(&waits)) {
            return path.split_off(at);
        }
        path.push(waits);
        let behind = model.plant.behind(waits.router, waits.port);
        let sender = ChunkSender { lp: waits.router, port: waits.port, lane: waits.lane };
        next = router(behind.lp).and_then(|node| first_in(behind.lp, node, Some(sender)));
    }
    Vec::new()
}
