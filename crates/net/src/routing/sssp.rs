//! Single-source shortest paths with growing weights: minimal routes balanced over the network.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks",
//! Hot Interconnects 2009, algorithm 1 (P-SSSP). The paper starts every weight at P^2 so that hops
//! count before balance; here (hops, weight) is compared in that order, which says so exactly.

use super::trees::MinimalTree;
use super::{Engine, NO_ROUTE, RouteError, Routing};
use crate::network::Topology;
use base::{SwitchId, TerminalId, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest paths, balanced over the whole network. One lane: may deadlock.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sssp {}

impl Engine for Sssp {
    const NAME: &'static str = "sssp";

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        balanced_routes(on, layers, watch)
    }
}

/// Cost that a route adds to a channel, per endpoint: 16 at the network's highest link rate, more
/// in proportion on slower links.
fn cost_of_channels(on: &Topology) -> Vec<u64> {
    let rates = on.links().iter().map(|l| l.cable.rate_gbps());
    let fastest = rates.clone().fold(0.0, f64::max);
    rates.flat_map(|r| [(16.0 * fastest / r).round() as u64; 2]).collect()
}

/// Minimal routes to every terminal, then to every switch, each taking the lightest way and adding
/// the endpoints behind every hop to its weight. O(layers * terminals * minimal arcs).
///
/// # Errors
/// [`RouteError::Interrupted`] when `watch` says so.
pub(super) fn balanced_routes(
    on: &Arc<Topology>,
    layers: u32,
    watch: &dyn Watch,
) -> Result<Routing, RouteError> {
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let cost = cost_of_channels(on);
    let mut weigher = Weigher {
        on,
        weight: vec![0; cost.len()],
        cost,
        endpoints: endpoints_per_switch(on),
        length: vec![0; switches],
        chosen: vec![(base::ChannelId(0), 0); switches],
        behind: vec![0; switches],
    };
    let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
    let mut to_switch = vec![NO_ROUTE; switches * switches];
    let mut tree = MinimalTree::default();
    for layer in 0..layers as usize {
        let mut built_for = None;
        for t in (0..terminals).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
            let plug = on.terminals()[t.ix()].plug;
            if built_for != Some(plug.switch) {
                let done = (layer * terminals + t.ix()) as u64;
                watch.tick("routing", done, layers as u64 * terminals as u64)?;
                tree.rebuild(on, plug.switch);
                built_for = Some(plug.switch);
            }
            let at = (layer * terminals + t.ix()) * switches;
            let entries = &mut next[at..at + switches];
            entries[plug.switch.ix()] = plug.port;
            weigher.choose(&tree, plug.switch, entries);
            weigher.add_load(&tree);
        }
    }
    for d in 0..switches {
        tree.rebuild(on, SwitchId::from(d));
        let entries = &mut to_switch[d * switches..(d + 1) * switches];
        entries[d] = 0;
        weigher.choose(&tree, SwitchId::from(d), entries);
    }
    Ok(Routing::new(on.clone(), layers, next, to_switch))
}

fn endpoints_per_switch(on: &Topology) -> Vec<u32> {
    let up = |s: usize| {
        let attached = on.terminals_on(SwitchId::from(s)).iter();
        attached.filter(|&&t| on.terminal_is_up(t)).count() as u32
    };
    (0..on.switches().len()).map(up).collect()
}

struct Weigher<'a> {
    on: &'a Topology,
    /// Load put on each channel so far, times its cost.
    weight: Vec<u64>,
    cost: Vec<u64>,
    endpoints: Vec<u32>,
    /// Scratch, by switch: weight of the lightest way; the hop it takes; endpoints routed through.
    length: Vec<u64>,
    chosen: Vec<(base::ChannelId, u32)>,
    behind: Vec<u64>,
}

impl Weigher<'_> {
    /// The lightest minimal way of every switch; among equals the lowest port.
    fn choose(&mut self, tree: &MinimalTree, destination: SwitchId, entries: &mut [u16]) {
        self.length[destination.ix()] = 0;
        for (i, &v) in tree.order.iter().enumerate() {
            let mut best = u64::MAX;
            for &(channel, to) in tree.hops(i) {
                let length = self.weight[channel.0 as usize] + self.length[to as usize];
                if length < best {
                    best = length;
                    self.chosen[v as usize] = (channel, to);
                }
            }
            self.length[v as usize] = best;
            entries[v as usize] = self.on.tail(self.chosen[v as usize].0).port;
        }
    }

    /// Adds to every chosen hop the endpoints whose traffic it will carry.
    fn add_load(&mut self, tree: &MinimalTree) {
        for &v in &tree.order {
            self.behind[v as usize] = u64::from(self.endpoints[v as usize]);
        }
        for &v in tree.order.iter().rev() {
            let (channel, to) = self.chosen[v as usize];
            let carried = self.behind[v as usize];
            self.weight[channel.0 as usize] += carried * self.cost[channel.0 as usize];
            self.behind[to as usize] += carried;
        }
    }
}
