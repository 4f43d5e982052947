//! Layered routing: minimal paths in the first layer, almost-minimal ones in all others.
//!
//! Source: Blach, Besta, De Sensi, Domke, Harake, Li, Iff, Konieczny, Lakhotia, Kubicek, Ferrari,
//! Petrini, Hoefler, "A high-performance design, implementation, deployment, and evaluation of the
//! Slim Fly network", NSDI 2024, algorithm 1 and appendix B: every layer gives as many switch pairs
//! as it can a path one hop longer than the diameter, the least served pairs first, each time the
//! path over the least used channels; what is left takes the lightest way that fits what is there.

use super::sssp::{Balancer, endpoints_per_switch};
use super::trees::{Fixed, MinimalTree};
use super::{Engine, RouteError, Routing};
use crate::lanes::{break_cycles, common_lanes};
use crate::network::Topology;
use base::distance::distances_among;
use base::seed::Stream;
use base::{ChannelId, Interrupted, Refusal, SwitchId, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Several different paths to every endpoint: one minimal, the others almost; deadlock-free lanes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layered {
    /// Hops of the almost-minimal paths; the diameter plus one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Seed of the order among pairs that are served equally.
    #[serde(default)]
    pub seed: u64,
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[serde(default = "common_lanes")]
    pub max_lanes: u8,
}

/// Longer paths than this are not searched for: their number grows with the radix to this power.
const MOST_HOPS: u32 = 8;

impl Engine for Layered {
    const NAME: &'static str = "layered";

    fn examples() -> Vec<Self> {
        vec![Self { hops: None, seed: 0, max_lanes: 15 }]
    }

    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        let hops = match self.hops {
            Some(hops) => hops,
            None => distances_among(on.graph(), &on.edge_switches(), watch)?.diameter() + 1,
        };
        if !(1..=MOST_HOPS).contains(&hops) {
            let why = format!("paths of {hops} hops");
            let help = format!("1 to {MOST_HOPS}: this engine is for networks of low diameter");
            return Err(Refusal::new("hops", why, help).into());
        }
        let mut balancer = Balancer::new(on);
        let minimal = |tree: &mut MinimalTree, to| tree.rebuild(on, to, None);
        let mut next = balancer.layer(minimal, &[], watch)?;
        let mut planner = Planner::new(on, hops);
        for layer in 1..layers {
            let random = &mut Stream::new(self.seed, "layered", layer.into());
            let paths = planner.layer(random, watch)?;
            let almost = |tree: &mut MinimalTree, to: SwitchId| {
                tree.rebuild(on, to, Some(&paths[to.ix()]));
            };
            let layer = balancer.layer(almost, &next, watch)?;
            next.extend(layer);
        }
        let routing = Routing::new(on.clone(), layers, next, balancer.switch_routes(minimal));
        break_cycles(routing, self.max_lanes, watch)
    }
}

/// Builds one layer after the other, remembering which channels and pairs the earlier ones served.
struct Planner<'a> {
    on: &'a Topology,
    hops: u32,
    endpoints: Vec<u32>,
    /// Load that the almost-minimal paths have put on each channel.
    weight: Vec<u64>,
    /// Layers in which a pair has an almost-minimal path, by destination, then source.
    served: Vec<Vec<u32>>,
    /// Hop distance to each destination, by destination, then switch; empty without endpoints.
    distance: Vec<Vec<u32>>,
}

impl<'a> Planner<'a> {
    fn new(on: &'a Topology, hops: u32) -> Self {
        let n = on.switches().len();
        let endpoints = endpoints_per_switch(on);
        let towards = |d: usize| match endpoints[d] {
            0 => Vec::new(),
            _ => on.graph().distances_from(d),
        };
        let distance = (0..n).map(towards).collect();
        let weight = vec![0; on.graph().links() * 2];
        Self { on, hops, endpoints, weight, served: vec![vec![0; n]; n], distance }
    }

    /// The almost-minimal paths of one more layer, by destination switch.
    fn layer(&mut self, random: &mut Stream, watch: &dyn Watch) -> Result<Vec<Fixed>, Interrupted> {
        let n = self.on.switches().len();
        let mut fixed: Vec<Fixed> = vec![vec![None; n]; n];
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for d in (0..n).filter(|&d| self.endpoints[d] > 0) {
            let reached = |s: &usize| *s != d && self.distance[d][*s] <= self.hops;
            let sources = (0..n).filter(|&s| self.endpoints[s] > 0).filter(reached);
            pairs.extend(sources.map(|s| (s as u32, d as u32)));
        }
        random.shuffle(&mut pairs);
        pairs.sort_by_key(|&(s, d)| self.served[d as usize][s as usize]);
        let total = pairs.len() as u64;
        for (i, (s, d)) in pairs.into_iter().enumerate() {
            if i.is_multiple_of(1024) {
                watch.tick("almost-minimal paths", i as u64, total)?;
            }
            let (s, d) = (s as usize, d as usize);
            if fixed[d][s].is_none()
                && let Some(path) = self.lightest(s, d, &fixed[d])
            {
                self.insert(&path, d, &mut fixed[d]);
            }
        }
        Ok(fixed)
    }

    /// The path of exactly `hops` hops from `s` to `d` over the least used channels that follows
    /// what is fixed; the first found among equals.
    fn lightest(&self, s: usize, d: usize, fixed: &Fixed) -> Option<Vec<ChannelId>> {
        let mut search =
            Search { planner: self, d, fixed, path: Vec::new(), visited: vec![s], best: None };
        search.extend(s, 0);
        search.best.map(|(_, path)| path)
    }

    fn insert(&mut self, path: &[ChannelId], d: usize, fixed: &mut Fixed) {
        let mut carried = 0;
        for (i, &c) in path.iter().enumerate() {
            let u = self.on.tail(c).switch.ix();
            if fixed[u].is_none() {
                fixed[u] = Some(c);
                carried += u64::from(self.endpoints[u]);
                if path.len() - i >= self.hops as usize {
                    self.served[d][u] += 1;
                }
            }
            self.weight[c.0 as usize] += carried * u64::from(self.endpoints[d]);
        }
    }
}

struct Search<'a> {
    planner: &'a Planner<'a>,
    d: usize,
    fixed: &'a Fixed,
    path: Vec<ChannelId>,
    visited: Vec<usize>,
    best: Option<(u64, Vec<ChannelId>)>,
}

impl Search<'_> {
    fn extend(&mut self, v: usize, weight: u64) {
        let left = self.planner.hops - self.path.len() as u32;
        if v == self.d {
            if left == 0 && self.best.as_ref().is_none_or(|(least, _)| weight < *least) {
                self.best = Some((weight, self.path.clone()));
            }
            return;
        }
        if left == 0 || self.best.as_ref().is_some_and(|(least, _)| weight >= *least) {
            return;
        }
        let graph = self.planner.on.graph();
        for (&w, &c) in graph.neighbours(v).iter().zip(graph.channels(v)) {
            let w = w as usize;
            let may = self.fixed[v].is_none_or(|own| own == c);
            if may && self.planner.distance[self.d][w] < left && !self.visited.contains(&w) {
                self.path.push(c);
                self.visited.push(w);
                self.extend(w, weight + self.planner.weight[c.0 as usize]);
                self.visited.pop();
                self.path.pop();
            }
        }
    }
}
