//! The methods by which paths get their lanes, with their limits and results.

use base::Refusal;
use fabric::size::RouteWorkKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method by which paths get their virtual lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LaneMethod")]
pub enum LaneAssignmentMethod {
    /// Path by path: each takes the first lane in which it closes no cycle.
    #[default]
    Online,
    /// Cycle by cycle: the paths over the cycle's edge that fewest take move to the next lane.
    Lightest,
    /// Cycle by cycle: the paths over the cycle's edge that most take move to the next lane.
    Heaviest,
    /// Cycle by cycle: the paths over a random edge of the cycle move to the next lane.
    Random,
    /// One lane per hop: a switch knows the hop by the in-port and by the colours of switches.
    Hops,
}

impl LaneAssignmentMethod {
    /// All methods.
    pub const ALL: [Self; 5] =
        [Self::Online, Self::Lightest, Self::Heaviest, Self::Random, Self::Hops];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Lightest => "lightest",
            Self::Heaviest => "heaviest",
            Self::Random => "random",
            Self::Hops => "hops",
        }
    }
}

/// The rules by which paths get lanes: a method with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct LaneAssignmentRules {
    /// How paths get their lanes.
    pub method: LaneAssignmentMethod,
    /// Most data lanes, 1 to 15.
    pub max_lanes: u8,
    /// Whether paths are then distributed over the remaining lanes, so that all `max_lanes` lanes
    /// carry some.
    pub balance: bool,
    /// Seed of the random edges.
    pub seed: u64,
}

impl LaneAssignmentRules {
    /// The kind of work, for estimates of time and memory.
    pub fn work(&self) -> RouteWorkKind {
        if self.method == LaneAssignmentMethod::Hops && !self.balance {
            RouteWorkKind::Hops
        } else {
            RouteWorkKind::Lanes
        }
    }
}

/// The lane of every path: entry `(layer * terminals + terminal) * switches + source switch`.
pub(super) struct PathLanes {
    pub(super) lane_of: Vec<u8>,
    pub(super) lanes: u8,
}

/// The largest number of data lanes that InfiniBand allows.
pub(super) const MOST_LANES: u8 = 15;

pub(super) fn too_few(max_lanes: u8) -> Refusal {
    let why = format!("{max_lanes} lanes do not make these routes deadlock-free");
    let more = if max_lanes < MOST_LANES { "allow more lanes (up to 15), or " } else { "" };
    Refusal::new("max_lanes", why, format!("{more}use another engine"))
}
