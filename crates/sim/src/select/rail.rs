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
    /// Any, all as likely: every rail has births of its own, at its share of the load.
    #[default]
    Random,
    /// The same for all packets of an endpoint: its number, modulo the rails.
    Fixed,
}

impl Rail {
    /// The share of an endpoint's packets that go by `rail`, of so many.
    pub fn share(self, endpoint: u32, rail: u32, rails: u32) -> f64 {
        match self {
            Self::Random => 1.0 / f64::from(rails),
            Self::Fixed if endpoint % rails == rail => 1.0,
            Self::Fixed => 0.0,
        }
    }
}
