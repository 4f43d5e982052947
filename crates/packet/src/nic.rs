//! Interfaces of endpoints, one a class of traffic: they cut messages into packets.

use super::event::{NONE, Packet};
use super::port::List;
use base::exp::ln;
use base::seed::Fast;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::destinations::Destinations;

/// The interface of an endpoint for a class of traffic: what it has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nic {
    /// Messages that wait.
    pub(super) messages: List,
    /// The message that is cut, as its next packet but for its length.
    pub(super) current: Packet,
    /// Bytes of it that are left.
    pub(super) left: u32,
    /// When the next packet may be scheduled, ps.
    pub(super) free_ps: u64,
    /// Whether an event will schedule one.
    pub(super) is_scheduled: bool,
    /// Whether it waits for room in the queue of a rail.
    pub(super) is_blocked: bool,
    /// The rail of its last packet.
    pub(super) rail: u8,
    /// Messages that were born.
    pub(super) born: u32,
}

/// When messages come to their interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Injection {
    /// With exponential times between them.
    Exponential,
    /// All the same time apart, at all endpoints at once.
    Synchronised,
    /// All the same time apart, the first of an endpoint at any time before that.
    Jittered,
}

impl Injection {
    /// Time until the first message of an endpoint, ps.
    pub(super) fn first_ps(self, interval_ps: f64, dice: &mut Fast) -> u64 {
        match self {
            Self::Exponential => self.next_ps(interval_ps, dice),
            Self::Synchronised => 0,
            Self::Jittered => (uniform(dice) * interval_ps) as u64,
        }
    }

    /// Time until the next one, ps.
    pub(super) fn next_ps(self, interval_ps: f64, dice: &mut Fast) -> u64 {
        match self {
            Self::Exponential => (-ln(uniform(dice)) * interval_ps).round() as u64,
            Self::Synchronised | Self::Jittered => interval_ps.round() as u64,
        }
    }
}

/// A number in (0, 1]: its logarithm is finite.
fn uniform(dice: &mut Fast) -> f64 {
    ((dice.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// What endpoints send of their own, whatever arrives.
#[derive(Debug, Clone)]
pub struct Open {
    /// Who sends to whom.
    pub to: Destinations,
    /// Messages of an endpoint; none where they end with the run.
    pub messages: Option<u32>,
    /// Length of a message.
    pub bytes: u32,
    /// Mean time between two messages of an endpoint, ps.
    pub interval_ps: f64,
    /// When they come.
    pub births: Injection,
}

impl Nic {
    /// One without messages.
    pub(super) fn new() -> Self {
        let current = Packet {
            born_ps: 0,
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
            messages: List::EMPTY,
            current,
            left: 0,
            free_ps: 0,
            is_scheduled: false,
            is_blocked: false,
            rail: 0,
            born: 0,
        }
    }

    /// A packet of which nothing is known yet.
    pub(super) fn plain(&self) -> Packet {
        self.current
    }
}
