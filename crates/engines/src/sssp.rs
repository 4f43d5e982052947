//! Single-source shortest paths with growing weights: minimal routes balanced over the network.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks",
//! Hot Interconnects 2009, algorithm 1 (P-SSSP). The paper starts every weight at P^2 so that hops
//! count before balance. Here paths are compared by hops first and by weight second, which has the
//! same effect exactly.

use super::chosen::{ChosenPorts, TerminalRun};
use super::tree_cache::{NextHopChoices, NextHopTreeCache, runs};
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use base::ComputationError;
use base::{ChannelId, Interrupted, ProgressWatch, SwitchId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTableDraft, NO_ROUTE, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Arc;

/// Shortest paths, balanced over the whole network. One lane: may deadlock.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sssp {}

impl Engine for Sssp {
    const NAME: &'static str = "sssp";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: false };
    const BY_ROWS: bool = true;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        balanced_routes(on, layers, minimal, watch)
    }
}

/// The cost that a route adds to each of its channels, per endpoint: 16 at the network's highest
/// link rate, more in proportion on slower links.
fn cost_of_channels(on: &Topology) -> Vec<u64> {
    let rates = on.links().iter().map(|l| l.cable.rate_gbps());
    let fastest = rates.clone().fold(0.0, f64::max);
    rates.flat_map(|r| [(16.0 * fastest / r).round() as u64; 2]).collect()
}

/// The most repetitions of choosing all routes of a layer again.
const ROUNDS: usize = 4;

/// Balanced routes to every terminal, then to every switch. Each route takes the lightest path in
/// the tree that `build_tree` gives for its destination switch. The weight of each channel of the
/// path grows by the number of endpoints whose routes use that hop. Then each route of the layer is
/// chosen again while that lowers the largest weight ([`PathBalancer::repeat`]). O(layers *
/// terminals * arcs).
///
/// # Errors
/// [`ComputationError::Interrupted`] when `watch` asks to stop.
pub(super) fn balanced_routes(
    on: &Arc<Topology>,
    layers: u32,
    build_tree: impl Fn(&mut NextHopTree, SwitchId),
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    let mut balancer = PathBalancer::new(on);
    let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), build_tree);
    let mut laying = ForwardingTableDraft::new(on, layers);
    let mut before: Vec<ChosenPorts> = Vec::new();
    for layer in 0..layers as usize {
        let chosen =
            balancer.best_chosen(&mut trees, EarlierLayerRoutes::Chosen(&before), watch)?;
        chosen.lay(on, &balancer.runs, &mut trees, layer, &mut laying);
        before.push(chosen);
    }
    let to_switch = balancer.switch_routes(&mut trees, watch)?;
    Ok(Routing::laid(on.clone(), layers, laying, to_switch))
}

/// Minimal routes to every switch over the lowest ports. They are for management packets, where an
/// engine computes only routes to terminals. O(switches * arcs).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn minimal_switch_routes(
    on: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u16>, Interrupted> {
    let (graph, switches) = (on.graph(), on.switches().len());
    let arrives_at: Vec<u16> = on.links().iter().flat_map(|l| [l.b.port, l.a.port]).collect();
    let mut to_switch = vec![NO_ROUTE; switches * switches];
    let mut found = Vec::with_capacity(switches);
    let mut distance = vec![u32::MAX; switches];
    for d in 0..switches {
        watch.tick("routing", d as u64, switches as u64)?;
        let entries = &mut to_switch[d * switches..(d + 1) * switches];
        distance.fill(u32::MAX);
        distance[d] = 0;
        found.clear();
        found.push(d as u32);
        let mut head = 0;
        while let Some(&v) = found.get(head) {
            head += 1;
            let farther = distance[v as usize] + 1;
            let last = found[found.len() - 1];
            if found.len() == switches && distance[last as usize] < farther {
                break; // all switches are found, and none of the last level can forward to this one
            }
            for (&w, c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
                if distance[w as usize] == u32::MAX {
                    distance[w as usize] = farther;
                    found.push(w);
                }
                if distance[w as usize] == farther {
                    let entry = &mut entries[w as usize];
                    *entry = arrives_at[c.0 as usize].min(*entry);
                }
            }
        }
        entries[d] = 0;
    }
    Ok(to_switch)
}

/// The number of working terminals on each switch.
pub(crate) fn endpoints_per_switch(on: &Topology) -> Vec<u32> {
    let up = |s: usize| {
        let attached = on.terminals_on(SwitchId::from(s)).iter();
        attached.filter(|&&t| on.terminal_is_up(t)).count() as u32
    };
    (0..on.switches().len()).map(up).collect()
}

