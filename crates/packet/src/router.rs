//! Routers: an arriving chunk gets its next hop, waits for room behind the port, then for the port.

use super::event::{ChunkSender, Event, PacketChunk};
use super::model::PacketSimulationModel;
use super::node::NodePorts;
use super::plant::{LinkClass, LinkClassProperties};
use super::port::{NEVER_PS, PortVirtualChannel, VirtualChannelQueue};
use super::runs::EventHandlerContext;
use super::timing::{CreditRule, ForwardingRule, VirtualChannelSendOrder};

impl PacketSimulationModel {
    /// Handles a chunk that arrives at a router.
    pub(super) fn at_router(
        &self,
        node: &mut NodePorts,
        mut packet: PacketChunk,
        sender: ChunkSender,
        to: &mut impl EventHandlerContext,
    ) {
        let (port, lane) = self.route.next_hop(&self.plant, &mut packet, sender, node, to);
        packet.hops += 1;
        let at = self.lane_at(port, lane);
        let bytes = packet.bytes;
        if self.timing.room == CreditRule::Gone {
            node.put(port, at, VirtualChannelQueue::Queued, (packet, sender), to);
        } else if node.lanes[at].chunks < self.room(to.me(), port).chunks {
            node.put(port, at, VirtualChannelQueue::Pending, (packet, sender), to);
            self.credit(node, (sender, bytes), 0, to);
        } else {
            node.put(port, at, VirtualChannelQueue::Queued, (packet, sender), to);
            Self::blocks(node, port, to);
            return;
        }
        self.router_wakes(node, port, to);
    }

    /// Handles a credit that returns to a virtual channel of a router's port; the first chunk that
    /// waits for room gets it.
    pub(super) fn router_credit(
        &self,
        node: &mut NodePorts,
        (port, lane): (u16, u8),
        bytes: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let at = self.lane_at(port, lane);
        let credited = node.lane(at, to);
        credited.chunks -= 1;
        credited.bytes -= bytes;
        if node.lanes[at].queued.is_empty() {
            return;
        }
        if self.timing.room == CreditRule::Behind {
            let waiting = node.take_queued(port, at, to);
            node.put(port, at, VirtualChannelQueue::Pending, (waiting.packet, waiting.sender), to);
            self.credit(node, (waiting.sender, waiting.packet.bytes), 0, to);
        }
        self.router_wakes(node, port, to);
    }

    /// Sends the next chunk of a router's port, if one may go.
    pub(super) fn router_sends(
        &self,
        node: &mut NodePorts,
        port: u16,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(lane) = self.next_lane(node, port, to.me()) else {
            node.port(port, to).is_awake = false;
            Self::blocks(node, port, to);
            return;
        };
        let at = self.lane_at(port, lane);
        let is_kept = self.timing.room == CreditRule::Gone;
        let waiting = if is_kept {
            let waiting = node.take_queued(port, at, to);
            let sending = node.lane(at, to);
            sending.chunks += 1;
            sending.bytes += waiting.packet.bytes;
            waiting
        } else {
            let (pending, waiting) = node.remove(node.lanes[at].pending, to);
            node.lane(at, to).pending = pending;
            node.port(port, to).pending -= 1;
            waiting
        };
        let mut packet = waiting.packet;
        if let Some(sharing) = &self.sharing {
            let class = self.plant.class_of(lane);
            sharing.serves(node, port, (class, packet.bytes), to);
            sharing.sent(node, port, (class, lane - class * self.plant.lanes_each() as u8), to);
        }
        let behind = self.plant.behind(to.me(), port);
        let time_ps = self.plant.chunk_ps(behind.kind, packet.bytes);
        let jitter_ps = node.drawn_ps(self.timing.jitter, to);
        let now = to.now_ps();
        let was = node.ports[usize::from(port)];
        let start_ps = was.free_ps.max(now);
        node.keeps((port, was), start_ps, time_ps, to);
        let it = node.port(port, to);
        // the last byte of a chunk cannot leave before it has arrived
        let free_ps = (start_ps + time_ps).max(waiting.tail_ps) + jitter_ps;
        it.free_ps = free_ps;
        it.blocked_ps += self.window.overlap_ps(it.since_ps, start_ps);
        it.since_ps = NEVER_PS;
        it.busy_ps += self.window.overlap_ps(start_ps, start_ps + time_ps);
        if self.window.has(start_ps) {
            it.bytes += u64::from(packet.bytes);
        }
        it.last = lane;
        let may_send = it.pending > 0 || it.queued > 0 && is_kept;
        it.is_awake = may_send;
        if may_send {
            to.send(to.me(), free_ps - now, Event::Sends { port });
        }
        if is_kept {
            self.credit(node, (waiting.sender, packet.bytes), free_ps - now, to);
        }
        let passing_ps = self.timing.router_ps + u64::from(behind.latency_ps);
        let arrives_ps = match self.timing.passing {
            ForwardingRule::Twice => free_ps + self.plant.kind(behind.kind).chunk_ps,
            ForwardingRule::Head if behind.class != LinkClass::Endpoint => {
                packet.tail_ps = (free_ps - start_ps) as u32;
                start_ps
            }
            ForwardingRule::Whole | ForwardingRule::Head => free_ps,
        };
        let sender = ChunkSender { lp: to.me(), port, lane };
        to.send(behind.lp, arrives_ps + passing_ps - now, Event::Arrives(packet, sender));
    }

