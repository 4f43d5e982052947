//! Valiant's detour as fixed tables: every address has an intermediate switch of its own.
//!
//! Source: Valiant & Brebner, "Universal schemes for parallel communication", STOC 1981: a packet
//! goes to a random intermediate node first, then to its destination, so that any traffic loads the
//! network as random traffic does. There the intermediate is drawn for every packet; a forwarding
//! table knows the destination only, so here it is drawn for every (layer, terminal).
//!
//! One route leads from the intermediate to the destination, a minimal one. All other switches send
//! towards the intermediate, minimally, until that route is met, and along it from there: a tree,
//! in which no route is longer than both ways together.

use super::sssp::minimal_switch_routes;
use super::trees::MinimalTree;
use super::{Engine, Promise};
use crate::lanes::Usual;
use base::Stop;
use base::seed::Stream;
use base::{SwitchId, TerminalId, Watch};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Detours over a random switch a terminal and layer; deadlock-free by virtual lanes. Not minimal.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValiantStatic {
    /// Seed of the intermediate switches and of the ways to and from them.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for ValiantStatic {
    const NAME: &'static str = "valiant_static";
    const PROMISE: Promise = Promise { minimal: false, deadlock_free: true };
    const LANES: Usual = Usual::Online;

    fn examples() -> Vec<Self> {
        vec![Self { seed: 0 }]
    }

    /// O(layers * terminals * arcs), and the lanes.
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop> {
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
            let random = &mut Stream::new(self.seed, "valiant", row as u64);
            let middle = SwitchId(near[random.below(near.len() as u64) as usize]);
            let entries = &mut next[row * switches..(row + 1) * switches];
            detour(on, plug.switch, middle, random, entries);
            entries[plug.switch.ix()] = plug.port;
        }
        Ok(Routing::new(on.clone(), layers, next, minimal_switch_routes(on, watch)?))
    }
}

/// Writes the ports of every switch but `home` towards it by way of `middle`.
fn detour(
    on: &Topology,
    home: SwitchId,
    middle: SwitchId,
    random: &mut Stream,
    entries: &mut [u16],
) {
    let mut tree = MinimalTree::default();
    let mut write = |to: SwitchId, entries: &mut [u16]| {
        tree.rebuild(on, to, None);
        for (i, &v) in tree.order.iter().enumerate() {
            let hops = tree.hops(i);
            let (channel, _) = hops[random.below(hops.len() as u64) as usize];
            entries[v as usize] = on.tail(channel).port;
        }
    };
    write(home, entries);
    // the route on from the middle, which goes over what is written next
    let mut way = Vec::new();
    let mut at = middle;
    while at != home {
        let port = entries[at.ix()];
        let (_, ahead) = on.hop(at, port).expect("a minimal next hop is a link");
        way.push((at, port));
        at = ahead;
    }
    write(middle, entries);
    for (switch, port) in way {
        entries[switch.ix()] = port;
    }
}
