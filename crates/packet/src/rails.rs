//! How packets get their rails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a packet gets its rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rails {
    /// Any, then one with fewer chunks under way.
    #[default]
    Congestion,
    /// The one with the shorter way; of equal ones as above.
    Path,
    /// That of the endpoint's injection queue: always the same.
    Dedicated,
    /// Any, all as likely.
    Random,
    /// In turn.
    Striped,
}
