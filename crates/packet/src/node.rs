//! The queues and ports of a router or an endpoint; every change can be undone.

use super::event::{ChunkSender, PacketChunk};
use super::port::{
    ChunkQueue, NEVER_PS, NO_SLOT, Port, PortVirtualChannel, QueuedChunk, VirtualChannelQueue,
};
use super::runs::{EventHandlerContext, NodeStateChange};
use super::timing::RandomDelay;
use super::until::RecentPortTransmissions;
use base::seed::FastRandomStream;

/// The ports, virtual channels and queues of a router or an endpoint.
#[derive(Debug, Clone)]
pub struct NodePorts {
    pub(super) ports: Vec<Port>,
    pub(super) lanes: Vec<PortVirtualChannel>,
    slots: Vec<QueuedChunk>,
    free: u32,
    /// Whether chunks that wait for room are sorted by age, the oldest first; otherwise they are in
    /// order of arrival.
    pub(super) by_age: bool,
    /// The numbers by which classes of traffic share ports; empty if there is only one class.
    pub(super) tags: Vec<u64>,
    /// The recent transmissions of its ports; none if there are no background jobs.
    pub(super) recent: Option<Box<RecentPortTransmissions>>,
    /// The node's stream of random numbers.
    pub(super) dice: FastRandomStream,
}

impl NodePorts {
    /// A node with this number of ports, each with this number of lanes.
    pub fn new(ports: usize, lanes: usize, dice: FastRandomStream) -> Self {
        let port = Port {
            free_ps: 0,
            busy_ps: 0,
            bytes: 0,
            pending: 0,
            queued: 0,
            most: 0,
            blocked_ps: 0,
            since_ps: NEVER_PS,
            is_awake: false,
            last: 0,
        };
        let lane = PortVirtualChannel {
            chunks: 0,
            bytes: 0,
            waiting: 0,
            waiting_bytes: 0,
            pending: ChunkQueue::EMPTY,
            queued: ChunkQueue::EMPTY,
        };
        Self {
            ports: vec![port; ports],
            lanes: vec![lane; ports * lanes],
            slots: Vec::new(),
            free: NO_SLOT,
            by_age: false,
            tags: Vec::new(),
            recent: None,
            dice,
        }
    }

    /// Records that a port begins to send a chunk, if recent transmissions are kept; `port` is its
    /// state before that.
    #[inline]
    pub(super) fn keeps(
        &mut self,
        port: (u16, Port),
        start_ps: u64,
        time_ps: u64,
        to: &mut impl EventHandlerContext,
    ) {
        if let Some(recent) = &mut self.recent {
            recent.keeps(port, start_ps, time_ps, to);
        }
    }

    /// Handles the event that tells the node, with a delay, that all jobs are done.
    pub(super) fn hears(&mut self, to: &mut impl EventHandlerContext) {
        if let Some(recent) = &mut self.recent {
            recent.hears(&self.ports, to);
        }
    }

    /// The node's stream of random numbers, for drawing; its state is recorded for undoing.
    #[inline]
    pub fn dice(&mut self, to: &mut impl EventHandlerContext) -> &mut FastRandomStream {
        to.note(|| NodeStateChange::Dice(self.dice));
        &mut self.dice
    }

    /// A port, for changing; its old state is recorded for undoing.
    #[inline]
    pub fn port(&mut self, port: u16, to: &mut impl EventHandlerContext) -> &mut Port {
        let at = usize::from(port);
        to.note(|| NodeStateChange::Port(port, self.ports[at]));
        &mut self.ports[at]
    }

    /// A lane, for changing; its old state is recorded for undoing.
    #[inline]
    pub fn lane(
        &mut self,
        at: usize,
        to: &mut impl EventHandlerContext,
    ) -> &mut PortVirtualChannel {
        to.note(|| NodeStateChange::Lane(at as u32, self.lanes[at]));
        &mut self.lanes[at]
    }