/// For each channel, the port by which it leaves its switch.
pub(super) fn ports_of_channels(on: &Topology) -> Vec<u16> {
    on.links().iter().flat_map(|l| [l.a.port, l.b.port]).collect()
}

/// The routes of the layers before the current one.
#[derive(Clone, Copy)]
enum EarlierLayerRoutes<'e> {
    /// The tables of these layers.
    Tables(&'e [u16]),
    /// The ports chosen in these layers, from the same trees.
    Chosen(&'e [ChosenPorts]),
}

/// Chooses lightest paths, and keeps the load of every channel.
pub(super) struct PathBalancer<'a> {
    on: &'a Topology,
    /// For each channel, the number of routes over it so far, times the channel's cost.
    weight: Vec<u64>,
    /// The part of `weight` that no choice can change: the loads of the earlier layers, and the
    /// load that the current layer puts on channels without an alternative.
    least: Vec<u64>,
    cost: Vec<u64>,
    port: Vec<u16>,
    endpoints: Vec<u32>,
    runs: Rc<Vec<TerminalRun>>,
    /// Scratch, by switch: the weight of the lightest path from it, and the number of endpoints
    /// whose routes pass through it.
    length: Vec<u64>,
    behind: Vec<u64>,
    /// Scratch, for each switch in the order of a tree: the hop taken.
    chosen: Vec<(ChannelId, u32)>,
}

impl<'a> PathBalancer<'a> {
    /// A balancer for a network without load.
    pub(super) fn new(on: &'a Topology) -> Self {
        let (switches, cost) = (on.switches().len(), cost_of_channels(on));
        Self {
            on,
            weight: vec![0; cost.len()],
            least: vec![0; cost.len()],
            cost,
            port: ports_of_channels(on),
            endpoints: endpoints_per_switch(on),
            runs: Rc::new(runs(on)),
            length: vec![0; switches],
            behind: vec![0; switches],
            chosen: Vec::with_capacity(switches),
        }
    }

    /// Takes the lightest path of every switch to `to` in `tree`, writes its ports, and adds the
    /// load of `times` destinations on `to`.
    pub(super) fn put<I: Iterator<Item = u16>>(
        &mut self,
        tree: &NextHopTree,
        to: SwitchId,
        earlier: impl Fn(u32) -> I,
        times: u64,
        entries: &mut [u16],
    ) {
        self.choose(tree, to, |_, v| earlier(v));
        for (&v, (channel, _)) in tree.order.iter().zip(&self.chosen) {
            entries[v as usize] = self.port[channel.0 as usize];
        }
        for &v in &tree.order {
            self.behind[v as usize] = u64::from(self.endpoints[v as usize]) * times;
        }
        self.carry(tree, |weight, load| *weight += load);
    }

    /// As [`PathBalancer::put`], but only for the switches with several next hops; it writes their
    /// ports, in their order. If `again` is set, `ports` hold an old route whose load is removed
    /// first. `earlier` gets the index in that order and the switch, and returns the ports that
    /// earlier routes of the switch used.
    pub(super) fn put_open<I: Iterator<Item = u16>>(
        &mut self,
        choices: &NextHopChoices,
        to: SwitchId,
        earlier: impl Fn(usize, u32) -> I,
        times: u64,
        again: bool,
        ports: &mut [u16],
    ) {
        if again {
            self.read(&choices.open, ports);
            self.start_open(choices, times);
            self.carry(&choices.open, |weight, load| *weight -= load);
        }
        self.choose(&choices.open, to, earlier);
        for (port, (channel, _)) in ports.iter_mut().zip(&self.chosen) {
            *port = self.port[channel.0 as usize];
        }
        self.start_open(choices, times);
        self.carry(&choices.open, |weight, load| *weight += load);
    }

    /// Adds the load of `times` destinations to the channels that have no alternative.
    pub(super) fn put_settled(&mut self, choices: &NextHopChoices, times: u64) {
        let mut add = |channel: ChannelId, carried: u32| {
            let c = channel.0 as usize;
            let load = u64::from(carried) * times * self.cost[c];
            self.least[c] += load;
            load
        };
        for settled in &choices.settled {
            self.weight[settled.channel.0 as usize] += add(settled.channel, settled.carried);
        }
        for (i, &carried) in choices.carried.iter().enumerate() {
            if let [(channel, _)] = *choices.open.hops(i) {
                add(channel, carried);
            }
        }
    }

