//! How paths get their lanes: the methods, their limits, and what each finds.

use base::Refusal;
use fabric::size::RouteWork;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How paths get their lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Path by path, each to the first lane in which it closes no cycle.
    #[default]
    Online,
    /// Cycle by cycle: the paths over the cycle's edge that fewest take move to the next lane.
    Lightest,
    /// Cycle by cycle: the paths over the cycle's edge that most take move to the next lane.
    Heaviest,
    /// Cycle by cycle: the paths over a random edge of the cycle move to the next lane.
    Random,
    /// One lane a hop, told apart by in-port and by the colours of switches.
    Hops,
}

impl Method {
    /// All of them.
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

/// A method with its limits.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// How paths get their lanes.
    pub method: Method,
    /// Most data lanes, 1 to 15.
    pub max_lanes: u8,
    /// Whether paths are then dealt to the lanes that are left, so that all `max_lanes` carry some.
    pub balance: bool,
    /// Seed of the random edges.
    pub seed: u64,
}

impl Spread {
    /// The kind of work that it is.
    pub fn work(&self) -> RouteWork {
        if self.method == Method::Hops && !self.balance {
            RouteWork::Hops
        } else {
            RouteWork::Lanes
        }
    }
}

/// A lane for every path: entry `(layer * terminals + terminal) * switches + source switch`.
pub(super) struct Found {
    pub(super) lane_of: Vec<u8>,
    pub(super) lanes: u8,
}

/// Most data lanes.
pub(super) const MOST_LANES: u8 = 15;

pub(super) fn too_few(max_lanes: u8) -> Refusal {
    let why = format!("{max_lanes} lanes do not make these routes deadlock-free");
    let more = if max_lanes < MOST_LANES { "allow more lanes (up to 15), or " } else { "" };
    Refusal::new("max_lanes", why, format!("{more}use another engine"))
}
