//! Paths per channel when every endpoint talks to every other.
//!
//! Source: Heydemann, Meyer, Sotteau, "On forwarding indices of networks", 1989.

use crate::routing::Routing;
use std::collections::BTreeMap;

/// Routes over each channel: all ordered pairs of terminals of one plane, all layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeLoad {
    /// Routes by channel; channels that are down carry 0.
    pub routes: Vec<u64>,
    /// `histogram[n]` working channels carry `n` routes.
    pub histogram: BTreeMap<u64, u64>,
    /// Sum of the hops of all routes.
    pub hops: u64,
}

impl EdgeLoad {
    /// The edge forwarding index of the routing: the most routes on any channel.
    pub fn index(&self) -> u64 {
        self.histogram.keys().next_back().copied().unwrap_or(0)
    }

    /// No routing of the same mean path length can have a lower index: total hops over channels.
    pub fn mean_bound(&self) -> u64 {
        self.hops.div_ceil(self.histogram.values().sum::<u64>().max(1))
    }
}

/// Counts the routes over every channel. O(hops of all routes).
///
/// Routes that do not arrive count as far as they go, at most one pass over every switch.
pub fn edge_load(routing: &Routing) -> EdgeLoad {
    let on = routing.topology();
    let sources = routing.sources();
    let mut routes = vec![0_u64; on.graph().links() * 2];
    for (layer, t) in routing.destinations() {
        let tree = routing.tree(layer, t);
        for &(source, endpoints) in sources.of_plane(on.plane_of(t)) {
            let mut at = source;
            for _ in 0..on.switches().len() {
                let Some((channel, next)) = routing.step(tree, at) else { break };
                routes[channel.0 as usize] += u64::from(endpoints);
                at = next;
            }
        }
    }
    let mut histogram = BTreeMap::new();
    for s in 0..on.graph().switches() {
        for c in on.graph().channels(s) {
            *histogram.entry(routes[c.0 as usize]).or_insert(0) += 1;
        }
    }
    EdgeLoad { hops: routes.iter().sum(), routes, histogram }
}
