//! Endpoints that send and receive packets: each rail has a queue for each class of traffic, and
//! arriving packets are counted.

use super::endpoint::Endpoint;
use super::event::{ChunkSender, Event, PacketChunk};
use super::model::{EndpointTrafficSource, PacketSimulationModel};
use super::node::NodePorts;
use super::plant::LinkClass;
use super::port::{PortVirtualChannel, QueuedChunk};
use super::replay;
use super::runs::{EventHandlerContext, NodeStateChange};
use super::tally::ChunkArrival;
use super::timing::{CreditRule, ForwardingRule};
use des::LpNumber;
use paths::select::RailSelection;

impl PacketSimulationModel {
    /// The index of the queue of a rail for a class of traffic.
    #[inline]
    pub(super) fn queue_at(&self, port: u16, class: u8) -> usize {
        usize::from(port) * self.plant.classes as usize + usize::from(class)
    }

    /// A packet of a class reaches the queue of its endpoint and is assigned to a rail.
    pub(super) fn queues(
        &self,
        it: &mut Endpoint,
        mut packet: PacketChunk,
        class: u8,
        to: &mut impl EventHandlerContext,
    ) {
        packet.rail = self.rail(it, &packet, class, to);
        if it.nics[usize::from(class)].rail != packet.rail {
            it.nic(class, to).rail = packet.rail;
        }
        let port = u16::from(packet.rail);
        let at = self.queue_at(port, class);
        let first = class * self.plant.lanes_each() as u8;
        let lane = first + self.route.enters(&self.plant, &mut packet, &mut it.node, to);
        let sender = ChunkSender { lp: to.me(), port, lane };
        let queued = it.node.append(it.node.lanes[at].queued, packet, sender, to);
        let lane = it.node.lane(at, to);
        lane.queued = queued;
        lane.waiting += 1;
        lane.waiting_bytes += packet.bytes;
        it.node.port(port, to).queued += 1;
        self.endpoint_wakes(it, port, to);
    }

    fn rail(
        &self,
        it: &mut Endpoint,
        packet: &PacketChunk,
        class: u8,
        to: &mut impl EventHandlerContext,
    ) -> u8 {
        let rails = self.plant.rails;
        if rails == 1 {
            return 0;
        }
        let own = self.injection_queue(packet.from);
        if self.rails == RailSelection::Shortest {
            let length = |rail: u32| {
                let ends = [packet.from, packet.to].map(|e| self.plant.at(e, rail as u8).router);
                self.route.length(&self.plant, ends[0], ends[1])
            };
            let shortest = (0..rails).map(length).min();
            let mut best = (0..rails).filter(|&rail| Some(length(rail)) == shortest);
            if let (Some(rail), None) = (best.next(), best.next()) {
                return rail as u8;
            }
        }
        match self.rails {
            RailSelection::Fixed => return own as u8,
            RailSelection::Random => return it.node.dice(to).below(rails) as u8,
            RailSelection::RoundRobin => {
                return ((u32::from(it.nics[usize::from(class)].rail) + 1) % rails) as u8;
            }
            RailSelection::LeastUsed | RailSelection::Shortest => {}
        }
        let mut best = it.node.dice(to).below(rails);
        for rail in (0..rails).map(|step| (own + step) % rails) {
            let chunks = |rail: u32| it.node.lanes[self.queue_at(rail as u16, class)].chunks;
            if chunks(rail) < chunks(best) {
                best = rail;
            }
        }
        best as u8
    }

    /// The rail that an endpoint uses first.
    fn injection_queue(&self, endpoint: u32) -> u32 {
        let each = (self.concentration / self.plant.rails).max(1);
        endpoint % self.concentration.max(1) / each % self.plant.rails
    }

    fn endpoint_wakes(&self, it: &mut Endpoint, port: u16, to: &mut impl EventHandlerContext) {
        if self.wakes(&mut it.node, port, to) {
            self.endpoint_sends(it, port, to);
        }
    }

    /// Whether a class has a packet for a rail, and there is room for it in the buffer behind the
    /// rail.
    #[inline]
    fn may_send(&self, node: &NodePorts, (port, me): (u16, LpNumber), class: u8) -> bool {
        let lane = node.lanes[self.queue_at(port, class)];
        let kind = self.plant.kind_of_rail(me - self.plant.routers, port as u8);
        !lane.queued.is_empty() && self.has_room(node, &lane, kind)
    }

    /// Whether the queue of an endpoint's rail holds at least as much as the buffer behind it.
    #[inline]
    pub(super) fn is_full(&self, lane: &PortVirtualChannel, rail: u8, me: LpNumber) -> bool {
        let link = self.plant.kind(self.plant.kind_of_rail(me - self.plant.routers, rail));
        match self.timing.room {
            CreditRule::Behind => lane.waiting >= link.chunks,
            CreditRule::Gone => lane.waiting_bytes >= link.bytes,
        }
    }

    /// Removes the first packet of a class from the queue of a rail.
    #[inline]
    fn takes(
        &self,
        node: &mut NodePorts,
        port: u16,
        class: u8,
        to: &mut impl EventHandlerContext,
    ) -> QueuedChunk {
        let at = self.queue_at(port, class);
        let (queued, waiting) = node.remove(node.lanes[at].queued, to);
        let lane = node.lane(at, to);
        lane.queued = queued;
        lane.chunks += 1;
        lane.bytes += waiting.packet.bytes;
        lane.waiting -= 1;
        lane.waiting_bytes -= waiting.packet.bytes;
        if let Some(sharing) = &self.sharing {
            sharing.serves(node, port, (class, waiting.packet.bytes), to);
        }
        waiting
    }

