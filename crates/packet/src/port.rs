//! What is kept of the ports, virtual channels and queues of a router or an endpoint.

use super::event::{Packet, Sender};

/// No slot.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// Of a time that has not come.
pub(super) const NEVER_PS: u64 = u64::MAX;

/// A queue of slots, first in first out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List {
    pub(super) head: u32,
    pub(super) tail: u32,
}

impl List {
    /// One without slots.
    pub const EMPTY: Self = Self { head: NO_SLOT, tail: NO_SLOT };

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.head == NO_SLOT
    }
}

/// A virtual channel of a port: what is known of the buffer behind it, and who waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Chunks that have room behind the port and have not left it: those that wait to be sent, are
    /// on the wire, or were not accepted there yet.
    pub chunks: u32,
    /// Their bytes.
    pub bytes: u32,
    /// Chunks in `queued`.
    pub waiting: u32,
    /// Of an endpoint, their bytes.
    pub waiting_bytes: u32,
    /// Chunks with room, to be sent.
    pub pending: List,
    /// Chunks without room, whose senders got no credit yet.
    pub queued: List,
}

/// A port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// When it is free, ps.
    pub free_ps: u64,
    /// When it was last busy until, and how long it was in all, ps.
    pub busy_ps: u64,
    /// Bytes that it has sent.
    pub bytes: u64,
    /// Chunks that wait with room, on all lanes.
    pub pending: u32,
    /// Chunks that wait without room, on all lanes.
    pub queued: u32,
    /// Most chunks that waited at once.
    pub most: u32,
    /// How long it was free and chunks waited, but none had room behind it, ps.
    pub blocked_ps: u64,
    /// Since when that is so, ps; [`NEVER_PS`] where it is not.
    pub since_ps: u64,
    /// Whether an event will make it send.
    pub is_awake: bool,
    /// The lane that sent last.
    pub last: u8,
}

/// What waits in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// The chunk.
    pub packet: Packet,
    /// Who sent it here.
    pub sender: Sender,
    /// When its end is here, ps.
    pub tail_ps: u64,
    pub(super) next: u32,
}

impl Packet {
    /// Which of several packets is the oldest.
    #[inline]
    pub(super) fn age(&self) -> (u64, u32) {
        (self.began_ps, self.from)
    }
}

/// Which queue of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// Those with room.
    Pending,
    /// Those without.
    Queued,
}

/// A chunk that a port has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "names of times end in their unit")]
pub struct Spell {
    /// From when on chunks waited, and none had room, ps; its beginning where that was not so.
    pub(super) blocked_ps: u64,
    /// When it began to be sent, ps.
    pub(super) start_ps: u64,
    /// And when the port was no longer busy with it, ps.
    pub(super) end_ps: u64,
}