    /// Records the time since when chunks have been waiting, for lack of room, for a port that is
    /// free.
    fn blocks(node: &mut NodePorts, port: u16, to: &mut impl EventHandlerContext) {
        let it = node.ports[usize::from(port)];
        if it.pending == 0 && it.queued > 0 && it.since_ps == NEVER_PS {
            node.port(port, to).since_ps = it.free_ps.max(to.now_ps());
        }
    }

    /// The virtual channel of a port that sends next; none if no chunk may go.
    fn next_lane(&self, node: &NodePorts, port: u16, me: u32) -> Option<u8> {
        let room = self.plant.behind(me, port).kind;
        let Some(sharing) = &self.sharing else {
            let last = node.ports[usize::from(port)].last;
            return self.next_of(node, (port, room), (0, self.plant.lanes as u8), last);
        };
        let each = self.plant.lanes_each() as u8;
        let of = |class: u8| {
            let last = sharing.last(node, port, class);
            self.next_of(node, (port, room), (class * each, each), last)
        };
        of(sharing.next(node, port, |class| of(class).is_some())?)
    }

    /// The virtual channel that sends next, among the `lanes` channels of a port from `own` on.
    /// `kind` is the link behind the port, and `last` the channel that sent last, counted from
    /// `own`.
    fn next_of(
        &self,
        node: &NodePorts,
        (port, kind): (u16, u16),
        (own, lanes): (u8, u8),
        last: u8,
    ) -> Option<u8> {
        let first = self.lane_at(port, own);
        let lanes = usize::from(lanes);
        let has = |lane: &usize| {
            let lane = &node.lanes[first + lane];
            match self.timing.room {
                CreditRule::Behind => !lane.pending.is_empty(),
                CreditRule::Gone => !lane.queued.is_empty() && self.has_room(node, lane, kind),
            }
        };
        let found = match self.timing.order {
            VirtualChannelSendOrder::Highest => (0..lanes).rev().find(has),
            VirtualChannelSendOrder::Lowest => (0..lanes).find(has),
            VirtualChannelSendOrder::RoundRobin => {
                let last = usize::from(last);
                (1..=lanes).map(|step| (last + step) % lanes).find(has)
            }
            VirtualChannelSendOrder::Oldest => {
                let age = |lane: &usize| node.age(node.lanes[first + lane].queued);
                (0..lanes).filter(has).min_by_key(age)
            }
        };
        found.map(|lane| own + lane as u8)
    }

    /// Makes a port of a router send, unless an event to do so is already scheduled.
    fn router_wakes(&self, node: &mut NodePorts, port: u16, to: &mut impl EventHandlerContext) {
        if self.wakes(node, port, to) {
            self.router_sends(node, port, to);
        }
    }

    /// Whether a port should send at once. If not, an event to make it send is scheduled, unless
    /// one already is.
    pub(super) fn wakes(
        &self,
        node: &mut NodePorts,
        port: u16,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        let now = to.now_ps();
        let it = node.ports[usize::from(port)];
        if it.is_awake {
            return false;
        }
        let delay_ps = match self.timing.waking {
            Some(drawn) => drawn.ps(node.dice(to)),
            None if it.free_ps > now => it.free_ps - now,
            None => return true,
        };
        node.port(port, to).is_awake = true;
        to.send(to.me(), delay_ps, Event::Sends { port });
        false
    }

    /// Returns the credit of a chunk to its sender, after the chunk has left the buffer.
    pub(super) fn credit(
        &self,
        node: &mut NodePorts,
        (sender, bytes): (ChunkSender, u32),
        delay_ps: u64,
        to: &mut impl EventHandlerContext,
    ) {
        let drawn_ps = node.drawn_ps(self.timing.jitter, to);
        let credit_ps = self.timing.credit_ps + self.plant.latency_ps(sender);
        let ChunkSender { lp, port, lane } = sender;
        to.send(lp, delay_ps + credit_ps + drawn_ps, Event::Credit { bytes, port, lane });
    }

    #[inline]
    pub(super) fn lane_at(&self, port: u16, lane: u8) -> usize {
        usize::from(port) * self.plant.lanes as usize + usize::from(lane)
    }

    /// The kind of link behind a router's port.
    #[inline]
    fn room(&self, router: u32, port: u16) -> &LinkClassProperties {
        self.plant.kind(self.plant.behind(router, port).kind)
    }

    /// Whether the first waiting chunk of a virtual channel fits into the buffer behind a link of
    /// this kind, by its bytes or as one chunk, whichever the buffer counts.
    #[inline]
    pub(super) fn has_room(&self, node: &NodePorts, lane: &PortVirtualChannel, kind: u16) -> bool {
        let link = self.plant.kind(kind);
        match self.timing.room {
            CreditRule::Behind => lane.chunks < link.chunks,
            CreditRule::Gone => {
                // no chunk is longer than a full one: if a full one fits, the chunk's own length
                // need not be read
                lane.bytes + self.plant.chunk_bytes <= link.bytes
                    || lane.bytes + node.first_bytes(lane.queued) <= link.bytes
            }
        }
    }
}