    /// Puts a chunk at the end of a list and returns the new list.
    pub fn append(
        &mut self,
        list: ChunkQueue,
        packet: PacketChunk,
        sender: ChunkSender,
        to: &mut impl EventHandlerContext,
    ) -> ChunkQueue {
        let slot = self.slot(packet, sender, NO_SLOT, to);
        if list.is_empty() {
            return ChunkQueue { head: slot, tail: slot };
        }
        self.link(list.tail, slot, to);
        ChunkQueue { head: list.head, tail: slot }
    }

    /// Puts a chunk into a list sorted by age, behind all chunks that are at least as old, and
    /// returns the new list. O(chunks that are older).
    fn insert(
        &mut self,
        list: ChunkQueue,
        packet: PacketChunk,
        sender: ChunkSender,
        to: &mut impl EventHandlerContext,
    ) -> ChunkQueue {
        let is_younger = |slot: u32, of: &Self| of.slots[slot as usize].packet.age() > packet.age();
        if list.is_empty() || !is_younger(list.tail, self) {
            return self.append(list, packet, sender, to);
        }
        if is_younger(list.head, self) {
            let slot = self.slot(packet, sender, list.head, to);
            return ChunkQueue { head: slot, tail: list.tail };
        }
        let mut before = list.head;
        while !is_younger(self.slots[before as usize].next, self) {
            before = self.slots[before as usize].next;
        }
        let slot = self.slot(packet, sender, self.slots[before as usize].next, to);
        self.link(before, slot, to);
        list
    }

    /// Stores a chunk in a free slot whose successor is `next`.
    fn slot(
        &mut self,
        packet: PacketChunk,
        sender: ChunkSender,
        next: u32,
        to: &mut impl EventHandlerContext,
    ) -> u32 {
        let tail_ps = to.now_ps() + u64::from(packet.tail_ps);
        let waiting = QueuedChunk { packet, sender, tail_ps, next };
        let slot = self.free;
        if slot == NO_SLOT {
            to.note(|| NodeStateChange::Grown);
            self.slots.push(waiting);
            return self.slots.len() as u32 - 1;
        }
        let was = self.slots[slot as usize];
        to.note(|| NodeStateChange::Taken(slot, was));
        self.free = was.next;
        self.slots[slot as usize] = waiting;
        slot
    }

    /// Makes slot `next` the successor of `slot`.
    fn link(&mut self, slot: u32, next: u32, to: &mut impl EventHandlerContext) {
        let was = self.slots[slot as usize].next;
        to.note(|| NodeStateChange::Linked(slot, was));
        self.slots[slot as usize].next = next;
    }

    /// Takes the first chunk out of a list that is not empty; returns the rest of the list and the
    /// chunk.
    pub fn remove(
        &mut self,
        list: ChunkQueue,
        to: &mut impl EventHandlerContext,
    ) -> (ChunkQueue, QueuedChunk) {
        let slot = list.head;
        let waiting = self.slots[slot as usize];
        to.note(|| NodeStateChange::Freed(slot, waiting));
        self.slots[slot as usize].next = self.free;
        self.free = slot;
        let rest = if slot == list.tail {
            ChunkQueue::EMPTY
        } else {
            ChunkQueue { head: waiting.next, tail: list.tail }
        };
        (rest, waiting)
    }

    /// Takes the first chunk that waits for room in a lane; at least one must wait.
    pub fn take_queued(
        &mut self,
        port: u16,
        at: usize,
        to: &mut impl EventHandlerContext,
    ) -> QueuedChunk {
        let (queued, waiting) = self.remove(self.lanes[at].queued, to);
        let lane = self.lane(at, to);
        lane.queued = queued;
        lane.waiting -= 1;
        self.port(port, to).queued -= 1;
        waiting
    }

