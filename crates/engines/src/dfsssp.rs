//! Deadlock-free SSSP: the routes of `sssp`, spread over virtual lanes without cycles.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011. The routes are those of the paper. By default, paths get their lanes one by one instead of
//! by breaking one cycle after the other (see [`crate::lanes::LaneAssignmentMethod`]): that takes
//! fewer lanes, and never more than two where no path is longer than two hops.

use super::sssp::balanced_routes;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::ProgressWatch;
use fabric::network::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths, balanced over the whole network, deadlock-free by virtual lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dfsssp {
    /// Seed of the edges that `lanes` = random draws.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for Dfsssp {
    const NAME: &'static str = "dfsssp";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        vec![Self { seed: 1 }]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        balanced_routes(on, layers, minimal, watch)
    }
}
