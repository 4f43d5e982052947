//! The events of routers and endpoints, and the packets that they carry.

use des::LpNumber;

/// The number that stands for no switch, or no message.
pub(super) const NONE: u32 = u32::MAX;

/// A chunk of a message that travels through the network as one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketChunk {
    /// The time at which its message was handed to the network interface of its endpoint, ps.
    pub created_ps: u64,
    /// The time at which the network interface scheduled it, ps.
    pub began_ps: u64,
    /// The word that a guide reads and writes ([`paths::word`]). In dialects of CODES it holds the
    /// intermediate router until the packet has been there.
    pub word: u64,
    /// The time from the arrival of its head to that of its tail, ps.
    pub tail_ps: u32,
    /// The endpoint that sends it.
    pub from: u32,
    /// The endpoint that the packet goes to.
    pub to: u32,
    /// The length of the packet, in bytes.
    pub bytes: u32,
    /// The message that it is part of.
    pub message: u32,
    /// Number of routers visited so far.
    pub hops: u8,
    /// The rail by which it left its endpoint, which fixes its plane.
    pub rail: u8,
    /// Whether its path is non-minimal.
    pub is_detour: bool,
    /// Whether it is the last chunk of its message.
    pub is_last: bool,
}

impl PacketChunk {
    /// The intermediate router that it goes to first, `u32::MAX` if it has none or has been there;
    /// the intermediate group in dialects that route by groups.
    #[inline]
    pub fn via(&self) -> u32 {
        self.word as u32
    }

    /// Sets the intermediate router or group.
    #[inline]
    pub fn set_via(&mut self, via: u32) {
        self.word = via.into();
    }
}

/// The port that has sent a chunk, and gets the credit for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSender {
    /// The router or endpoint that sends.
    pub lp: LpNumber,
    /// The sending port of the router or endpoint.
    pub port: u16,
    /// The virtual channel of the buffer behind the port.
    pub lane: u8,
}

/// An event at a router or an endpoint.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// A chunk arrives: all of it, or its head with cut-through.
    Arrives(PacketChunk, ChunkSender),
    /// A credit returns: a chunk has left the buffer behind a port, which has room for one more.
    Credit {
        /// Length of the chunk that has left, in bytes.
        bytes: u32,
        /// The port that gets the credit.
        port: u16,
        /// The virtual channel that the credit is for.
        lane: u8,
    },
    /// A port may send the next chunk that waits for it.
    Sends {
        /// The port that may send.
        port: u16,
    },
    /// An endpoint creates its next message of a class of traffic.
    Creates(u8),
    /// The network interface of a class may schedule its next packet.
    Schedules(u8),
    /// A packet of a class reaches the send queue of its endpoint.
    Queues(PacketChunk, u8),
    /// A message of a process, given by its number, comes to the network interface.
    Enters(u32),
    /// The network interface has finished accepting a message.
    Taken(u32),
    /// A message has been copied to a process of the same endpoint.
    Copied(u32),
    /// An operation of a process is complete.
    Ends(u32),
    /// All processes of an endpoint are done.
    Done,
    /// All processes of all endpoints are done, and background jobs stop.
    Over,
}
