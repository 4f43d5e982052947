//! Network interfaces of endpoints, one for each class of traffic: they cut messages into packets.

use super::event::{NONE, PacketChunk};
use super::port::ChunkQueue;
use base::exp::ln;
use base::seed::FastRandomStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::destinations::PacketDestinations;

/// The network interface of an endpoint for one class of traffic, with its queue of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic {
    /// Messages that wait to be cut into packets.
    pub(super) messages: ChunkQueue,
    /// The message that is being cut; it is stored as its next packet, whose length is not set yet.
    pub(super) current: PacketChunk,
    /// Bytes of the current message that have yet to be sent.
    pub(super) left: u32,
    /// The time from which the next packet may be scheduled, ps.
    pub(super) free_ps: u64,
    /// Whether an event will schedule the next packet.
    pub(super) is_scheduled: bool,
    /// Whether the interface waits for room in the queue of a rail.
    pub(super) is_blocked: bool,
    /// The rail of the last packet.
    pub(super) rail: u8,
    /// Number of messages created so far.
    pub(super) created: u32,
}

/// The injection process: when endpoints create messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MessageInjection")]
pub enum MessageInjectionProcess {
    /// Times between messages are exponentially distributed.
    Exponential,
    /// Times between messages are constant, and all endpoints send at the same moments.
    Synchronised,
    /// Times between messages are constant, and the first message of each endpoint comes at a
    /// random moment.
    Jittered,
}

impl MessageInjectionProcess {
    /// Time until the first message of an endpoint, ps.
    pub(super) fn first_ps(self, interval_ps: f64, dice: &mut FastRandomStream) -> u64 {
        match self {
            Self::Exponential => self.next_ps(interval_ps, dice),
            Self::Synchronised => 0,
            Self::Jittered => (uniform(dice) * interval_ps) as u64,
        }
    }

    /// Time from one message to the next, ps.
    pub(super) fn next_ps(self, interval_ps: f64, dice: &mut FastRandomStream) -> u64 {
        match self {
            Self::Exponential => (-ln(uniform(dice)) * interval_ps).round() as u64,
            Self::Synchronised | Self::Jittered => interval_ps.round() as u64,
        }
    }
}

/// A random number in (0, 1], whose logarithm is finite.
fn uniform(dice: &mut FastRandomStream) -> f64 {
    ((dice.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Open-loop traffic: endpoints create messages regardless of what has arrived.
#[derive(Debug, Clone)]
pub struct OpenLoopTraffic {
    /// The destinations of each endpoint.
    pub to: PacketDestinations,
    /// Messages that each endpoint creates; none if it creates them until the run ends.
    pub messages: Option<u32>,
    /// Length of a message, in bytes.
    pub bytes: u32,
    /// Mean time between two messages of an endpoint, ps.
    pub interval_ps: f64,
    /// The injection process.
    pub injection: MessageInjectionProcess,
}

impl Nic {
    /// An interface without messages.
    pub(super) fn new() -> Self {
        let current = PacketChunk {
            created_ps: 0,
            began_ps: 0,
            word: NONE.into(),
            tail_ps: 0,
            from: NONE,
            to: NONE,
            bytes: 0,
            message: NONE,
            hops: 0,
            rail: 0,
            is_detour: false,
            is_last: false,
        };
        Self {
            messages: ChunkQueue::EMPTY,
            current,
            left: 0,
            free_ps: 0,
            is_scheduled: false,
            is_blocked: false,
            rail: 0,
            created: 0,
        }
    }

    /// A packet with all fields unset.
    pub(super) fn plain(&self) -> PacketChunk {
        self.current
    }
}
