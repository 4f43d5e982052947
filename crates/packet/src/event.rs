//! What happens at routers and endpoints.

use des::Lp;

/// No switch, no message.
pub(super) const NONE: u32 = u32::MAX;

/// A chunk of a packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When its message came to its endpoint's interface, ps.
    pub born_ps: u64,
    /// When its endpoint's interface scheduled it, ps.
    pub began_ps: u64,
    /// What a guide has written down: [`paths::word`]; else the router that it goes to
    /// first, as long as it has not been there.
    pub word: u64,
    /// How long its end comes behind its head, ps.
    pub tail_ps: u32,
    /// The endpoint that sends it.
    pub from: u32,
    /// The endpoint that it is for.
    pub to: u32,
    /// Its length.
    pub bytes: u32,
    /// The message that it is part of.
    pub message: u32,
    /// Routers visited.
    pub hops: u8,
    /// The rail by which it left, and so its plane.
    pub rail: u8,
    /// Whether it takes, or took, a way that is no shortest one.
    pub is_detour: bool,
    /// Whether it is the last chunk of its message.
    pub is_last: bool,
}

impl Packet {
    /// A router that it goes to first, as long as it has not been there; of a way by groups the
    /// group.
    #[inline]
    pub fn via(&self) -> u32 {
        self.word as u32
    }

    /// Writes that down.
    #[inline]
    pub fn set_via(&mut self, via: u32) {
        self.word = via.into();
    }
}

/// Who has sent a chunk, and gets the credit for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sender {
    /// The router or endpoint.
    pub lp: Lp,
    /// Its port.
    pub port: u16,
    /// The virtual channel of the buffer behind the port.
    pub lane: u8,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub enum Happens {
    /// A chunk has arrived: whole, or by its head.
    Arrives(Packet, Sender),
    /// A chunk has left the buffer behind a port: there is room for one more.
    Credit {
        /// Its length.
        bytes: u32,
        /// The port.
        port: u16,
        /// The virtual channel.
        lane: u8,
    },
    /// A port may send what waits for it.
    Sends {
        /// The port.
        port: u16,
    },
    /// An endpoint's next message of a class is born.
    Born(u8),
    /// An endpoint's interface of a class may schedule its next packet.
    Schedules(u8),
    /// A packet of a class reaches the queue of its endpoint.
    Queues(Packet, u8),
    /// A message of a process, by its number, comes to its endpoint's interface.
    Enters(u32),
    /// The interface has taken it.
    Taken(u32),
    /// It has come to a process of the same endpoint.
    Copied(u32),
    /// An operation of a process ends.
    Ends(u32),
    /// All processes of an endpoint are done.
    Done,
    /// All of all endpoints are: the background ends.
    Over,
}
