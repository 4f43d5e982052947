//! Which virtual channels packets may use that choose their paths.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The lanes of packets that choose their ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneUse {
    /// `hops` where there are virtual channels enough, else `groups` where there are groups.
    #[default]
    Auto,
    /// By the links crossed before: lanes rise on every way, so that packets never wait in a
    /// circle.
    Hops,
    /// By the links between groups crossed before, one more behind a switch in between; ways are
    /// those with the fewest such links (dragonfly, megafly).
    Groups,
    /// Any lane on any hop.
    Any,
}
