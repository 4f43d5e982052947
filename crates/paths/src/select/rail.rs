//! Which rail of its endpoint a packet takes, and so which plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets are dealt to the rails of their endpoint; they stay in the plane they start in.
///
/// Source: `McGlohon` et al., "Fit Fly: a case study on interconnect innovation through parallel
/// simulation", SIGSIM-PADS 2019, whose planes these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rail {
    /// Any, all as likely: packets come to every rail on their own, at its share of the load.
    #[default]
    Random,
    /// The same for all packets of an endpoint: its number, modulo the rails.
    Fixed,
    /// In turn: packet k of an endpoint and class takes rail k modulo the rails.
    RoundRobin,
    /// The one for which fewest flits wait at the endpoint or are in the buffer that it sends into,
    /// as it was a cycle ago; of equal ones the next in turn.
    LeastUsed,
    /// The one whose plane has the shortest path to the receiver, in links; of equal ones as
    /// `least_used`.
    Shortest,
}

impl Rail {
    /// The share of an endpoint's packets that go by `rail`, of so many.
    pub fn share(self, endpoint: u32, rail: u32, rails: u32) -> f64 {
        match self {
            Self::Random | Self::RoundRobin | Self::LeastUsed | Self::Shortest => {
                1.0 / f64::from(rails)
            }
            Self::Fixed if endpoint % rails == rail => 1.0,
            Self::Fixed => 0.0,
        }
    }

    /// Whether the rails of an endpoint must know of one another's packets.
    pub fn is_dealt(self) -> bool {
        matches!(self, Self::RoundRobin | Self::LeastUsed | Self::Shortest)
    }

    /// Whether the rails of an endpoint look at what waits at one another.
    pub fn compares(self) -> bool {
        matches!(self, Self::LeastUsed | Self::Shortest)
    }
}
