//! Finds next hops towards a switch such that all turns go forward in an order of channels.
//!
//! Source: Domke, Hoefler, Matsuoka, as in [`super`]. A switch may choose any of its listed hops,
//! whatever the switches further on choose.

use crate::trees::NextHopTree;
use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use std::cmp::Reverse;

/// A channel, and the switch it leads to.
type NextHop = (ChannelId, u32);

/// The channel order of one lane, prepared for the search for routes.
pub(super) struct LaneChannelOrder {
    /// The place of each channel; a turn to a later place is allowed.
    pub(super) places: Vec<u32>,
    /// By arc of the graph, from a switch to its neighbour: the neighbour, and the place of the
    /// channel in the opposite direction.
    back: Vec<(u32, u32)>,
    /// The channels, the one at the last place first.
    latest: Vec<ChannelId>,
}

impl LaneChannelOrder {
    pub(super) fn new(on: &Topology, places: Vec<u32>) -> Self {
        let graph = on.graph();
        let arcs =
            (0..graph.switches()).flat_map(|v| graph.neighbours(v).iter().zip(graph.channels(v)));
        let back = arcs.map(|(&w, c)| (w, places[c.reverse().0 as usize])).collect();
        let mut latest: Vec<ChannelId> =
            (0..graph.switches()).flat_map(|v| graph.channels(v)).copied().collect();
        latest.sort_unstable_by_key(|c| (Reverse(places[c.0 as usize]), *c));
        Self { places, back, latest }
    }

    /// For every switch, the hop of a forward route towards `to` that leaves the switch at the
    /// latest place. It exists wherever any forward route exists. O(channels).
    pub(super) fn latest(&self, on: &Topology, to: SwitchId) -> Vec<Option<ChannelId>> {
        let mut hop = vec![None; on.switches().len()];
        let place = |hop: Option<ChannelId>| hop.map(|c| self.places[c.0 as usize]);
        for &channel in &self.latest {
            let (v, next) = (on.tail(channel).switch, on.head(channel).switch);
            let goes = next == to || place(Some(channel)) < place(hop[next.ix()]);
            if goes && v != to && hop[v.ix()].is_none() {
                hop[v.ix()] = Some(channel);
            }
        }
        hop
    }
}

/// Finds the next hops towards one destination, level by level from the destination outwards.
pub(super) struct RouteGrower<'a> {
    on: &'a Topology,
    to: SwitchId,
    /// By switch: the number of hops of the route found; `u32::MAX` where there is none yet.
    hops: Vec<u32>,
    /// By switch: the first and the last place among the channels of its next hops.
    low: Vec<u32>,
    high: Vec<u32>,
    /// By switch: where its next hops begin in `next_hops`, and their number.
    own: Vec<(u32, u32)>,
    next_hops: Vec<NextHop>,
    /// The switches that have a route, those with the fewest hops first.
    order: Vec<u32>,
    /// The switches of the last level, from which the search continues.
    near: Vec<u32>,
    /// The possible hops of the next level, each with the switch that would take it.
    offers: Vec<(u32, NextHop)>,
    free: Vec<u32>,
}

impl<'a> RouteGrower<'a> {
    pub(super) fn new(on: &'a Topology) -> Self {
        let n = on.switches().len();
        Self {
            on,
            to: SwitchId(0),
            hops: vec![u32::MAX; n],
            low: vec![0; n],
            high: vec![0; n],
            own: vec![(0, 0); n],
            next_hops: Vec::new(),
            order: Vec::new(),
            near: Vec::new(),
            offers: Vec::new(),
            free: vec![0; n],
        }
    }

    fn start(&mut self, to: SwitchId) {
        self.to = to;
        self.hops.fill(u32::MAX);
        self.hops[to.ix()] = 0;
        (self.low[to.ix()], self.high[to.ix()]) = (u32::MAX, u32::MAX);
        self.order.clear();
    }

    /// Finds which switches have routes towards `to`, and how many hops these have if each is as
    /// short as possible. A switch takes the next hop at the last place, which leaves the switches
    /// before it the most choice. The search ends when every switch has a route. O(arcs).
    pub(super) fn reach(&mut self, to: SwitchId, lane: &LaneChannelOrder) {
        self.start(to);
        self.order.push(to.0);
        let (graph, mut head) = (self.on.graph(), 0);
        while let Some(&v) = self.order.get(head)
            && self.order.len() < self.hops.len()
        {
            head += 1;
            let (high, level) = (self.high[v as usize], self.hops[v as usize] + 1);
            for &(u, place) in &lane.back[graph.row(v as usize)] {
                let hops = &mut self.hops[u as usize];
                if place < high && *hops >= level {
                    if *hops == u32::MAX {
                        *hops = level;
                        self.order.push(u);
                    } else if place <= self.high[u as usize] {
                        continue;
                    }
                    self.high[u as usize] = place;
                }
            }
        }
    }

