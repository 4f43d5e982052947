//! Random minimal next hops: equal-cost multi-path hashing (ECMP) in fixed tables.
//!
//! Source: Hopps, "Analysis of an equal-cost multi-path algorithm", RFC 2992, 2000: every switch
//! takes one of its equally short next hops, by a hash that knows no load. Here the hash is of the
//! destination and its layer, which are all that a forwarding table can see.

use super::sssp::minimal_switch_routes;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::seed::RandomStream;
use base::{ProgressWatch, TerminalId};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Random shortest paths, with different next hops in different layers; deadlock-free by virtual
/// lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ecmp {
    /// Seed of the choice.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for Ecmp {
    const NAME: &'static str = "ecmp";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        vec![Self { seed: 0 }, Self { seed: 1 }]
    }

    /// Every switch assigns its minimal next hops to the layers of a terminal in a random order,
    /// and uses each of them once before it uses one again. O(layers * terminals * minimal arcs),
    /// and the time of assigning lanes.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let (mut tree, mut built_for) = (NextHopTree::default(), None);
        for t in (0..terminals).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
            watch.tick("routing", t.ix() as u64, terminals as u64)?;
            let plug = on.terminals()[t.ix()].plug;
            if built_for.replace(plug.switch) != Some(plug.switch) {
                tree.rebuild(on, plug.switch, None);
            }
            let random = &mut RandomStream::new(self.seed, "ecmp", t.ix() as u64);
            let entry = |layer: usize, v: usize| (layer * terminals + t.ix()) * switches + v;
            for layer in 0..layers as usize {
                next[entry(layer, plug.switch.ix())] = plug.port;
            }
            for (i, &v) in tree.order.iter().enumerate() {
                let mut hops = tree.hops(i).to_vec();
                for layer in 0..layers as usize {
                    let turn = layer % hops.len();
                    if turn == 0 {
                        random.shuffle(&mut hops);
                    }
                    next[entry(layer, v as usize)] = on.tail(hops[turn].0).port;
                }
            }
        }
        Ok(Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?))
    }
}
