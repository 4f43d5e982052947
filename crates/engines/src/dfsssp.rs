//! Deadlock-free SSSP: the routes of `sssp`, spread over virtual lanes without cycles.
//!
//! Source: Domke, Hoefler, Nagel, "Deadlock-free oblivious routing for arbitrary topologies", IPDPS
//! 2011. The routes are theirs. Unless told otherwise paths get their lanes one by one instead of
//! by breaking one cycle after the other (see [`Method`]): fewer lanes, and never more than two
//! where no path is longer than two hops.

use super::sssp::balanced_routes;
use super::trees::MinimalTree;
use super::{Engine, Promise};
use crate::lanes::{Method, Spread, common_lanes, spread};
use base::Stop;
use base::Watch;
use fabric::network::Topology;
use fabric::tables::Routing;
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
    /// How paths get their lanes.
    #[serde(default)]
    pub lanes: Method,
    /// Whether paths are dealt to all `max_lanes` lanes, also where fewer would do.
    #[serde(default)]
    pub balance: bool,
    /// Seed of the edges that `lanes` = random draws.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for Dfsssp {
    const NAME: &'static str = "dfsssp";
    const PROMISE: Promise = Promise { minimal: true, deadlock_free: true };

    fn examples() -> Vec<Self> {
        let of = |max_lanes, lanes, balance| Self { max_lanes, lanes, balance, seed: 1 };
        vec![
            of(8, Method::Online, false),
            of(15, Method::Lightest, false),
            of(15, Method::Hops, true),
            of(15, Method::Random, true),
        ]
    }

    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop> {
        let minimal = |tree: &mut MinimalTree, to| tree.rebuild(on, to, None);
        let Self { max_lanes, lanes: method, balance, seed } = *self;
        let how = Spread { method, max_lanes, balance, seed };
        spread(balanced_routes(on, layers, minimal, watch)?, &how, watch)
    }
}