    /// Finds next hops towards `to`: for every switch the hops on its shortest routes. Switches
    /// with a `forced` hop have no other. O(arcs).
    pub(super) fn grow(
        &mut self,
        to: SwitchId,
        lane: &LaneChannelOrder,
        forced: &[Option<ChannelId>],
    ) {
        let graph = self.on.graph();
        let places = &lane.places;
        self.start(to);
        self.next_hops.clear();
        self.near.clear();
        self.near.push(to.0);
        let mut level = 0;
        while !self.near.is_empty() && self.order.len() + 1 < self.hops.len() {
            level += 1;
            self.offers.clear();
            for v in self.near.drain(..) {
                let (high, row) = (self.high[v as usize], graph.row(v as usize));
                for (&(u, place), &out) in lane.back[row].iter().zip(graph.channels(v as usize)) {
                    let hop = out.reverse();
                    if self.hops[u as usize] == u32::MAX
                        && place < high
                        && (forced.is_empty() || forced[u as usize].is_none_or(|own| own == hop))
                    {
                        self.offers.push((u, (hop, v)));
                    }
                }
            }
            for &(u, _) in &self.offers {
                if self.hops[u as usize] == u32::MAX {
                    self.hops[u as usize] = level;
                    self.near.push(u);
                    self.own[u as usize] = (0, 0);
                }
                self.own[u as usize].1 += 1;
            }
            let mut at = self.next_hops.len() as u32;
            for &u in &self.near {
                let own = &mut self.own[u as usize];
                own.0 = at;
                self.free[u as usize] = at;
                at += own.1;
            }
            self.next_hops.resize(at as usize, (ChannelId(0), 0));
            for &(u, hop) in &self.offers {
                let at = &mut self.free[u as usize];
                self.next_hops[*at as usize] = hop;
                *at += 1;
            }
            for i in 0..self.near.len() {
                let u = self.near[i];
                self.fit(u as usize, places);
                self.order.push(u);
            }
        }
    }

    /// Keeps only the next hops offered to `u` that fit every choice further on. Where none fits,
    /// removes choices of a switch further on, so that one does.
    fn fit(&mut self, u: usize, places: &[u32]) {
        let (first, count) = self.own[u];
        let place = |hop: &NextHop| places[hop.0.0 as usize];
        let offered = first as usize..(first + count) as usize;
        if !self.next_hops[offered.clone()].iter().any(|hop| place(hop) < self.low[hop.1 as usize])
        {
            // take the hop to the switch that then keeps the largest share of its own hops
            let (mut most, mut best) = (0.0, first as usize);
            for i in offered {
                let hop = self.next_hops[i];
                let beyond = self.of(hop.1);
                let left = beyond.iter().filter(|far| place(&hop) < place(far)).count();
                if left as f64 / beyond.len() as f64 > most {
                    (most, best) = (left as f64 / beyond.len() as f64, i);
                }
            }
            let hop = self.next_hops[best];
            self.keep(hop.1 as usize, places, |_, far| place(&hop) < place(far));
        }
        self.keep(u, places, |low, hop| place(hop) < low[hop.1 as usize]);
        self.high[u] = self.of(u as u32).iter().map(place).max().unwrap_or(0);
    }

    /// Keeps the next hops of `v` for which `good` returns true; its arguments are `low` and the
    /// hop.
    fn keep(&mut self, v: usize, places: &[u32], good: impl Fn(&[u32], &NextHop) -> bool) {
        let (first, count) = self.own[v];
        let (mut kept, mut low) = (first, u32::MAX);
        for i in first..first + count {
            let hop = self.next_hops[i as usize];
            if good(&self.low, &hop) {
                self.next_hops[kept as usize] = hop;
                low = low.min(places[hop.0.0 as usize]);
                kept += 1;
            }
        }
        self.own[v].1 = kept - first;
        self.low[v] = low;
    }

    /// The next hops of `v`.
    fn of(&self, v: u32) -> &[NextHop] {
        let (first, count) = self.own[v as usize];
        &self.next_hops[first as usize..(first + count) as usize]
    }

    /// The destination.
    pub(super) fn to(&self) -> SwitchId {
        self.to
    }

    /// Whether `v` has a route.
    pub(super) fn reaches(&self, v: usize) -> bool {
        self.hops[v] != u32::MAX
    }

    /// The number of hops from `v` to the destination.
    pub(super) fn hops(&self, v: usize) -> u32 {
        self.hops[v]
    }

    /// Gives a route to the switches that were not reached. Only management packets use it, and
    /// they have a lane of their own.
    pub(super) fn attach_rest(&mut self) {
        let mut head = 0;
        while head <= self.order.len() && self.order.len() + 1 < self.hops.len() {
            let v = if head == 0 { self.to.0 } else { self.order[head - 1] };
            head += 1;
            for &c in self.on.graph().channels(v as usize) {
                let u = self.on.head(c).switch.ix();
                if self.hops[u] == u32::MAX {
                    self.hops[u] = self.hops[v as usize] + 1;
                    self.own[u] = (self.next_hops.len() as u32, 1);
                    self.next_hops.push((c.reverse(), v));
                    self.order.push(u as u32);
                }
            }
        }
    }

    /// Fills `tree` with the next hops found.
    pub(super) fn fill(&self, tree: &mut NextHopTree) {
        tree.replace(self.order.iter().map(|&v| (v, self.of(v))));
    }
}