    /// A rail of an endpoint sends its next packet, if one may go.
    pub(super) fn endpoint_sends(
        &self,
        it: &mut Endpoint,
        port: u16,
        to: &mut impl EventHandlerContext,
    ) {
        let seat = (port, to.me());
        let class = match &self.sharing {
            None => self.may_send(&it.node, seat, 0).then_some(0),
            Some(sharing) => {
                sharing.next(&it.node, port, |class| self.may_send(&it.node, seat, class))
            }
        };
        let Some(class) = class else {
            it.node.port(port, to).is_awake = false;
            return;
        };
        let waiting = self.takes(&mut it.node, port, class, to);
        let classes = self.plant.classes as u8;
        let may_send = (0..classes).any(|class| self.may_send(&it.node, seat, class));
        let mut packet = waiting.packet;
        let now = to.now_ps();
        if self.timing.begins_late {
            packet.began_ps = now;
        }
        let kind = self.plant.kind_of_rail(packet.from, packet.rail);
        let time_ps = self.plant.chunk_ps(kind, packet.bytes);
        let jitter_ps = it.node.drawn_ps(self.timing.jitter, to);
        let rail = it.node.port(port, to);
        let start_ps = rail.free_ps.max(now);
        let free_ps = start_ps + time_ps + jitter_ps;
        rail.free_ps = free_ps;
        rail.busy_ps += time_ps;
        rail.bytes += u64::from(packet.bytes);
        rail.queued -= 1;
        rail.is_awake = may_send;
        if may_send {
            to.send(to.me(), free_ps - now, Event::Sends { port });
        }
        let at = self.plant.at(packet.from, packet.rail);
        let latency_ps = self.plant.latency_ps(waiting.sender);
        let arrives_ps = match self.timing.passing {
            ForwardingRule::Whole => free_ps,
            ForwardingRule::Twice => free_ps + self.plant.of(LinkClass::Endpoint).chunk_ps,
            ForwardingRule::Head => {
                packet.tail_ps = (free_ps - start_ps) as u32;
                start_ps
            }
        };
        let delay_ps = arrives_ps + latency_ps - now;
        to.send(at.router, delay_ps, Event::Arrives(packet, waiting.sender));
        if packet.is_last
            && let (EndpointTrafficSource::Replay(_), Some(op)) =
                (&self.drive, replay::sends(packet.message))
        {
            let left_ps = if self.timing.is_sent_early {
                it.node.drawn_ps(self.timing.nic, to)
            } else {
                free_ps - now
            };
            to.send(to.me(), left_ps, Event::Ends(op));
        }
        let nic = it.nics[usize::from(class)];
        if nic.is_blocked && u16::from(nic.rail) == port {
            let nic = it.nic(class, to);
            nic.is_blocked = false;
            if self.timing.is_sent_early {
                // in CODES the interface resumes when the packet that is sent now has left
                nic.free_ps = nic.free_ps.max(free_ps);
            }
            self.schedules(it, class, to);
        }
    }

    /// A credit of a virtual channel returns to a rail of an endpoint.
    pub(super) fn endpoint_credit(
        &self,
        it: &mut Endpoint,
        (port, lane): (u16, u8),
        bytes: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let at = self.queue_at(port, self.plant.class_of(lane));
        let lane = it.node.lane(at, to);
        lane.chunks -= 1;
        lane.bytes -= bytes;
        if !it.node.lanes[at].queued.is_empty() {
            self.endpoint_wakes(it, port, to);
        }
    }

    /// A chunk arrives at its destination endpoint.
    pub(super) fn at_endpoint(
        &self,
        it: &mut Endpoint,
        packet: PacketChunk,
        sender: ChunkSender,
        to: &mut impl EventHandlerContext,
    ) {
        self.credit(&mut it.node, (sender, packet.bytes), 0, to);
        let now = to.now_ps();
        let latency_ps = now - packet.began_ps;
        to.note(|| NodeStateChange::Received(it.received));
        it.received.chunks += 1;
        it.received.bytes += u64::from(packet.bytes);
        it.received.latency_ps += latency_ps;
        it.received.last_ps = now;
        let class = self.plant.class_of(sender.lane);
        let (job, whole_bytes) = match &self.drive {
            EndpointTrafficSource::Open(open) => (class.into(), open[usize::from(class)].bytes),
            EndpointTrafficSource::Replay(replay) => {
                replay.message_at(it.plays.as_deref(), packet.message)
            }
        };
        let from = packet.from * self.plant.classes + u32::from(class);
        let is_late = self.overtaken && it.is_late(from, packet.began_ps, to);
        let PacketChunk { bytes, hops, is_detour, message, .. } = packet;
        let is_whole = it.is_whole((from, message), bytes, whole_bytes, to);
        to.record(ChunkArrival {
            at_ps: now,
            latency_ps,
            message_ps: is_whole.then(|| now - packet.created_ps),
            bytes,
            hops,
            is_detour,
            is_late,
            job,
        });
        if let (EndpointTrafficSource::Replay(replay), true) = (&self.drive, is_whole) {
            self.comes(replay, it, message, to);
        }
    }
}
