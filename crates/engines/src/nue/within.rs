//! Next hops towards a switch whose turns all go forward in an order of channels.
//!
//! Source: that of [`super`]. Any of the hops listed may be chosen, whatever is chosen beyond it.

use crate::trees::MinimalTree;
use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use std::cmp::Reverse;

/// A channel, and the switch it leads to.
type Hop = (ChannelId, u32);

/// An order of channels, ready to grow routes in.
pub(super) struct Lane {
    /// By channel; a turn to a later place is taken.
    pub(super) places: Vec<u32>,
    /// By arc of the graph, from a switch to its neighbour: the neighbour, and the place of the
    /// channel that comes back.
    back: Vec<(u32, u32)>,
    /// The channels, the one at the last place first.
    latest: Vec<ChannelId>,
}

impl Lane {
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

    /// For every switch the hop of the route towards `to` that leaves it at the latest place: there
    /// is one wherever there is any route that goes forward. O(channels).
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

/// Grows next hops, level by level.
pub(super) struct Grower<'a> {
    on: &'a Topology,
    to: SwitchId,
    /// By switch: hops of the routes found, `u32::MAX` where there are none (yet).
    hops: Vec<u32>,
    /// By switch: the first and the last place of its next hops.
    low: Vec<u32>,
    high: Vec<u32>,
    /// By switch: its next hops in `ways`, where they begin and how many they are.
    own: Vec<(u32, u32)>,
    ways: Vec<Hop>,
    /// Switches that have a route, by hops.
    order: Vec<u32>,
    /// Where the level begins that grows.
    near: Vec<u32>,
    /// Offers of the level that grows: switch, next hop.
    offers: Vec<(u32, Hop)>,
    free: Vec<u32>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(on: &'a Topology) -> Self {
        let n = on.switches().len();
        Self {
            on,
            to: SwitchId(0),
            hops: vec![u32::MAX; n],
            low: vec![0; n],
            high: vec![0; n],
            own: vec![(0, 0); n],
            ways: Vec::new(),
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

    /// Finds which switches have routes towards `to` when each takes as few hops as it can, and how
    /// many: of its next hops the one at the last place leaves the most to the switches behind.
    /// Ends when every switch has one. O(arcs).
    pub(super) fn reach(&mut self, to: SwitchId, lane: &Lane) {
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

    /// Finds next hops towards `to`: of every switch those that leave the fewest hops. Switches
    /// with a `forced` hop have no other. O(arcs).
    pub(super) fn grow(&mut self, to: SwitchId, lane: &Lane, forced: &[Option<ChannelId>]) {
        let graph = self.on.graph();
        let places = &lane.places;
        self.start(to);
        self.ways.clear();
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
            let mut at = self.ways.len() as u32;
            for &u in &self.near {
                let own = &mut self.own[u as usize];
                own.0 = at;
                self.free[u as usize] = at;
                at += own.1;
            }
            self.ways.resize(at as usize, (ChannelId(0), 0));
            for &(u, hop) in &self.offers {
                let at = &mut self.free[u as usize];
                self.ways[*at as usize] = hop;
                *at += 1;
            }
            for i in 0..self.near.len() {
                let u = self.near[i];
                self.fit(u as usize, places);
                self.order.push(u);
            }
        }
    }

    /// Keeps of the next hops offered to `u` those that fit whatever is chosen beyond; where none
    /// does, takes from what can be chosen beyond so that one does.
    fn fit(&mut self, u: usize, places: &[u32]) {
        let (first, count) = self.own[u];
        let place = |hop: &Hop| places[hop.0.0 as usize];
        let offered = first as usize..(first + count) as usize;
        if !self.ways[offered.clone()].iter().any(|hop| place(hop) < self.low[hop.1 as usize]) {
            // of the neighbour that keeps most of its hops
            let (mut most, mut best) = (0.0, first as usize);
            for i in offered {
                let hop = self.ways[i];
                let beyond = self.of(hop.1);
                let left = beyond.iter().filter(|far| place(&hop) < place(far)).count();
                if left as f64 / beyond.len() as f64 > most {
                    (most, best) = (left as f64 / beyond.len() as f64, i);
                }
            }
            let hop = self.ways[best];
            self.keep(hop.1 as usize, places, |_, far| place(&hop) < place(far));
        }
        self.keep(u, places, |low, hop| place(hop) < low[hop.1 as usize]);
        self.high[u] = self.of(u as u32).iter().map(place).max().unwrap_or(0);
    }

    /// Keeps those of the next hops of `v` that are `good`, given `low`.
    fn keep(&mut self, v: usize, places: &[u32], good: impl Fn(&[u32], &Hop) -> bool) {
        let (first, count) = self.own[v];
        let (mut kept, mut low) = (first, u32::MAX);
        for i in first..first + count {
            let hop = self.ways[i as usize];
            if good(&self.low, &hop) {
                self.ways[kept as usize] = hop;
                low = low.min(places[hop.0.0 as usize]);
                kept += 1;
            }
        }
        self.own[v].1 = kept - first;
        self.low[v] = low;
    }

    /// The next hops of `v`.
    fn of(&self, v: u32) -> &[Hop] {
        let (first, count) = self.own[v as usize];
        &self.ways[first as usize..(first + count) as usize]
    }

    /// The destination.
    pub(super) fn to(&self) -> SwitchId {
        self.to
    }

    /// Whether `v` has a route.
    pub(super) fn reaches(&self, v: usize) -> bool {
        self.hops[v] != u32::MAX
    }

    /// Hops from `v`.
    pub(super) fn hops(&self, v: usize) -> u32 {
        self.hops[v]
    }

    /// Gives the switches that were not reached a route: what management packets follow, which
    /// have a lane of their own.
    pub(super) fn attach_rest(&mut self) {
        let mut head = 0;
        while head <= self.order.len() && self.order.len() + 1 < self.hops.len() {
            let v = if head == 0 { self.to.0 } else { self.order[head - 1] };
            head += 1;
            for &c in self.on.graph().channels(v as usize) {
                let u = self.on.head(c).switch.ix();
                if self.hops[u] == u32::MAX {
                    self.hops[u] = self.hops[v as usize] + 1;
                    self.own[u] = (self.ways.len() as u32, 1);
                    self.ways.push((c.reverse(), v));
                    self.order.push(u as u32);
                }
            }
        }
    }

    /// Fills `tree` with what was found.
    pub(super) fn fill(&self, tree: &mut MinimalTree) {
        tree.replace(self.order.iter().map(|&v| (v, self.of(v))));
    }
}
