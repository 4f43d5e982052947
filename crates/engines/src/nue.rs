//! Nue: routes that use only channel dependencies their lane allows, on any number of lanes.
//!
//! Source: Domke, Hoefler, Matsuoka, "Routing on the dependency graph: a new approach to
//! deadlock-free high-performance routing", HPDC 2016. Destinations are assigned to lanes. The
//! routes to each destination grow hop by hop, and a hop is taken only where its dependency closes
//! no cycle in the lane. A spanning tree whose dependencies are reserved beforehand guarantees that
//! some route exists.
//!
//! Differences: the paper grows the routes to one destination after the other and tests every
//! dependency for cycles, so that the last destinations have to use what the first have left. Here
//! every lane gets an order of its channels first, and a dependency is allowed if it leads forward
//! in that order, which needs no test. A lane accepts destinations as long as all their shortest
//! routes go forward ([`plan`]). Where lanes are too few for that, the order is one in which as
//! much traffic as possible goes forward, for all destinations alike ([`order`]), and all turns of
//! a spanning tree ([`spanning`]). Then the routes are balanced over all hops that agree with the
//! orders ([`within`]), and chosen again while that lowers the largest load.

use super::sssp::{PathBalancer, endpoints_per_switch, minimal_switch_routes};
use super::tree_cache::NextHopTreeCache;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::{DefaultLaneMethod, common_lanes};
use base::ComputationError;
use base::{ProgressWatch, Refusal, SwitchId};
use fabric::network::Topology;
use fabric::tables::{LaneAssignment, Routing, ServiceLevels, Sl2VlMapping};
use plan::DestinationLaneAssignment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;
use within::RouteGrower;

mod order;
mod plan;
mod spanning;
mod turns;
mod within;

/// Balanced routes on a given number of lanes: free of deadlock on any number from 1. Not all
/// minimal where lanes are few.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nue {
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[serde(default = "common_lanes")]
    pub max_lanes: u8,
    /// Seed of the order in which destinations and channels come.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for Nue {
    const NAME: &'static str = "nue";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Own;

    fn examples() -> Vec<Self> {
        [8, 1, 2].map(|max_lanes| Self { max_lanes, seed: 0 }).to_vec()
    }

    /// O(layers * terminals * switches + switches * arcs), and O(turns * log(network radix)) for
    /// each lane and each pass over its channels.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
        }
        let plan = DestinationLaneAssignment::new(on, layers, self.max_lanes, self.seed, watch)?;
        let mut balancer = PathBalancer::new(on);
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = Vec::with_capacity(layers as usize * terminals * switches);
        let mut level = Vec::with_capacity(next.capacity());
        for layer in 0..layers as usize {
            let grower = RefCell::new(RouteGrower::new(on));
            let next_hops = |tree: &mut NextHopTree, to: SwitchId| {
                plan.next_hops(tree, &mut grower.borrow_mut(), layer, to);
            };
            let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), next_hops);
            let table = balancer.best_layer(&mut trees, &next, watch)?;
            next.extend(table);
            for terminal in on.terminals() {
                let lane = plan.lane(layer, terminal.plug.switch);
                level.resize(level.len() + switches, lane);
            }
        }
        let routing = Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?);
        let lanes = LaneAssignment::new(
            ServiceLevels::BySwitch(level),
            Sl2VlMapping::modulo(self.max_lanes),
        );
        Ok(routing.with_lanes(lanes))
    }
}
