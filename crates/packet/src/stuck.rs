//! Packets that wait for one another in a circle, at the end of a run that nothing ended.

use super::event::{Packet, Sender};
use super::model::{Model, State};
use super::node::Node;
use super::port::Lane;
use des::Lp;

/// A packet that waits for room in a channel that leaves a router.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waits {
    /// The router.
    pub(super) router: Lp,
    /// Its port.
    pub(super) port: u16,
    /// The virtual channel.
    pub(super) lane: u8,
    /// The packet.
    pub(super) packet: Packet,
}

/// The circle in which packets wait; empty where they do not.
///
/// From any packet that waits, the next is the first one in the buffer that it waits for.
/// O(packets that wait in one router x length of the circle).
pub(super) fn circle(model: &Model, states: &[State]) -> Vec<Waits> {
    let lanes = model.plant.lanes as usize;
    let first_in = |at: Lp, node: &Node, came: Option<Sender>| {
        let waits = |(ix, of): (usize, &Lane)| {
            let fits = |sender: Sender| came.is_none_or(|came| came == sender);
            let found = node.waiting(of.queued).find(|waiting| fits(waiting.sender))?;
            let (port, lane) = ((ix / lanes) as u16, (ix % lanes) as u8);
            Some(Waits { router: at, port, lane, packet: found.packet })
        };
        node.lanes.iter().enumerate().find_map(waits)
    };
    let router = |at: Lp| match states.get(at as usize) {
        Some(State::Router(node)) => Some(node),
        _ => None,
    };
    let start = (0..model.plant.routers).find_map(|at| first_in(at, router(at)?, None));
    let mut path: Vec<Waits> = Vec::new();
    let mut next = start;
    while let Some(waits) = next {
        let same = |w: &Waits| (w.router, w.port, w.lane) == (waits.router, waits.port, waits.lane);
        if let Some(at) = path.iter().position(same) {
            return path.split_off(at);
        }
        path.push(waits);
        let behind = model.plant.behind(waits.router, waits.port);
        let sender = Sender { lp: waits.router, port: waits.port, lane: waits.lane };
        next = router(behind.lp).and_then(|node| first_in(behind.lp, node, Some(sender)));
    }
    Vec::new()
}
