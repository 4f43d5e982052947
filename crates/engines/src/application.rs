//! Routes for known traffic: a route adds to each of its channels the amount that will be sent.
//!
//! Source: Domke, Hoefler, "Scheduling-aware routing for supercomputers", SC 2016: SSSP routing
//! whose weights grow by the demand of the pairs that communicate instead of by one for every pair.
//! Added here: destinations of most traffic come first; the routes to each destination are removed
//! and chosen again a few times, as long as the load of the most loaded channel falls; then single
//! next hops are changed ([`super::rehang`]), also to routes that are longer by at most `slack`
//! hops.

use super::rehang::{AnnealingParameters, LoadedRoutingTrees};
use super::sssp::{balanced_routes, endpoints_per_switch, minimal_switch_routes};
use super::tree_cache::NextHopTreeCache;
use super::trees::NextHopTree;
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::seed::FastRandomStream;
use base::{ChannelId, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTree, RouteWalk, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shortest or nearly shortest paths for a given traffic matrix; deadlock-free lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApplicationEngine {
    /// Who sends how much to whom: source switch, destination terminal, both by number, and an
    /// amount of at least 0. `--traffic` and `traffic=` fill it in.
    pub flows: Vec<(u32, u32, f64)>,
    /// How often all routes are chosen again, 0 to 100.
    #[serde(default = "a_few")]
    pub rounds: u32,
    /// How many hops longer than the shortest a route may be.
    #[serde(default)]
    pub slack: u32,
    /// How many changes of a next hop are tried in the end; by the number of flows when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<u64>,
    /// Seed of the changes that are tried.
    #[serde(default)]
    pub seed: u64,
}

/// The largest number of flows. They are an option and are kept with the tables, so they must stay
/// few.
const MOST_FLOWS: usize = 1 << 20;

const fn a_few() -> u32 {
    4
}

impl Engine for ApplicationEngine {
    const NAME: &'static str = "application";
    const FILES: &'static [&'static str] = &["traffic"];
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        let flows = vec![(0, 0, 1.0), (0, 1, 2.0)];
        let short = Self { flows: Vec::new(), rounds: 2, slack: 0, moves: None, seed: 0 };
        let long = Self { flows, slack: 2, moves: Some(2000), seed: 1, ..short.clone() };
        vec![short, long]
    }

    /// O((rounds + 2) * layers * terminals * arcs), and the time of assigning lanes. Each layer is
    /// routed on top of the load of the earlier layers; a terminal's traffic is split evenly over
    /// the layers.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        if self.rounds > 100 {
            let why = format!("{} rounds", self.rounds);
            return Err(Refusal::new("rounds", why, "0 to 100").into());
        }
        let mut state = RoutedTrafficLoads::new(on, layers, &self.flows)?;
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), minimal);
        let plain = balanced_routes(on, layers, minimal, watch)?;
        let mut best = plain.next();
        let mut least = state.most_loaded(&best);
        let mut next = best.clone();
        for round in 0..=self.rounds {
            watch.tick("rounds", round.into(), u64::from(self.rounds) + 1)?;
            state.lay_all(&mut trees, &mut next, round > 0);
            let most = state.most_loaded(&next);
            if most < least {
                (least, best) = (most, next.clone());
            } else if round > 0 {
                break;
            }
        }
        let mut trees = LoadedRoutingTrees::new(on, layers as usize, &state.of, &state.rate, &best);
        let rules =
            AnnealingParameters { slack: self.slack, moves: self.moves(layers), heat: HEAT };
        trees.search(rules, &mut FastRandomStream::new(self.seed, "application", 0), watch)?;
        trees.write(&state.of, &mut best);
        Ok(Routing::new(on.clone(), layers, best, minimal_switch_routes(on, watch)?))
    }
}

impl ApplicationEngine {
    /// The number of changes that are tried: by default 100 for every flow and layer.
    fn moves(&self, layers: u32) -> u64 {
        let flows = self.flows.len() as u64 * u64::from(layers);
        self.moves.unwrap_or((flows * 100).clamp(100_000, 5_000_000))
    }
}

/// The temperatures of the annealing search at its start and at its end.
const HEAT: (f64, f64) = (3e-5, 3e-6);

/// The traffic matrix, and the load of every channel under the current tables.
struct RoutedTrafficLoads<'a> {
    on: &'a Topology,
    layers: usize,
    /// For each terminal, the amounts that it receives, by source switch.
    of: Vec<Vec<(u32, f64)>>,
    /// The working terminals; those that receive most come first.
    order: Vec<TerminalId>,
    /// The rate of each channel as a fraction of the highest rate.
    rate: Vec<f64>,
    load: Vec<f64>,
    length: Vec<f64>,
}

