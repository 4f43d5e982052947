//! The destination's number chooses among shortest next hops.
//!
//! Source: Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI
//! global collectives", Journal of Parallel and Distributed Computing 72(11), 2012: upwards,
//! the port is the destination modulo the number of ports up. This is it for trees of two levels,
//! and a choice as plain on any other network.

use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use base::{ComputationError, ProgressWatch, SwitchId};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths; the destination's number chooses the next hop. One lane: may deadlock.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DModK {
    /// Added to the number of every destination; default 0.
    #[serde(default)]
    pub shift: u32,
}

impl Engine for DModK {
    const NAME: &'static str = "d_mod_k";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: false };

    fn examples() -> Vec<Self> {
        vec![Self { shift: 0 }, Self { shift: 3 }]
    }

    /// Layer i takes the i-th next hop after the one that the number says. O(layers * terminals *
    /// switches + switches * arcs).
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        let mut tree = NextHopTree::default();
        for home in (0..switches).map(SwitchId::from) {
            watch.tick("routing", home.ix() as u64, switches as u64)?;
            tree.rebuild(on, home, None);
            let lay = |row: &mut [u16], own: u16, number: usize| {
                row[home.ix()] = own;
                for (i, &v) in tree.order.iter().enumerate() {
                    let hops = tree.hops(i);
                    row[v as usize] = on.tail(hops[number % hops.len()].0).port;
                }
            };
            lay(&mut to_switch[home.ix() * switches..][..switches], 0, home.ix());
            for t in on.terminals_on(home).iter().filter(|t| on.terminal_is_up(**t)) {
                for layer in 0..layers as usize {
                    let row = &mut next[(layer * terminals + t.ix()) * switches..][..switches];
                    let number = t.ix() + layer + self.shift as usize;
                    lay(row, on.terminals()[t.ix()].plug.port, number);
                }
            }
        }
        Ok(Routing::new(on.clone(), layers, next, to_switch))
    }
}
