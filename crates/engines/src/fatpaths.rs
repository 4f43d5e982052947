//! FatPaths: shortest paths in random directed acyclic parts of the network.
//!
//! Source: Besta, Schneider, Konieczny, Cynk, Henriksson, Di Girolamo, Singla, Hoefler, "FatPaths:
//! routing in supercomputers and data centers when shortest paths fall short", SC 2020, section 5
//! (layers by random permutations): the first layer has all links. For every further layer a random
//! order of the switches and a random part of the links are drawn, and each of these links is used
//! only from the switch that is earlier in the order to the later one. Pairs that a layer does not
//! connect use the routes of the first layer.

use super::rues::{routes_within, sample, usual_part};
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::seed::RandomStream;
use base::{ChannelId, ProgressWatch};
use fabric::network::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths in the whole network, then in random acyclic parts of it; deadlock-free lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatPaths {
    /// Part of the working links that each layer but the first keeps, each in one direction; 0 to
    /// 1.
    #[serde(default = "usual_part")]
    pub keep: f64,
    /// Seed of the links that are kept and of the orders of the switches.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for FatPaths {
    const NAME: &'static str = "fatpaths";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        let with = |keep| Self { keep, seed: 0 };
        vec![with(usual_part()), with(1.0)]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let channels = |layer: u32| {
            let mut random = RandomStream::new(self.seed, "fatpaths", layer.into());
            let kept = sample(on, self.keep, &mut random);
            let mut place: Vec<u32> = (0..on.switches().len() as u32).collect();
            random.shuffle(&mut place);
            let grants = |c: u32| {
                let (from, to) = (on.tail(ChannelId(c)).switch, on.head(ChannelId(c)).switch);
                kept[ChannelId(c).link().ix()] && place[from.ix()] < place[to.ix()]
            };
            (0..2 * on.links().len() as u32).map(grants).collect()
        };
        routes_within(on, layers, self.keep, channels, watch)
    }
}
