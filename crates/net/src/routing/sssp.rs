//! Single-source shortest paths with growing weights: minimal routes balanced over the network.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks",
//! Hot Interconnects 2009, algorithm 1 (P-SSSP). The paper starts every weight at P^2 so that hops
//! count before balance; here (hops, weight) is compared in that order, which says so exactly.

use super::trees::MinimalTree;
use super::{Engine, NO_ROUTE, RouteError, Routing};
use crate::network::Topology;
use base::{ChannelId, Interrupted, SwitchId, TerminalId, Watch};
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
        let minimal = |tree: &mut MinimalTree, to| tree.rebuild(on, to, None);
        balanced_routes(on, layers, minimal, watch)
    }
}

/// Cost that a route adds to a channel, per endpoint: 16 at the network's highest link rate, more
/// in proportion on slower links.
fn cost_of_channels(on: &Topology) -> Vec<u64> {
    let rates = on.links().iter().map(|l| l.cable.rate_gbps());
    let fastest = rates.clone().fold(0.0, f64::max);
    rates.flat_map(|r| [(16.0 * fastest / r).round() as u64; 2]).collect()
}

/// Most times that the routes of a layer are taken again.
const ROUNDS: usize = 4;

/// Routes to every terminal, then to every switch, each taking the lightest of the `ways` to its
/// switch and adding the endpoints behind every hop to its weight; then each route of the layer is
/// taken again while that lowers the largest weight ([`Balancer::refine`]).
/// O(layers * terminals * arcs).
///
/// # Errors
/// [`RouteError::Interrupted`] when `watch` says so.
pub(super) fn balanced_routes(
    on: &Arc<Topology>,
    layers: u32,
    ways: impl Fn(&mut MinimalTree, SwitchId),
    watch: &dyn Watch,
) -> Result<Routing, RouteError> {
    let mut balancer = Balancer::new(on);
    let mut next = Vec::with_capacity(layers as usize * on.terminals().len() * on.switches().len());
    for _ in 0..layers {
        let layer = balancer.layer(&ways, &next, watch)?;
        let layer = balancer.refine(&ways, &next, layer, watch)?;
        next.extend(layer);
    }
    Ok(Routing::new(on.clone(), layers, next, balancer.switch_routes(ways)))
}

/// Minimal routes to every switch, balanced among themselves: what management packets follow where
/// an engine deals with terminals alone. O(switches * arcs).
pub(super) fn minimal_switch_routes(on: &Topology) -> Vec<u16> {
    Balancer::new(on).switch_routes(|tree, to| tree.rebuild(on, to, None))
}

/// The working terminals on each switch, by switch.
pub(crate) fn endpoints_per_switch(on: &Topology) -> Vec<u32> {
    let up = |s: usize| {
        let attached = on.terminals_on(SwitchId::from(s)).iter();
        attached.filter(|&&t| on.terminal_is_up(t)).count() as u32
    };
    (0..on.switches().len()).map(up).collect()
}

/// Chooses lightest ways, and remembers what every channel carries.
pub(super) struct Balancer<'a> {
    on: &'a Topology,
    /// Load put on each channel so far, times its cost.
    weight: Vec<u64>,
    cost: Vec<u64>,
    endpoints: Vec<u32>,
    /// Scratch, by switch: weight of the lightest way; the hop it takes; endpoints routed through.
    length: Vec<u64>,
    chosen: Vec<(ChannelId, u32)>,
    behind: Vec<u64>,
}

impl<'a> Balancer<'a> {
    /// A network that carries nothing yet.
    pub(super) fn new(on: &'a Topology) -> Self {
        let (switches, cost) = (on.switches().len(), cost_of_channels(on));
        Self {
            on,
            weight: vec![0; cost.len()],
            cost,
            endpoints: endpoints_per_switch(on),
            length: vec![0; switches],
            chosen: vec![(ChannelId(0), 0); switches],
            behind: vec![0; switches],
        }
    }

