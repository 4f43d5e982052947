//! Valiant routing in fixed tables: every address has its own intermediate switch.
//!
//! Source: Valiant & Brebner, "Universal schemes for parallel communication", STOC 1981: a packet
//! goes to a random intermediate node first, then to its destination, so that any traffic loads the
//! network as random traffic does. In the paper the intermediate is drawn for every packet. A
//! forwarding table knows the destination only, so here it is drawn for every (layer, terminal).
//!
//! One minimal route leads from the intermediate switch to the destination. All other switches send
//! minimally towards the intermediate until they meet that route, and along it from there. The
//! result is a tree in which no route is longer than the two parts together.

use super::sssp::minimal_switch_routes;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::seed::RandomStream;
use base::{ProgressWatch, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Routes over a random intermediate switch for each terminal and layer; deadlock-free by virtual
/// lanes. Not minimal.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValiantStatic {
    /// Seed of the intermediate switches and of the paths to and from them.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for ValiantStatic {
    const NAME: &'static str = "valiant_static";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        vec![Self { seed: 0 }]
    }

    /// O(layers * terminals * arcs), and the time of assigning lanes.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let (component, parts) = on.graph().components();
        let mut near: Vec<Vec<u32>> = vec![Vec::new(); parts as usize];
        for (s, &part) in (0..).zip(&component) {
            near[part as usize].push(s);
        }
        let rows = layers as usize * terminals;
        for row in 0..rows {
            let t = TerminalId::from(row % terminals);
            if !on.terminal_is_up(t) {
                continue;
            }
            watch.tick("routing", row as u64, rows as u64)?;
            let plug = on.terminals()[t.ix()].plug;
            let near = &near[component[plug.switch.ix()] as usize];
            let random = &mut RandomStream::new(self.seed, "valiant", row as u64);
            let middle = SwitchId(near[random.below(near.len() as u64) as usize]);
            let entries = &mut next[row * switches..(row + 1) * switches];
            detour(on, plug.switch, middle, random, entries);
            entries[plug.switch.ix()] = plug.port;
        }
        Ok(Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?))
    }
}

/// Writes the port of every switch but `home` towards `home` over the intermediate switch `middle`.
fn detour(
    on: &Topology,
    home: SwitchId,
    middle: SwitchId,
    random: &mut RandomStream,
    entries: &mut [u16],
) {
    let mut tree = NextHopTree::default();
    let mut write = |to: SwitchId, entries: &mut [u16]| {
        tree.rebuild(on, to, None);
        for (i, &v) in tree.order.iter().enumerate() {
            let hops = tree.hops(i);
            let (channel, _) = hops[random.below(hops.len() as u64) as usize];
            entries[v as usize] = on.tail(channel).port;
        }
    };
    write(home, entries);
    // the route from `middle` on is stored: it must replace the entries that are written next
    let mut last_part = Vec::new();
    let mut at = middle;
    while at != home {
        let port = entries[at.ix()];
        let (_, ahead) = on.hop(at, port).expect("a minimal next hop is a link");
        last_part.push((at, port));
        at = ahead;
    }
    write(middle, entries);
    for (switch, port) in last_part {
        entries[switch.ix()] = port;
    }
}
