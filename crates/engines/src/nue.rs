//! Nue: routes that are chosen within the dependencies a lane can take, on any number of lanes.
//!
//! Source: Domke, Hoefler, Matsuoka, "Routing on the dependency graph: a new approach to
//! deadlock-free high-performance routing", HPDC 2016. Destinations are dealt to the lanes; the
//! routes to each are grown hop by hop, and a hop is taken only where its dependency closes no
//! cycle in the lane; a spanning tree whose dependencies are taken beforehand is the way out.
//!
//! What differs. The paper grows the routes to one destination after the other and tests every
//! dependency for cycles on the way, so that the last destinations take what the first have left.
//! Here every lane gets an order of its channels first, and dependencies that go forward in it are
//! taken, which needs no test: a lane takes destinations as long as all their shortest routes go
//! forward ([`plan`]); where lanes are too few for that, the order is one in which as much as
//! possible goes forward, for all destinations alike ([`order`]), and all of a spanning tree's own
//! turns ([`spine`]). Then the routes are balanced over all hops that fit the orders ([`within`]),
//! and taken again while that lowers the largest load.

use super::forest::Forest;
use super::sssp::{Balancer, endpoints_per_switch, minimal_switch_routes};
use super::trees::MinimalTree;
use super::{Engine, Promise};
use crate::lanes::{Usual, common_lanes};
use base::Stop;
use base::{Refusal, SwitchId, Watch};
use fabric::network::Topology;
use fabric::tables::{Lanes, Routing, ServiceLevels, Sl2Vl};
use plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;
use within::Grower;

mod order;
mod plan;
mod spine;
mod turns;
mod within;

/// Balanced routes within what the lanes can take: free of deadlock on any number of lanes from 1.
/// Not all minimal where lanes are few.
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
    const PROMISE: Promise = Promise { minimal: false, deadlock_free: true };
    const LANES: Usual = Usual::Own;

    fn examples() -> Vec<Self> {
        [8, 1, 2].map(|max_lanes| Self { max_lanes, seed: 0 }).to_vec()
    }

    /// O(layers * terminals * switches + switches * arcs), and for each lane and each time that its
    /// channels are moved O(turns * log(network radix)).
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
        }
        let plan = Plan::new(on, layers, self.max_lanes, self.seed, watch)?;
        let mut balancer = Balancer::new(on);
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = Vec::with_capacity(layers as usize * terminals * switches);
        let mut level = Vec::with_capacity(next.capacity());
        for layer in 0..layers as usize {
            let grower = RefCell::new(Grower::new(on));
            let ways = |tree: &mut MinimalTree, to: SwitchId| {
                plan.ways(tree, &mut grower.borrow_mut(), layer, to);
            };
            let mut forest = Forest::new(on, endpoints_per_switch(on), ways);
            let table = balancer.best_layer(&mut forest, &next, watch)?;
            next.extend(table);
            for terminal in on.terminals() {
                let lane = plan.lane(layer, terminal.plug.switch);
                level.resize(level.len() + switches, lane);
            }
        }
        let routing = Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?);
        let lanes = Lanes::new(ServiceLevels::BySwitch(level), Sl2Vl::modulo(self.max_lanes));
        Ok(routing.with_lanes(lanes))
    }
}
