//! Lane use: which virtual channels a packet may take that chooses its own path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule that gives the hops of a packet their virtual channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LaneUse")]
pub enum LaneUseRule {
    /// `hops` where there are enough virtual channels, else `groups` where the network has groups.
    #[default]
    Auto,
    /// The virtual channel rises with every link that the packet has crossed, so packets cannot
    /// wait for each other in a cycle.
    Hops,
    /// The virtual channel rises with every link between groups that the packet has crossed, and
    /// behind an intermediate switch; paths are those with the fewest such links (dragonfly,
    /// megafly).
    Groups,
    /// Every virtual channel on every hop.
    Any,
}
