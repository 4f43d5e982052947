//! Layered routing: minimal paths in the first layer, almost-minimal ones in all others.
//!
//! Source: Blach, Besta, De Sensi, Domke, Harake, Li, Iff, Konieczny, Lakhotia, Kubicek, Ferrari,
//! Petrini, Hoefler, "A high-performance design, implementation, deployment, and evaluation of the
//! Slim Fly network", NSDI 2024, algorithm 1 and appendix B: every layer gives as many switch pairs
//! Slim Fly network", NSDI 2024, algorithm 1 and appendix B: every layer gives as many switch pairs
//! as it can a path one hop longer than the diameter. Pairs with such paths in the fewest layers
//! come first, and each gets the path over the least used channels. Every other pair takes the
//! lightest path that agrees with the hops already fixed. Two additions here: among the paths of a
//! pair those come first that share the fewest links with its routes in the earlier layers, since
//! different paths are the purpose; and where fixed hops would make a route longer than the limit,
//! some of them become free again.

use super::sssp::{PathBalancer, endpoints_per_switch};
use super::tree_cache::NextHopTreeCache;
use super::trees::{FixedHops, NextHopTree};
use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::distance::distances_among;
use base::seed::RandomStream;
use base::{ChannelId, Interrupted, LinkId, ProgressWatch, Refusal, SwitchId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTree, RouteWalk, Routing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Several different paths to every endpoint: one minimal, the others almost minimal; deadlock-free
/// lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layered {
    /// Most hops of the almost-minimal paths, 1 to 8; the diameter plus one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Fewest hops of the almost-minimal paths, 1 to `hops`; `hops` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_hops: Option<u32>,
    /// Whether the pairs that have an almost-minimal path in the fewest layers come first; else all
    /// come in random order.
    #[serde(default = "yes")]
    pub priority: bool,
    /// Whether, among the paths that share the fewest links with the pair's earlier routes, the one
    /// over the least used channels is taken; else the first by port numbers.
    #[serde(default = "yes")]
    pub weights: bool,
    /// Seed of the order among pairs with almost-minimal paths in equally many layers.
    #[serde(default)]
    pub seed: u64,
}

/// The limit of `hops`: the number of paths grows as the radix to this power.
const MOST_HOPS: u32 = 8;

const fn yes() -> bool {
    true
}

impl Default for Layered {
    fn default() -> Self {
        let (hops, min_hops) = (None, None);
        Self { hops, min_hops, priority: true, weights: true, seed: 0 }
    }
}

impl Engine for Layered {
    const NAME: &'static str = "layered";
    const PROMISE: EnginePromise = EnginePromise { minimal: false, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        let usual = Self::default();
        let (min_hops, priority) = (Some(1), false);
        vec![usual.clone(), Self { min_hops, priority, ..usual }]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let hops = match self.hops {
            Some(hops) => hops,
            None => distances_among(on.graph(), &on.edge_switches(), watch)?.diameter() + 1,
        };
        if !(1..=MOST_HOPS).contains(&hops) {
            let why = format!("paths of {hops} hops");
            let help = format!("1 to {MOST_HOPS}: this engine is for networks of low diameter");
            return Err(Refusal::new("hops", why, help).into());
        }
        let min_hops = self.min_hops.unwrap_or(hops);
        if !(1..=hops).contains(&min_hops) {
            let why = format!("paths of at least {min_hops} hops");
            let help = format!("1 to {hops}, the most hops; nearest: {}", min_hops.clamp(1, hops));
            return Err(Refusal::new("min_hops", why, help).into());
        }
        let mut balancer = PathBalancer::new(on);
        let minimal = |tree: &mut NextHopTree, to| tree.rebuild(on, to, None);
        let mut trees = NextHopTreeCache::new(on, endpoints_per_switch(on), minimal);
        let mut next = balancer.layer(&mut trees, &[], watch)?;
        let mut planner = LayerPlanner::new(on, self, min_hops..=hops);
        for layer in 1..layers {
            let random = &mut RandomStream::new(self.seed, "layered", layer.into());
            let paths = planner.layer(random, &next, watch)?;
            let almost = |tree: &mut NextHopTree, to: SwitchId| {
                tree.rebuild(on, to, Some(&paths[to.ix()]));
            };
            let mut almost = NextHopTreeCache::new(on, endpoints_per_switch(on), almost);
            let layer = balancer.layer(&mut almost, &next, watch)?;
            next.extend(layer);
        }
        Ok(Routing::new(on.clone(), layers, next, balancer.switch_routes(&mut trees, watch)?))
    }
}