    /// A number by which classes share a port, for changing; its old value is recorded for undoing.
    pub fn tag(&mut self, at: usize, to: &mut impl EventHandlerContext) -> &mut u64 {
        to.note(|| NodeStateChange::Tag(at as u32, self.tags[at]));
        &mut self.tags[at]
    }

    /// A delay that may be random, ps.
    #[inline]
    pub fn drawn_ps(&mut self, drawn: RandomDelay, to: &mut impl EventHandlerContext) -> u64 {
        if drawn.more_ps > 0 { drawn.ps(self.dice(to)) } else { drawn.least_ps }
    }

    /// The age of the first chunk of a list that is not empty; the older the chunk, the smaller the
    /// value.
    pub fn age(&self, list: ChunkQueue) -> (u64, u32) {
        self.slots[list.head as usize].packet.age()
    }

    /// The length of the first chunk of a list that is not empty, in bytes.
    #[inline]
    pub fn first_bytes(&self, list: ChunkQueue) -> u32 {
        self.slots[list.head as usize].packet.bytes
    }

    /// The chunks of a list, in order.
    pub fn waiting(&self, list: ChunkQueue) -> impl Iterator<Item = &QueuedChunk> {
        let mut slot = list.head;
        std::iter::from_fn(move || {
            let waiting = self.slots.get(slot as usize)?;
            slot = waiting.next;
            Some(waiting)
        })
    }

    /// Puts a chunk into a queue of a lane.
    pub fn put(
        &mut self,
        port: u16,
        at: usize,
        queue: VirtualChannelQueue,
        (packet, sender): (PacketChunk, ChunkSender),
        to: &mut impl EventHandlerContext,
    ) {
        let lane = self.lanes[at];
        match queue {
            VirtualChannelQueue::Pending => {
                let pending = self.append(lane.pending, packet, sender, to);
                let (chunks, bytes) = (lane.chunks + 1, lane.bytes + packet.bytes);
                *self.lane(at, to) = PortVirtualChannel { chunks, bytes, pending, ..lane };
                let it = self.port(port, to);
                it.pending += 1;
                it.most = it.most.max(it.pending + it.queued);
            }
            VirtualChannelQueue::Queued => {
                let queued = if self.by_age {
                    self.insert(lane.queued, packet, sender, to)
                } else {
                    self.append(lane.queued, packet, sender, to)
                };
                *self.lane(at, to) =
                    PortVirtualChannel { queued, waiting: lane.waiting + 1, ..lane };
                let it = self.port(port, to);
                it.queued += 1;
                it.most = it.most.max(it.pending + it.queued);
            }
        }
    }

    /// Undoes a change.
    pub fn undo(&mut self, change: NodeStateChange) {
        match change {
            NodeStateChange::Dice(was) => self.dice = was,
            NodeStateChange::Port(port, was) => self.ports[usize::from(port)] = was,
            NodeStateChange::Lane(lane, was) => self.lanes[lane as usize] = was,
            NodeStateChange::Grown => _ = self.slots.pop(),
            NodeStateChange::Taken(slot, was) => {
                self.slots[slot as usize] = was;
                self.free = slot;
            }
            NodeStateChange::Linked(slot, was) => self.slots[slot as usize].next = was,
            NodeStateChange::Freed(slot, was) => {
                self.free = self.slots[slot as usize].next;
                self.slots[slot as usize] = was;
            }
            NodeStateChange::Tag(at, was) => self.tags[at as usize] = was,
            NodeStateChange::Kept(_) | NodeStateChange::Forgot(..) | NodeStateChange::Ended => {
                if let Some(recent) = &mut self.recent {
                    recent.undo(change);
                }
            }
            NodeStateChange::Nic(..)
            | NodeStateChange::Received(_)
            | NodeStateChange::Youngest(..)
            | NodeStateChange::PartCame(..)
            | NodeStateChange::AllCame(..)
            | NodeStateChange::Process(_) => {}
        }
    }
}
