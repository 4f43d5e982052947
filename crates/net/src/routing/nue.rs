//! Nue: routes that are chosen within the dependencies a lane can take, on any number of lanes.
//!
//! Source: Domke, Hoefler, Matsuoka, "Routing on the dependency graph: a new approach to
//! deadlock-free high-performance routing", HPDC 2016. Destinations are dealt to the lanes; the
//! routes to each are grown hop by hop, and a hop is taken only where its dependency closes no
//! cycle in the lane; a spanning tree whose dependencies are taken beforehand is the way out.
//!
//! What differs. Destinations come in random order. Each goes to the least loaded lane that takes
//! its shortest routes, and only where none does to the one with the shortest ways round (the paper
//! partitions the destinations beforehand). Only lane 0 has a spanning tree. Where growing gets
//! stuck, the switches it did not reach and those on their ways along the spanning tree use the
//! tree, and the rest is grown again; the paper gives all routes to that destination to the tree.

use super::sssp::{Balancer, endpoints_per_switch, minimal_switch_routes};
use super::trees::MinimalTree;
use super::up_down::roots;
use super::{Engine, Lanes, NO_ROUTE, RouteError, Routing, ServiceLevels, Sl2Vl};
use crate::dependencies::Dependencies;
use crate::lanes::common_lanes;
use crate::lanes::order::Order;
use crate::network::Topology;
use base::seed::Stream;
use base::{ChannelId, Refusal, SwitchId, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Balanced routes within what the lanes can take: free of deadlock on any number of lanes from 1.
/// Not all minimal where lanes are few.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nue {
    /// Most data lanes that may be used, 1 to 15 (common hardware has 4 or 8).
    #[serde(default = "common_lanes")]
    pub max_lanes: u8,
    /// Seed of the order in which destinations come.
    #[serde(default)]
    pub seed: u64,
}

impl Engine for Nue {
    const NAME: &'static str = "nue";

    fn examples() -> Vec<Self> {
        [8, 1, 2].map(|max_lanes| Self { max_lanes, seed: 0 }).to_vec()
    }

    /// O((layers * terminals + lanes * switches) * arcs), and for each dependency a lane asks for
    /// the part of its order that it spans.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn Watch,
    ) -> Result<Routing, RouteError> {
        if !(1..=15).contains(&self.max_lanes) {
            let why = format!("{} lanes", self.max_lanes);
            return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
        }
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let dependencies = Dependencies::new(on);
        let escape = Escape::new(on, &roots(on, None, watch)?);
        let order = || Order::new(on, &dependencies, true);
        let mut lanes: Vec<Order<'_>> = (0..self.max_lanes).map(|_| order()).collect();
        escape.reserve(on, &mut lanes[0]);
        let mut load = vec![0_u64; lanes.len()];
        let mut balancer = Balancer::new(on);
        let mut grower = Grower::new(on);
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut level = vec![0_u8; next.len()];
        let mut tree = MinimalTree::default();
        let mut order: Vec<usize> = (0..switches).collect();
        Stream::new(self.seed, "destinations", 0).shuffle(&mut order);
        let total = layers as usize * switches;
        for i in 0..total {
            let (layer, d) = (i / switches, SwitchId::from(order[i % switches]));
            watch.tick("routing", i as u64, total as u64)?;
            grower.aim(d);
            let mut preferred = usize::MAX;
            for &t in on.terminals_on(d).iter().filter(|&&t| on.terminal_is_up(t)) {
                let lane = grower.place(&mut lanes, &load, balancer.weight(), &escape, preferred);
                lanes[lane].settle();
                load[lane] += 1;
                preferred = lane;
                tree.replace(grower.ways());
                let row = (layer * terminals + t.ix()) * switches;
                let entries = &mut next[row..row + switches];
                balancer.put(&tree, d, |_| std::iter::empty(), 1, entries);
                entries[d.ix()] = on.terminals()[t.ix()].plug.port;
                level[row..row + switches].fill(lane as u8);
            }
        }
        let routing = Routing::new(on.clone(), layers, next, minimal_switch_routes(on));
        let lanes = Lanes::new(ServiceLevels::BySwitch(level), Sl2Vl::modulo(self.max_lanes));
        Ok(routing.with_lanes(lanes))
    }
}

/// A spanning tree of every connected part.
struct Escape {
    /// The tree's channels that leave each switch.
    leaving: Vec<Vec<ChannelId>>,
}

