//! Deadlock-free SSSP: the routes of `sssp`, spread over virtual lanes without cycles.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011. The routes are theirs. Paths get their lanes one by one instead of by breaking one cycle
//! after the other (see [`crate::lanes`]): fewer lanes, and never more than two where no path is
//! longer than two hops.

use super::sssp::balanced_routes;
use super::trees::MinimalTree;
use super::{Engine, RouteError, Routing};
use crate::lanes::{break_cycles, common_lanes};
use crate::network::Topology;
use base::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths, balanced over the whole network, deadlock-free by virtual lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dfsssp {
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[serde(default = "common_lanes")]
    pub max_lanes: u8,
}

impl Engine for Dfsssp {
    const NAME: &'static str = "dfsssp";

    fn examples() -> Vec<Self> {
        vec![Self { max_lanes: 8 }, Self { max_lanes: 15 }]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        let minimal = |tree: &mut MinimalTree, to| tree.rebuild(on, to, None);
        break_cycles(balanced_routes(on, layers, minimal, watch)?, self.max_lanes, watch)
    }
}