    /// The network.
    pub(super) fn on(&self) -> &'a Topology {
        self.on
    }

    /// The weight of every channel: the load put on it so far, times its cost.
    pub(super) fn weight(&self) -> &[u64] {
        &self.weight
    }

    /// Takes the lightest of the ways of `tree` to `to`, writes their ports, and adds the load of
    /// `times` destinations there.
    pub(super) fn put<I: Iterator<Item = u16>>(
        &mut self,
        tree: &MinimalTree,
        to: SwitchId,
        earlier: impl Fn(u32) -> I,
        times: u64,
        entries: &mut [u16],
    ) {
        self.choose(tree, to, earlier, entries);
        self.carry(tree, times, |weight, load| *weight += load);
    }

    /// Takes back the load of the route that `entries` has over `tree`, of `times` destinations.
    pub(super) fn take_out(&mut self, tree: &MinimalTree, times: u64, entries: &[u16]) {
        for (i, &v) in tree.order.iter().enumerate() {
            let port = entries[v as usize];
            let taken = tree.hops(i).iter().find(|(c, _)| self.on.tail(*c).port == port);
            self.chosen[v as usize] = *taken.expect("a route over another tree");
        }
        self.carry(tree, times, |weight, load| *weight -= load);
    }

    /// Routes to every terminal once, one after the other; the table of one layer. `ways` fills in
    /// the next hops to choose from, `earlier` holds the tables of the layers before: among ways of
    /// equal weight a terminal's own earlier ones come last.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` says so.
    pub(super) fn layer(
        &mut self,
        ways: impl Fn(&mut MinimalTree, SwitchId),
        earlier: &[u16],
        watch: &dyn Watch,
    ) -> Result<Vec<u16>, Interrupted> {
        let (on, mut built_for) = (self.on, None);
        self.routes(None, earlier, watch, |t, tree| {
            let home = on.terminals()[t.ix()].plug.switch;
            if built_for.replace(home) != Some(home) {
                ways(tree, home);
            }
        })
    }

    /// As [`Balancer::layer`] over the channels that are `kept` alone; switches from which these do
    /// not lead to a terminal forward to it as in the first of the layers before.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` says so.
    pub(super) fn layer_within(
        &mut self,
        kept: &[bool],
        earlier: &[u16],
        watch: &dyn Watch,
    ) -> Result<Vec<u16>, Interrupted> {
        let (on, switches) = (self.on, self.on.switches().len());
        let mut inside = vec![false; switches];
        let mut built_for = None;
        self.routes(None, earlier, watch, |t, tree| {
            let home = on.terminals()[t.ix()].plug.switch;
            if built_for.replace(home) != Some(home) {
                tree.rebuild_where(on, home, |_, c| kept[c.0 as usize]);
                inside.fill(false);
                inside[home.ix()] = true;
                tree.order.iter().for_each(|&v| inside[v as usize] = true);
            }
            if inside.contains(&false) {
                let first = &earlier[t.ix() * switches..(t.ix() + 1) * switches];
                tree.rebuild_where(on, home, |v, c| {
                    if inside[v as usize] {
                        kept[c.0 as usize] && inside[on.head(c).switch.ix()]
                    } else {
                        first[v as usize] == on.tail(c).port
                    }
                });
            }
        })
    }

    /// The table of one layer, over the tree that `rebuild` makes of the last one for a terminal.
    /// A route of the table `instead_of` is taken out before the new one is chosen.
    fn routes(
        &mut self,
        instead_of: Option<&[u16]>,
        earlier: &[u16],
        watch: &dyn Watch,
        mut rebuild: impl FnMut(TerminalId, &mut MinimalTree),
    ) -> Result<Vec<u16>, Interrupted> {
        let (switches, terminals) = (self.on.switches().len(), self.on.terminals().len());
        let mut next = vec![NO_ROUTE; terminals * switches];
        let mut tree = MinimalTree::default();
        for t in (0..terminals).map(TerminalId::from).filter(|&t| self.on.terminal_is_up(t)) {
            let plug = self.on.terminals()[t.ix()].plug;
            if t.ix().is_multiple_of(8) {
                watch.tick("routing", t.ix() as u64, terminals as u64)?;
            }
            rebuild(t, &mut tree);
            let entries = &mut next[t.ix() * switches..(t.ix() + 1) * switches];
            entries[plug.switch.ix()] = plug.port;
            let own = |v: u32| {
                let at = t.ix() * switches + v as usize;
                earlier.iter().skip(at).step_by(terminals * switches).copied()
            };
            if let Some(old) = instead_of {
                self.take_out(&tree, 1, &old[t.ix() * switches..(t.ix() + 1) * switches]);
            }
            self.put(&tree, plug.switch, own, 1, entries);
        }
        Ok(next)
    }

    /// The table of a layer after each of its routes was taken out and put back along the ways that
    /// are lightest then. `ways` and `earlier` are those of [`Balancer::layer`].
    fn refine(
        &mut self,
        ways: impl Fn(&mut MinimalTree, SwitchId),
        earlier: &[u16],
        first: Vec<u16>,
        watch: &dyn Watch,
    ) -> Result<Vec<u16>, Interrupted> {
        self.repeat(first, |own, old| {
            let (on, mut built_for) = (own.on, None);
            own.routes(Some(old), earlier, watch, |t, tree| {
                let home = on.terminals()[t.ix()].plug.switch;
                if built_for.replace(home) != Some(home) {
                    ways(tree, home);
                }
            })
        })
    }

    /// The table that `again`, which takes the routes of a table out and puts others in, makes of
    /// the one before, as long as that lowers the largest weight of a channel and it is above the
    /// average, and at most [`ROUNDS`] times.
    ///
    /// # Errors
    /// [`Interrupted`] when `again` was.
    pub(super) fn repeat(
        &mut self,
        mut table: Vec<u16>,
        mut again: impl FnMut(&mut Self, &[u16]) -> Result<Vec<u16>, Interrupted>,
    ) -> Result<Vec<u16>, Interrupted> {
        let channels = self.on.graph().links() as u64 * 2;
        for _ in 0..ROUNDS {
            let total: u64 = self.weight.iter().sum();
            if self.weight.iter().max() <= Some(&total.div_ceil(channels.max(1))) {
                break; // no channel can carry less than the average
            }
            let before = self.weight.clone();
            let next = again(self, &table)?;
            if self.weight.iter().max() >= before.iter().max() {
                self.weight = before;
                break;
            }
            table = next;
        }
        Ok(table)
    }

    /// Routes to every switch, which add no load.
    pub(super) fn switch_routes(&mut self, ways: impl Fn(&mut MinimalTree, SwitchId)) -> Vec<u16> {
        let switches = self.on.switches().len();
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        let mut tree = MinimalTree::default();
        for d in 0..switches {
            ways(&mut tree, SwitchId::from(d));
            let entries = &mut to_switch[d * switches..(d + 1) * switches];
            entries[d] = 0;
            self.choose(&tree, SwitchId::from(d), |_| std::iter::empty(), entries);
        }
        to_switch
    }

    /// The lightest way of every switch; among equals the one whose port `earlier` ways of the
    /// switch used least, then the lowest port.
    fn choose<I: Iterator<Item = u16>>(
        &mut self,
        tree: &MinimalTree,
        destination: SwitchId,
        earlier: impl Fn(u32) -> I,
        entries: &mut [u16],
    ) {
        self.length[destination.ix()] = 0;
        for (i, &v) in tree.order.iter().enumerate() {
            let used = |c: ChannelId| {
                let port = self.on.tail(c).port;
                earlier(v).filter(|p| *p == port).count()
            };
            let (mut best, mut best_used) = (u64::MAX, None);
            let mut chosen = tree.hops(i)[0];
            for &(channel, to) in tree.hops(i) {
                let length = self.weight[channel.0 as usize] + self.length[to as usize];
                if length > best {
                    continue;
                }
                if length == best {
                    let least = *best_used.get_or_insert_with(|| used(chosen.0));
                    let own = used(channel);
                    if own >= least {
                        continue;
                    }
                    best_used = Some(own);
                } else {
                    best_used = None;
                }
                (best, chosen) = (length, (channel, to));
            }
            self.length[v as usize] = best;
            self.chosen[v as usize] = chosen;
            entries[v as usize] = self.on.tail(chosen.0).port;
        }
    }

    /// Gives every chosen hop's weight, and the load of the endpoints behind it, `times`
    /// over, to `change`.
    fn carry(&mut self, tree: &MinimalTree, times: u64, change: impl Fn(&mut u64, u64)) {
        for &v in &tree.order {
            self.behind[v as usize] = u64::from(self.endpoints[v as usize]) * times;
        }
        for &v in tree.order.iter().rev() {
            let (channel, to) = self.chosen[v as usize];
            let carried = self.behind[v as usize];
            let c = channel.0 as usize;
            change(&mut self.weight[c], carried * self.cost[c]);
            self.behind[to as usize] += carried;
        }
    }
}