    /// Starts a layer: the load so far becomes the load of the earlier layers.
    pub(super) fn begin_layer(&mut self) {
        self.least.clone_from(&self.weight);
    }

    /// Routes to every terminal, chosen once, one after the other. Returns the table of one layer.
    /// `trees` has the next hops to choose from, `earlier` the tables of the earlier layers: among
    /// paths of equal weight those come last that routes to the same terminal already use.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub(super) fn layer<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        earlier: &[u16],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<u16>, Interrupted> {
        let chosen = self.chosen(trees, EarlierLayerRoutes::Tables(earlier), watch)?;
        Ok(chosen.table(self.on, &self.runs, trees))
    }

    /// As [`PathBalancer::layer`], but each route is chosen again while that lowers the largest
    /// weight.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub(super) fn best_layer<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        earlier: &[u16],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<u16>, Interrupted> {
        let chosen = self.best_chosen(trees, EarlierLayerRoutes::Tables(earlier), watch)?;
        Ok(chosen.table(self.on, &self.runs, trees))
    }

    /// Chooses ports towards every terminal once, one after the other.
    fn chosen<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        earlier: EarlierLayerRoutes<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<ChosenPorts, Interrupted> {
        let mut chosen = ChosenPorts::default();
        self.begin_layer();
        self.lay(trees, earlier, &mut chosen, false, watch)?;
        Ok(chosen)
    }

    /// As [`PathBalancer::chosen`], but each route is chosen again while that lowers the largest
    /// weight.
    fn best_chosen<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        earlier: EarlierLayerRoutes<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<ChosenPorts, Interrupted> {
        let first = self.chosen(trees, earlier, watch)?;
        self.repeat(first, |own, chosen| own.lay(trees, earlier, chosen, true, watch))
    }

    /// Fills `chosen` for [`PathBalancer::chosen`]. If `again` is set, `chosen` already holds
    /// routes, and the load of each is removed before the new one is chosen.
    fn lay<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        earlier: EarlierLayerRoutes<'_>,
        chosen: &mut ChosenPorts,
        again: bool,
        watch: &dyn ProgressWatch,
    ) -> Result<(), Interrupted> {
        let (runs, terminals) = (Rc::clone(&self.runs), self.on.terminals().len());
        let layer = terminals * self.on.switches().len();
        for (r, (home, run)) in runs.iter().enumerate() {
            watch.tick("routing", run[0] as u64, terminals as u64)?;
            let choices = trees.towards(*home);
            let switches = choices.open.order.len();
            if !again {
                self.put_settled(choices, run.len() as u64);
                chosen.begin_run(run.len(), switches);
            }
            for (i, &t) in run.iter().enumerate() {
                let first = chosen.place(r, i, switches);
                let ports = chosen.at(first, switches);
                match earlier {
                    EarlierLayerRoutes::Tables([]) | EarlierLayerRoutes::Chosen([]) => {
                        let none = |_, _| std::iter::empty();
                        self.put_open(choices, *home, none, 1, again, ports);
                    }
                    EarlierLayerRoutes::Tables(all) => {
                        let row = t * self.on.switches().len();
                        let own =
                            |_, v: u32| all.iter().skip(row + v as usize).step_by(layer).copied();
                        self.put_open(choices, *home, own, 1, again, ports);
                    }
                    EarlierLayerRoutes::Chosen(all) => {
                        let own = |i, _| all.iter().map(move |c| c.port(first + i));
                        self.put_open(choices, *home, own, 1, again, ports);
                    }
                }
            }
        }
        Ok(())
    }

    /// The table of one layer that uses only the channels marked in `kept`. A switch from which
    /// these do not lead to a terminal forwards to it as in the first layer of `earlier`.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub(super) fn layer_within(
        &mut self,
        kept: &[bool],
        earlier: &[u16],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<u16>, Interrupted> {
        let (on, switches, terminals) =
            (self.on, self.on.switches().len(), self.on.terminals().len());
        let mut next = vec![NO_ROUTE; terminals * switches];
        let (mut tree, mut inside) = (NextHopTree::default(), vec![false; switches]);
        for (home, run) in Rc::clone(&self.runs).iter() {
            watch.tick("routing", run[0] as u64, terminals as u64)?;
            let home = *home;
            tree.rebuild_where(on, home, |_, c| kept[c.0 as usize]);
            inside.fill(false);
            inside[home.ix()] = true;
            tree.order.iter().for_each(|&v| inside[v as usize] = true);
            let whole = !inside.contains(&false);
            for &t in run {
                let row = t * switches..(t + 1) * switches;
                if !whole {
                    let first = &earlier[row.clone()];
                    tree.rebuild_where(on, home, |v, c| {
                        if inside[v as usize] {
                            kept[c.0 as usize] && inside[on.head(c).switch.ix()]
                        } else {
                            first[v as usize] == on.tail(c).port
                        }
                    });
                }
                let own = |v: u32| {
                    let at = row.start + v as usize;
                    earlier.iter().skip(at).step_by(terminals * switches).copied()
                };
                let entries = &mut next[row.clone()];
                entries[home.ix()] = on.terminals()[t].plug.port;
                self.put(&tree, home, own, 1, entries);
            }
        }
        Ok(next)
    }

    /// Improves a table by repeated calls of `again`, which removes each route and chooses the path
    /// that is lightest then. It stops when a call no longer lowers the largest weight of a
    /// channel, when that weight is at the mean or is on a channel without an alternative, and
    /// after [`ROUNDS`] calls. Returns the best table.
    ///
    /// # Errors
    /// [`Interrupted`] when `again` returns it.
    pub(super) fn repeat<T: Clone>(
        &mut self,
        mut table: T,
        mut again: impl FnMut(&mut Self, &mut T) -> Result<(), Interrupted>,
    ) -> Result<T, Interrupted> {
        let channels = self.on.graph().links() as u64 * 2;
        for _ in 0..ROUNDS {
            let total: u64 = self.weight.iter().sum();
            let most = self.weight.iter().max();
            if most <= Some(&total.div_ceil(channels.max(1))) || most <= self.least.iter().max() {
                break; // the most loaded channel can carry no less
            }
            let before = self.weight.clone();
            let mut next = table.clone();
            again(self, &mut next)?;
            if self.weight.iter().max() >= before.iter().max() {
                self.weight = before;
                break;
            }
            table = next;
        }
        Ok(table)
    }

    /// Routes to every switch. They add no load.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub(super) fn switch_routes<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<u16>, Interrupted> {
        let switches = self.on.switches().len();
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        for d in (0..switches).map(SwitchId::from) {
            watch.tick("routing", d.ix() as u64, switches as u64)?;
            let entries = &mut to_switch[d.ix() * switches..(d.ix() + 1) * switches];
            let choices = trees.towards(d);
            choices.write_settled(entries);
            entries[d.ix()] = 0;
            self.choose(&choices.open, d, |_, _| std::iter::empty());
            for (&v, (channel, _)) in choices.open.order.iter().zip(&self.chosen) {
                entries[v as usize] = self.port[channel.0 as usize];
            }
        }
        Ok(to_switch)
    }

    /// Chooses the lightest path of every switch; among equals the one whose port the `earlier`
    /// routes of the switch used least, then the lowest port.
    fn choose<I: Iterator<Item = u16>>(
        &mut self,
        tree: &NextHopTree,
        destination: SwitchId,
        earlier: impl Fn(usize, u32) -> I,
    ) {
        self.length[destination.ix()] = 0;
        self.chosen.clear();
        for (i, &v) in tree.order.iter().enumerate() {
            let used = |c: ChannelId| {
                let port = self.port[c.0 as usize];
                earlier(i, v).filter(|p| *p == port).count()
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
            self.chosen.push(chosen);
        }
    }

    /// Makes the route in `ports`, which has the order of `tree`, the chosen one.
    fn read(&mut self, tree: &NextHopTree, ports: &[u16]) {
        self.chosen.clear();
        for (i, &port) in ports.iter().enumerate() {
            let taken = tree.hops(i).iter().find(|(c, _)| self.port[c.0 as usize] == port);
            self.chosen.push(*taken.expect("a route over another tree"));
        }
    }

    /// Sets the load of every switch with several next hops to the load that it forwards for
    /// switches with one.
    fn start_open(&mut self, choices: &NextHopChoices, times: u64) {
        for (&v, &carried) in choices.open.order.iter().zip(&choices.carried) {
            self.behind[v as usize] = u64::from(carried) * times;
        }
    }

    /// Calls `change` for every chosen hop with the weight of its channel and the load of the
    /// endpoints behind it.
    fn carry(&mut self, tree: &NextHopTree, change: impl Fn(&mut u64, u64)) {
        for (&v, &(channel, to)) in tree.order.iter().zip(&self.chosen).rev() {
            let carried = self.behind[v as usize];
            let c = channel.0 as usize;
            change(&mut self.weight[c], carried * self.cost[c]);
            self.behind[to as usize] += carried;
        }
    }
}