impl Escape {
    /// By breadth-first search from `roots`. O(arcs).
    fn new(on: &Topology, roots: &[u32]) -> Self {
        let graph = on.graph();
        let mut leaving = vec![Vec::new(); graph.switches()];
        let mut seen = vec![false; graph.switches()];
        let mut found = roots.to_vec();
        for &v in roots {
            seen[v as usize] = true;
        }
        let mut head = 0;
        while let Some(&v) = found.get(head) {
            head += 1;
            for (&w, &c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    leaving[v as usize].push(c);
                    leaving[w as usize].push(c.reverse());
                    found.push(w);
                }
            }
        }
        Self { leaving }
    }

    /// Takes all its dependencies into an empty lane.
    fn reserve(&self, on: &Topology, lane: &mut Order<'_>) {
        for (v, leaving) in self.leaving.iter().enumerate() {
            for &out in leaving {
                let there = on.head(out).switch;
                debug_assert_ne!(there.ix(), v);
                for &on_ward in self.leaving[there.ix()].iter().filter(|c| **c != out.reverse()) {
                    assert!(
                        lane.take_turn((out, 0), (on_ward, 0)),
                        "a tree has no cycle of dependencies"
                    );
                }
            }
        }
        lane.settle();
    }

    /// The tree's next hop of every switch towards `to`. O(switches).
    fn towards(&self, on: &Topology, to: SwitchId) -> Vec<Option<ChannelId>> {
        let mut hop = vec![None; self.leaving.len()];
        let mut found = vec![to];
        while let Some(v) = found.pop() {
            for &c in &self.leaving[v.ix()] {
                let w = on.head(c).switch;
                if w != to && hop[w.ix()].is_none() {
                    hop[w.ix()] = Some(c.reverse());
                    found.push(w);
                }
            }
        }
        hop
    }
}

/// Grows the routes to one switch, level by level.
struct Grower<'a> {
    on: &'a Topology,
    endpoints: Vec<u32>,
    to: SwitchId,
    /// Hops of a shortest route.
    shortest: Vec<u32>,
    /// Hops of the route found; `u32::MAX` where there is none (yet), its weight and first channel.
    hops: Vec<u32>,
    length: Vec<u64>,
    first: Vec<ChannelId>,
    /// Switches that have a route, by hops.
    order: Vec<u32>,
    /// The level at which a switch was last looked at.
    looked: Vec<u32>,
}

impl<'a> Grower<'a> {
    fn new(on: &'a Topology) -> Self {
        let n = on.switches().len();
        Self {
            on,
            endpoints: endpoints_per_switch(on),
            to: SwitchId(0),
            shortest: Vec::new(),
            hops: vec![u32::MAX; n],
            length: vec![0; n],
            first: vec![ChannelId(0); n],
            order: Vec::new(),
            looked: vec![u32::MAX; n],
        }
    }

    fn aim(&mut self, to: SwitchId) {
        self.to = to;
        self.shortest = self.on.graph().distances_from(to.ix());
    }