/// Plans the almost-minimal paths of one layer after the other. It remembers which channels and
/// pairs the earlier layers served.
struct LayerPlanner<'a> {
    on: &'a Topology,
    rules: &'a Layered,
    /// The fewest and the most hops of an almost-minimal path.
    hops: RangeInclusive<u32>,
    endpoints: Vec<u32>,
    /// The load that the almost-minimal paths have put on each channel.
    weight: Vec<u64>,
    /// For each destination and source, the number of layers in which the pair has an
    /// almost-minimal path.
    served: Vec<Vec<u32>>,
    /// Hop distances by destination, then switch; an empty list for destinations without endpoints.
    distance: Vec<Vec<u32>>,
}

impl<'a> LayerPlanner<'a> {
    fn new(on: &'a Topology, rules: &'a Layered, hops: RangeInclusive<u32>) -> Self {
        let n = on.switches().len();
        let endpoints = endpoints_per_switch(on);
        let towards = |d: usize| match endpoints[d] {
            0 => Vec::new(),
            _ => on.graph().distances_from(d),
        };
        let distance = (0..n).map(towards).collect();
        let weight = vec![0; on.graph().links() * 2];
        let served = vec![vec![0; n]; n];
        Self { on, rules, hops, endpoints, weight, served, distance }
    }

