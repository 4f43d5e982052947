//! The rail of an endpoint that a packet takes, and thereby its plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule that distributes packets over the rails of their endpoint; they stay in the plane they
/// start in.
///
/// Source: `McGlohon` et al., "Fit Fly: a case study on interconnect innovation through parallel
/// simulation", SIGSIM-PADS 2019, whose planes these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Rail")]
#[serde(rename_all = "snake_case")]
pub enum RailSelection {
    /// A rail drawn at random for each packet; each rail injects packets by itself, at its share of
    /// the load.
    #[default]
    Random,
    /// The same rail for all packets of an endpoint: its number modulo the number of rails.
    Fixed,
    /// Rails in turn: packet k of an endpoint and class takes rail k modulo the number of rails.
    RoundRobin,
    /// The rail with the fewest flits that wait at the endpoint or in the buffer that it sends
    /// into, as it was a cycle ago; of equal ones the next in turn.
    LeastUsed,
    /// The rail whose plane has the shortest path to the receiver, in links; of equal ones as
    /// `least_used`.
    Shortest,
}

impl RailSelection {
    /// The share of the packets of `endpoint` that go by rail `rail`; it has `rails` rails.
    pub fn share(self, endpoint: u32, rail: u32, rails: u32) -> f64 {
        match self {
            Self::Random | Self::RoundRobin | Self::LeastUsed | Self::Shortest => {
                1.0 / f64::from(rails)
            }
            Self::Fixed if endpoint % rails == rail => 1.0,
            Self::Fixed => 0.0,
        }
    }

    /// Whether packets are assigned to rails for the endpoint as a whole, so that its rails must
    /// know of each other's packets.
    pub fn is_assigned(self) -> bool {
        matches!(self, Self::RoundRobin | Self::LeastUsed | Self::Shortest)
    }

    /// Whether the choice compares the queues of the endpoint's rails.
    pub fn compares(self) -> bool {
        matches!(self, Self::LeastUsed | Self::Shortest)
    }
}
