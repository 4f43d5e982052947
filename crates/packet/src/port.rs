//! State of ports, virtual channels and queues of a router or an endpoint.

use super::event::{ChunkSender, PacketChunk};

/// The number that stands for no slot.
pub(super) const NO_SLOT: u32 = u32::MAX;
/// The time that stands for "never".
pub(super) const NEVER_PS: u64 = u64::MAX;

/// A first-in-first-out queue of chunks, linked through the slots of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkQueue {
    pub(super) head: u32,
    pub(super) tail: u32,
}

impl ChunkQueue {
    /// An empty queue.
    pub const EMPTY: Self = Self { head: NO_SLOT, tail: NO_SLOT };

    /// Whether the queue is empty.
    pub fn is_empty(self) -> bool {
        self.head == NO_SLOT
    }
}

/// A virtual channel of a port: the chunks in the buffer at the far end, and those that wait for
/// room there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortVirtualChannel {
    /// Chunks that hold room in the buffer at the far end: they wait to be sent, are on the wire,
    /// or have not left that buffer.
    pub chunks: u32,
    /// The bytes of these chunks.
    pub bytes: u32,
    /// The number of chunks in `queued`.
    pub waiting: u32,
    /// The bytes of the chunks in `queued`; counted at endpoints only.
    pub waiting_bytes: u32,
    /// Chunks that have been granted room and wait to be sent.
    pub pending: ChunkQueue,
    /// Chunks that wait for room at the far end; their credits have not been returned to their
    /// senders.
    pub queued: ChunkQueue,
}

/// A port of a router or an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The time from which the port is free, ps.
    pub free_ps: u64,
    /// How long the port was busy in all, ps.
    pub busy_ps: u64,
    /// Bytes that the port has sent.
    pub bytes: u64,
    /// Chunks that wait with room granted, on all lanes.
    pub pending: u32,
    /// Chunks that wait without room, on all lanes.
    pub queued: u32,
    /// The largest number of chunks that waited for the port at once.
    pub most: u32,
    /// How long the port was free while chunks waited for lack of room behind it, ps.
    pub blocked_ps: u64,
    /// The time since when chunks have been waiting so, ps; [`NEVER_PS`] if none waits so.
    pub since_ps: u64,
    /// Whether an event is scheduled that makes the port send.
    pub is_awake: bool,
    /// The lane that sent last.
    pub last: u8,
}

/// A chunk that waits in a slot of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedChunk {
    /// The waiting chunk.
    pub packet: PacketChunk,
    /// The port that sent it here.
    pub sender: ChunkSender,
    /// The time at which its tail has arrived, ps.
    pub tail_ps: u64,
    pub(super) next: u32,
}

impl PacketChunk {
    /// The key by which packets are sorted by age, the oldest first.
    #[inline]
    pub(super) fn age(&self) -> (u64, u32) {
        (self.began_ps, self.from)
    }
}

/// One of the two queues of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VirtualChannelQueue {
    /// Chunks with room granted.
    Pending,
    /// Chunks without room.
    Queued,
}

/// The transmission of a chunk by a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "names of times end in their unit")]
pub struct ChunkTransmission {
    /// The time since when chunks had waited for lack of room, ps; the start of the transmission if
    /// none had.
    pub(super) blocked_ps: u64,
    /// The time at which the transmission began, ps.
    pub(super) start_ps: u64,
    /// The time at which the port was done with it, ps.
    pub(super) end_ps: u64,
}