impl<'a> RoutedTrafficLoads<'a> {
    fn new(on: &'a Topology, layers: u32, flows: &[(u32, u32, f64)]) -> Result<Self, Refusal> {
        if flows.len() > MOST_FLOWS {
            let why = format!("{} flows", flows.len());
            let help = format!("at most {MOST_FLOWS}; for uniform traffic use dfsssp");
            return Err(Refusal::new("flows", why, help));
        }
        let mut of = vec![Vec::new(); on.terminals().len()];
        for (i, &(from, to, amount)) in flows.iter().enumerate() {
            let (s, t) = (on.switches().len(), on.terminals().len());
            let known = (from as usize) < s && (to as usize) < t;
            if !known || !amount.is_finite() || amount < 0.0 {
                let why = format!("flow {i} is ({from}, {to}, {amount})");
                let help = format!("a switch below {s}, a terminal below {t}, at least 0");
                return Err(Refusal::new("flows", why, help));
            }
            of[to as usize].push((from, amount / f64::from(layers)));
        }
        let total = |t: &TerminalId| of[t.ix()].iter().map(|(_, x)| x).sum::<f64>();
        let all = (0..on.terminals().len()).map(TerminalId::from);
        let mut order: Vec<TerminalId> = all.filter(|&t| on.terminal_is_up(t)).collect();
        order.sort_by(|a, b| total(b).total_cmp(&total(a)).then(a.cmp(b)));
        let rates: Vec<f64> = on.links().iter().map(|l| l.cable.rate_gbps()).collect();
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        let rate: Vec<f64> = rates.iter().flat_map(|r| [r / fastest; 2]).collect();
        let (load, n) = (vec![0.0; rate.len()], on.switches().len());
        Ok(Self { on, layers: layers as usize, of, order, rate, load, length: vec![0.0; n] })
    }

    /// Returns the largest quotient of load and rate over all channels under these tables. Leaves
    /// all loads in `load`.
    fn most_loaded(&mut self, next: &[u16]) -> f64 {
        self.load.fill(0.0);
        for layer in 0..self.layers {
            for i in 0..self.order.len() {
                self.carry(next, layer, self.order[i], 1.0);
            }
        }
        self.load.iter().zip(&self.rate).map(|(l, r)| l / r).fold(0.0, f64::max)
    }

    /// Adds the traffic to one terminal, multiplied by `times`, to the channels of its routes.
    fn carry(&mut self, next: &[u16], layer: usize, t: TerminalId, times: f64) {
        let n = self.on.switches().len();
        let row = (layer * self.on.terminals().len() + t.ix()) * n;
        let tree = ForwardingTree::plain(&next[row..row + n]);
        for &(from, amount) in &self.of[t.ix()] {
            for hop in RouteWalk::new(self.on, tree, SwitchId(from)) {
                self.load[hop.channel.0 as usize] += times * amount;
            }
        }
    }

    /// Chooses the routes to all terminals: from no load, or, if `again` is set, with each old
    /// route removed before its new one is chosen. `next` already has the ports of switches with a
    /// single next hop.
    fn lay_all<W: Fn(&mut NextHopTree, SwitchId)>(
        &mut self,
        trees: &mut NextHopTreeCache<'_, W>,
        next: &mut [u16],
        again: bool,
    ) {
        if !again {
            self.load.fill(0.0);
        }
        for layer in 0..self.layers {
            for i in 0..self.order.len() {
                let t = self.order[i];
                if again {
                    self.carry(next, layer, t, -1.0);
                }
                let home = self.on.terminals()[t.ix()].plug.switch;
                self.lay(&trees.towards(home).open, home, next, layer, t);
                self.carry(next, layer, t, 1.0);
            }
        }
    }

    /// Gives every switch of the tree its lightest shortest path to a terminal.
    fn lay(
        &mut self,
        tree: &NextHopTree,
        home: SwitchId,
        next: &mut [u16],
        layer: usize,
        t: TerminalId,
    ) {
        let row = (layer * self.on.terminals().len() + t.ix()) * self.on.switches().len();
        self.length[home.ix()] = 0.0;
        for (i, &v) in tree.order.iter().enumerate() {
            let weight = |&(c, to): &(ChannelId, u32)| {
                let ix = c.0 as usize;
                self.load[ix].max(0.0) / self.rate[ix] + self.length[to as usize]
            };
            let least = tree.hops(i).iter().min_by(|a, b| weight(a).total_cmp(&weight(b)));
            let hop = least.expect("a switch of the order has a next hop");
            self.length[v as usize] = weight(hop);
            next[row + v as usize] = self.on.tail(hop.0).port;
        }
    }
}