    /// The routes found: switch, channel, next switch; those of fewer hops first.
    fn ways(&self) -> impl Iterator<Item = (u32, ChannelId, u32)> + '_ {
        self.order.iter().map(|&v| {
            let channel = self.first[v as usize];
            (v, channel, self.on.head(channel).switch.0)
        })
    }

    /// Grows routes in one of the lanes and returns which: in `preferred` where they are complete
    /// there (no lane is, `usize::MAX`), else in the least loaded one that takes shortest routes,
    /// else in that of the least detours. The turns are taken, not settled.
    fn place(
        &mut self,
        lanes: &mut [Order<'_>],
        load: &[u64],
        weight: &[u64],
        escape: &Escape,
        preferred: usize,
    ) -> usize {
        let none = vec![None; self.hops.len()];
        let mut by_load: Vec<usize> = (0..lanes.len()).collect();
        by_load.sort_by_key(|&l| (l != preferred, load[l], l));
        let mut best: Option<(u64, usize)> = None;
        for lane in by_load {
            if self.grow(&mut lanes[lane], weight, &none) {
                let detour = self.detour();
                if detour == 0 || lane == preferred {
                    return lane;
                }
                best = Some(best.map_or((detour, lane), |b| b.min((detour, lane))));
            }
            lanes[lane].undo();
        }
        if let Some((_, lane)) = best {
            self.grow(&mut lanes[lane], weight, &none);
            return lane;
        }
        let tree = escape.towards(self.on, self.to);
        let mut forced = none;
        while !self.grow(&mut lanes[0], weight, &forced) {
            let lost = |v: &usize| self.endpoints[*v] > 0 && self.hops[*v] == u32::MAX;
            let lost: Vec<usize> = (0..self.hops.len()).filter(lost).collect();
            lanes[0].undo();
            for mut v in lost {
                while let Some(hop) = tree[v].filter(|_| forced[v].is_none()) {
                    forced[v] = Some(hop);
                    v = self.on.head(hop).switch.ix();
                }
            }
        }
        0
    }

    /// Hops beyond shortest routes, over all endpoints.
    fn detour(&self) -> u64 {
        let one = |&v: &u32| {
            let more = self.hops[v as usize] - self.shortest[v as usize];
            u64::from(more) * u64::from(self.endpoints[v as usize])
        };
        self.order.iter().map(one).sum()
    }

    /// Grows routes within the turns that `lane` takes; switches with a `forced` hop take that one.
    /// Returns whether every switch with endpoints has a route. O(arcs), and the turns asked for.
    fn grow(&mut self, lane: &mut Order<'_>, weight: &[u64], forced: &[Option<ChannelId>]) -> bool {
        self.hops.fill(u32::MAX);
        self.looked.fill(u32::MAX);
        self.order.clear();
        self.hops[self.to.ix()] = 0;
        self.length[self.to.ix()] = 0;
        let mut frontier = vec![self.to.0];
        let mut level = 0;
        while !frontier.is_empty() {
            let mut near = Vec::new();
            for &v in &frontier {
                for &u in self.on.graph().neighbours(v as usize) {
                    if self.hops[u as usize] == u32::MAX && self.looked[u as usize] != level {
                        self.looked[u as usize] = level;
                        near.push(u);
                    }
                }
            }
            frontier.clear();
            for u in near {
                let hop = match forced[u as usize] {
                    Some(hop) => self.is_reached(hop).then_some(hop),
                    None => self.lightest(u, lane, weight),
                };
                if let Some(hop) = hop {
                    let to = self.on.head(hop).switch.ix();
                    self.length[u as usize] = weight[hop.0 as usize] + self.length[to];
                    self.first[u as usize] = hop;
                    frontier.push(u);
                }
            }
            level += 1;
            for &u in &frontier {
                self.hops[u as usize] = level;
            }
            self.order.extend_from_slice(&frontier);
        }
        let lost = |v: usize| self.hops[v] == u32::MAX && self.shortest[v] != u32::MAX;
        let complete = !(0..self.hops.len()).any(|v| lost(v) && self.endpoints[v] > 0);
        if complete {
            self.attach_rest();
        }
        complete
    }

    fn is_reached(&self, hop: ChannelId) -> bool {
        self.hops[self.on.head(hop).switch.ix()] != u32::MAX
    }

    /// The lightest hop of `u` to a switch that has a route, if the lane takes one.
    fn lightest(&self, u: u32, lane: &mut Order<'_>, weight: &[u64]) -> Option<ChannelId> {
        let graph = self.on.graph();
        loop {
            let mut best: Option<(u64, ChannelId)> = None;
            for (&w, &c) in graph.neighbours(u as usize).iter().zip(graph.channels(u as usize)) {
                if self.hops[w as usize] == u32::MAX {
                    continue;
                }
                let length = weight[c.0 as usize] + self.length[w as usize];
                if best.is_none_or(|(least, _)| length < least)
                    && (w == self.to.0 || !lane.is_refused((c, 0), (self.first[w as usize], 0)))
                {
                    best = Some((length, c));
                }
            }
            let (_, hop) = best?;
            let w = self.on.head(hop).switch;
            if w == self.to || lane.take_turn((hop, 0), (self.first[w.ix()], 0)) {
                return Some(hop);
            }
        }
    }

    /// Gives the switches without endpoints that were not reached a route: what management
    /// packets follow, which have a lane of their own.
    fn attach_rest(&mut self) {
        let mut head = 0;
        while head <= self.order.len() {
            let v = if head == 0 { self.to.0 } else { self.order[head - 1] };
            head += 1;
            for &c in self.on.graph().channels(v as usize) {
                let u = self.on.head(c).switch;
                if self.hops[u.ix()] == u32::MAX {
                    self.hops[u.ix()] = self.hops[v as usize] + 1;
                    self.first[u.ix()] = c.reverse();
                    self.order.push(u.0);
                }
            }
        }
    }
}