    /// The almost-minimal paths of the next layer, by destination switch. `next` is the table of
    /// the earlier layers.
    fn layer(
        &mut self,
        random: &mut RandomStream,
        next: &[u16],
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<FixedHops>, Interrupted> {
        let n = self.on.switches().len();
        let mut fixed: Vec<FixedHops> = vec![vec![None; n]; n];
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for d in (0..n).filter(|&d| self.endpoints[d] > 0) {
            let reached = |s: &usize| *s != d && self.distance[d][*s] <= *self.hops.end();
            let sources = (0..n).filter(|&s| self.endpoints[s] > 0).filter(reached);
            pairs.extend(sources.map(|s| (s as u32, d as u32)));
        }
        random.shuffle(&mut pairs);
        if self.rules.priority {
            pairs.sort_by_key(|&(s, d)| self.served[d as usize][s as usize]);
        }
        let total = pairs.len() as u64;
        for (i, (s, d)) in pairs.into_iter().enumerate() {
            if i.is_multiple_of(1024) {
                watch.tick("almost-minimal paths", i as u64, total)?;
            }
            let (s, d) = (s as usize, d as usize);
            if fixed[d][s].is_none()
                && let Some(path) = self.lightest(s, d, &fixed[d], next)
            {
                self.insert(&path, d, &mut fixed[d]);
            }
        }
        let mut tree = NextHopTree::default();
        for (d, fixed) in fixed.iter_mut().enumerate() {
            watch.tick("routes of the rest", d as u64, n as u64)?;
            if self.endpoints[d] > 0 {
                self.settle(d, fixed, &mut tree);
            }
        }
        Ok(fixed)
    }

    /// Frees fixed hops that make a route to `d` longer than the almost-minimal paths, and then
    /// counts the almost-minimal paths that remain.
    ///
    /// On every such route some switch is fixed to a hop that is on no shortest path. Freeing that
    /// switch makes no route longer, and with nothing fixed all routes are shortest, so the loop
    /// ends.
    fn settle(&mut self, d: usize, fixed: &mut FixedHops, tree: &mut NextHopTree) {
        let (home, shortest) = (SwitchId::from(d), &self.distance[d]);
        loop {
            tree.rebuild(self.on, home, Some(fixed));
            let most = |v: u32| (*self.hops.end()).max(shortest[v as usize]);
            let mut all = true;
            for &v in tree.order.iter().filter(|&&v| tree.distance(v) > most(v)) {
                let mut at = v as usize;
                while at != d && fixed[at].take().is_none() {
                    let nearer = |w: &&u32| shortest[**w as usize] + 1 == shortest[at];
                    let step = self.on.graph().neighbours(at).iter().find(nearer);
                    at = *step.expect("a switch in reach has a nearer neighbour") as usize;
                }
                all = false;
            }
            if all {
                break;
            }
        }
        for &v in tree.order.iter().filter(|&&v| fixed[v as usize].is_some()) {
            if tree.distance(v) >= *self.hops.start() {
                self.served[d][v as usize] += 1;
            }
        }
    }

    /// The path of `hops` hops from `s` to `d` that agrees with the fixed hops and shares the
    /// fewest links with the pair's routes in the layers before; among several the one over the
    /// least used channels, then the first found.
    fn lightest(
        &self,
        s: usize,
        d: usize,
        fixed: &FixedHops,
        next: &[u16],
    ) -> Option<Vec<ChannelId>> {
        let used = self.links_used(s, d, next);
        let mut search = LightestPathSearch {
            planner: self,
            d,
            fixed,
            used,
            path: vec![],
            visited: vec![s],
            best: None,
        };
        search.extend(s, (0, 0));
        search.best.map(|(_, path)| path)
    }

    /// The links of the routes from `s` to the first terminal on `d` in the layers of `next`.
    fn links_used(&self, s: usize, d: usize, next: &[u16]) -> Vec<LinkId> {
        let (on, switches) = (self.on, self.on.switches().len());
        let mut links = Vec::new();
        let Some(to) = on.terminals_on(SwitchId::from(d)).iter().find(|&&t| on.terminal_is_up(t))
        else {
            return links;
        };
        for layer in next.chunks_exact(on.terminals().len() * switches) {
            let row = &layer[to.ix() * switches..(to.ix() + 1) * switches];
            let walk = RouteWalk::new(on, ForwardingTree::plain(row), SwitchId::from(s));
            links.extend(walk.map(|hop| hop.channel.link()));
        }
        links
    }

    fn insert(&mut self, path: &[ChannelId], d: usize, fixed: &mut FixedHops) {
        let mut carried = 0;
        for &c in path {
            let u = self.on.tail(c).switch.ix();
            if fixed[u].is_none() {
                fixed[u] = Some(c);
                carried += u64::from(self.endpoints[u]);
            }
            if self.rules.weights {
                self.weight[c.0 as usize] += carried * u64::from(self.endpoints[d]);
            }
        }
    }
}

/// The cost of a path: how many of its links the pair's earlier routes use, then the sum of its
/// channels' weights.
type PathCost = (usize, u64);

/// A depth-first search for the cheapest path from a switch to the destination `d`.
struct LightestPathSearch<'a> {
    planner: &'a LayerPlanner<'a>,
    d: usize,
    fixed: &'a FixedHops,
    used: Vec<LinkId>,
    path: Vec<ChannelId>,
    visited: Vec<usize>,
    best: Option<(PathCost, Vec<ChannelId>)>,
}

impl LightestPathSearch<'_> {
    fn extend(&mut self, v: usize, cost: PathCost) {
        let done = self.path.len() as u32;
        let left = self.planner.hops.end() - done;
        if v == self.d {
            if done >= *self.planner.hops.start()
                && self.best.as_ref().is_none_or(|(least, _)| cost < *least)
            {
                self.best = Some((cost, self.path.clone()));
            }
            return;
        }
        if left == 0 || self.best.as_ref().is_some_and(|(least, _)| cost >= *least) {
            return;
        }
        let (on, distance) = (self.planner.on, &self.planner.distance[self.d]);
        if let Some(own) = self.fixed[v] {
            let w = on.head(own).switch.ix();
            if distance[w] < left {
                self.step(w, own, cost);
            }
            return;
        }
        for (&w, &c) in on.graph().neighbours(v).iter().zip(on.graph().channels(v)) {
            if distance[w as usize] < left {
                self.step(w as usize, c, cost);
            }
        }
    }

    /// Extends the path over channel `c` to switch `w`, if the path has not visited `w`.
    fn step(&mut self, w: usize, c: ChannelId, cost: PathCost) {
        if self.visited.contains(&w) {
            return;
        }
        self.path.push(c);
        self.visited.push(w);
        let again = self.used.iter().filter(|l| **l == c.link()).count();
        self.extend(w, (cost.0 + again, cost.1 + self.planner.weight[c.0 as usize]));
        self.visited.pop();
        self.path.pop();
    }
}
