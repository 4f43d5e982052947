//! LASH: one shortest route for every pair of switches, and a lane for every pair.
//!
//! Source: Skeie, Lysne, Theiss, "Layered shortest path (LASH) routing in irregular system area
//! networks", IPDPS 2002: a pair goes to the first lane in which it closes no cycle. The paper
//! takes any shortest route; here each adds the endpoints it carries to the weight of its
//! channels, and the next takes the lightest.

use super::sssp::{Balancer, endpoints_per_switch, minimal_switch_routes};
use super::trees::MinimalTree;
use super::{Engine, NO_ROUTE, RouteError, Routing};
use crate::lanes::{Method, Spread, common_lanes, spread};
use crate::network::Topology;
use base::{SwitchId, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One shortest route and one lane for every pair of switches; all endpoints of a switch alike.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lash {
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[serde(default = "common_lanes")]
    pub max_lanes: u8,
    /// Whether paths are dealt to all `max_lanes` lanes, also where fewer would do.
    #[serde(default)]
    pub balance: bool,
}

impl Engine for Lash {
    const NAME: &'static str = "lash";

    fn examples() -> Vec<Self> {
        vec![Self { max_lanes: 8, balance: false }, Self { max_lanes: 15, balance: true }]
    }

    /// O(layers * switches * (arcs + terminals)), and the lanes.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let endpoints = endpoints_per_switch(on);
        let mut balancer = Balancer::new(on);
        let mut tree = MinimalTree::default();
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut earlier: Vec<Vec<u16>> = vec![Vec::new(); switches];
        for layer in 0..layers as usize {
            for d in (0..switches).filter(|&d| endpoints[d] > 0) {
                watch.tick(
                    "routing",
                    (layer * switches + d) as u64,
                    (layers as usize * switches) as u64,
                )?;
                let to = SwitchId::from(d);
                tree.rebuild(on, to, None);
                let mut entries = vec![NO_ROUTE; switches];
                let own = |v: u32| earlier[d].iter().skip(v as usize).step_by(switches).copied();
                balancer.put(&tree, to, own, endpoints[d].into(), &mut entries);
                for &t in on.terminals_on(to).iter().filter(|&&t| on.terminal_is_up(t)) {
                    let row = (layer * terminals + t.ix()) * switches;
                    next[row..row + switches].copy_from_slice(&entries);
                    next[row + d] = on.terminals()[t.ix()].plug.port;
                }
                earlier[d].extend(entries);
            }
        }
        let routing = Routing::new(on.clone(), layers, next, minimal_switch_routes(on));
        let Self { max_lanes, balance } = *self;
        let how = Spread { method: Method::Online, max_lanes, balance, seed: 0 };
        spread(routing, &how, watch)
    }
}
