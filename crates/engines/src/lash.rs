//! LASH: one shortest route for every pair of switches, and a lane for every pair.
//!
//! Source: Skeie, Lysne, Theiss, "Layered shortest path (LASH) routing in irregular system area
//! networks", IPDPS 2002: a pair is assigned to the first lane in which it closes no cycle. The
//! paper takes any shortest route. Here each route adds the number of its endpoints to the weight
//! of its channels, and the next route takes the lightest path. Then all routes are chosen again as
//! long as that lowers the largest load.

use super::sssp::{PathBalancer, endpoints_per_switch};
use super::tree_cache::NextHopTreeCache;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One shortest route and one lane for every pair of switches, for all endpoints of a switch.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lash {}

impl Engine for Lash {
    const NAME: &'static str = "lash";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    /// O(layers * switches * (arcs + terminals)), and the time of assigning lanes.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let endpoints = endpoints_per_switch(on);
        let mut balancer = PathBalancer::new(on);
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        let mut trees = NextHopTreeCache::new(on, endpoints.clone(), minimal);
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut earlier: Vec<u16> = Vec::new();
        for layer in 0..layers as usize {
            let mut first = vec![NO_ROUTE; switches * switches];
            balancer.begin_layer();
            between(&mut balancer, &mut trees, &endpoints, &earlier, &mut first, false, watch)?;
            let found = balancer.repeat(first, |balancer, table: &mut Vec<u16>| {
                between(balancer, &mut trees, &endpoints, &earlier, table, true, watch)
            })?;
            for (t, terminal) in on.terminals().iter().enumerate() {
                if on.terminal_is_up(TerminalId::from(t)) {
                    let (row, d) = ((layer * terminals + t) * switches, terminal.plug.switch.ix());
                    let entries = &found[d * switches..(d + 1) * switches];
                    next[row..row + switches].copy_from_slice(entries);
                    next[row + d] = terminal.plug.port;
                }
            }
            earlier.extend(found);
        }
        let to_switch = PathBalancer::new(on).switch_routes(&mut trees, watch)?;
        Ok(Routing::new(on.clone(), layers, next, to_switch))
    }
}

/// Chooses ports towards every switch with endpoints: for every pair the lightest shortest route.
/// If `again` is set, the load of each route in `table` is removed before the new one is chosen.
/// `earlier` has the tables of the earlier layers. O(switches * arcs).
fn between<W: Fn(&mut NextHopTree, SwitchId)>(
    balancer: &mut PathBalancer<'_>,
    trees: &mut NextHopTreeCache<'_, W>,
    endpoints: &[u32],
    earlier: &[u16],
    table: &mut [u16],
    again: bool,
    watch: &dyn ProgressWatch,
) -> Result<(), Interrupted> {
    let switches = endpoints.len();
    for d in (0..switches).filter(|&d| endpoints[d] > 0) {
        watch.tick("routing", d as u64, switches as u64)?;
        let (to, times) = (SwitchId::from(d), endpoints[d].into());
        let choices = trees.towards(to);
        let entries = &mut table[d * switches..(d + 1) * switches];
        if !again {
            balancer.put_settled(choices, times);
            choices.write_settled(entries);
        }
        let own = |_: usize, v: u32| {
            let at = d * switches + v as usize;
            earlier.iter().skip(at).step_by(switches * switches).copied()
        };
        let mut ports: Vec<u16> = choices.open.order.iter().map(|&v| entries[v as usize]).collect();
        balancer.put_open(choices, to, own, times, again, &mut ports);
        choices.write_open(&ports, entries);
    }
    Ok(())
}
