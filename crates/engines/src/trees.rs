//! Trees of next hops towards one destination switch, minimal or up*/down*, which all engines
//! share.

use base::{ChannelId, SwitchId};
use fabric::network::Topology;

/// For each switch, the next channel towards one destination where that is prescribed, `None` where
/// it is free.
pub type FixedHops = Vec<Option<ChannelId>>;

/// The next hops that an engine may choose from, towards one destination switch: all minimal ones,
/// or those of up*/down* routes.
///
/// `order` lists the switches that reach the destination, without the destination itself.
/// `hops[starts[i]..starts[i + 1]]` are the channels by which `order[i]` comes nearer, in port
/// order, each with the switch that it leads to. That switch is the destination or stands earlier
/// in `order`.
#[derive(Debug, Default)]
pub struct NextHopTree {
    /// Switches by distance.
    pub order: Vec<u32>,
    starts: Vec<u32>,
    hops: Vec<(ChannelId, u32)>,
    distance: Vec<u32>,
    /// Scratch of [`NextHopTree::rebuild_where`]: the hop by which the search found each switch,
    /// and whether the switch may have further next hops.
    found: Vec<(ChannelId, u32)>,
    others: Vec<bool>,
    /// Scratch of [`NextHopTree::rebuild_up_down`]: the length of the shortest route that only goes
    /// down, and whether a switch above may forward to this one.
    down: Vec<u32>,
    entered: Vec<bool>,
}

/// The up and down direction of every channel: a channel goes up when it leads to the switch of
/// lower rank.
#[derive(Debug)]
pub struct UpDownRanks {
    /// The rank of each switch.
    rank: Vec<u32>,
    /// Switches by rank, lowest (topmost) first.
    from_top: Vec<u32>,
    /// The neighbours of each switch `v`: the ones above begin at `first[v]`, the ones below at
    /// `below[v]`.
    neighbours: Vec<u32>,
    first: Vec<usize>,
    below: Vec<usize>,
}

impl UpDownRanks {
    /// Directions by these ranks, one rank per switch. The two ends of a working link must differ
    /// in rank. O(arcs + n log n), n switches.
    pub fn new(on: &Topology, rank: Vec<u32>) -> Self {
        let mut from_top: Vec<u32> = (0..rank.len() as u32).collect();
        from_top.sort_by_key(|&v| rank[v as usize]);
        let mut own = Self { rank, from_top, neighbours: vec![], first: vec![0], below: vec![] };
        for v in 0..own.rank.len() {
            let row = on.graph().neighbours(v);
            let above = |w: &&u32| own.rank[**w as usize] < own.rank[v];
            own.neighbours.extend(row.iter().filter(above));
            own.below.push(own.neighbours.len());
            own.neighbours.extend(row.iter().filter(|w| !above(w)));
            own.first.push(own.neighbours.len());
        }
        own
    }

    fn above(&self, v: u32) -> &[u32] {
        &self.neighbours[self.first[v as usize]..self.below[v as usize]]
    }

    fn below(&self, v: u32) -> &[u32] {
        &self.neighbours[self.below[v as usize]..self.first[v as usize + 1]]
    }

    /// Whether a channel from one switch to the other goes up.
    #[inline]
    pub fn is_up(&self, from: u32, to: u32) -> bool {
        self.rank[to as usize] < self.rank[from as usize]
    }
}

impl NextHopTree {
    /// Recomputes the tree for `destination` and reuses the memory. A switch whose next channel is
    /// `fixed` has no other next hop; distances are those over the remaining hops. O(arcs).
    pub fn rebuild(&mut self, on: &Topology, destination: SwitchId, fixed: Option<&FixedHops>) {
        match fixed {
            Some(fixed) => self.rebuild_where(on, destination, |v, c| {
                fixed[v as usize].is_none_or(|own| own == c)
            }),
            None => self.rebuild_where(on, destination, |_, _| true),
        }
    }

    /// Recomputes the tree for `destination` over the channels for which `may(switch, channel)` is
    /// true. O(arcs).
    pub fn rebuild_where(
        &mut self,
        on: &Topology,
        destination: SwitchId,
        may: impl Fn(u32, ChannelId) -> bool,
    ) {
        let graph = on.graph();
        let switches = graph.switches();
        self.start(switches, destination);
        self.order.push(destination.0);
        self.found.resize(switches, (ChannelId(0), 0));
        self.others.clear();
        self.others.resize(switches, false);
        let mut head = 0;
        while let Some(&v) = self.order.get(head) {
            head += 1;
            let farther = self.distance[v as usize] + 1;
            let last = self.order[self.order.len() - 1];
            if self.order.len() == switches && self.distance[last as usize] < farther {
                break; // all switches are found, and none of the last level can forward to this one
            }
            for (&w, c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
                let distance = &mut self.distance[w as usize];
                if *distance == farther {
                    self.others[w as usize] = true;
                } else if *distance == u32::MAX && may(w, c.reverse()) {
                    *distance = farther;
                    self.found[w as usize] = (c.reverse(), v);
                    self.order.push(w);
                }
            }
        }
        self.order.remove(0);
        let mut hops = std::mem::take(&mut self.hops);
        for &v in &self.order {
            if self.others[v as usize] {
                let row = graph.neighbours(v as usize).iter().zip(graph.channels(v as usize));
                let nearer = row.filter(|(w, c)| self.is_nearer(**w, v) && may(v, **c));
                hops.extend(nearer.map(|(&w, &c)| (c, w)));
            } else {
                hops.push(self.found[v as usize]);
            }
            self.starts.push(hops.len() as u32);
        }
        self.hops = hops;
    }

    /// Recomputes the tree for `to` with next hops that never go up after they went down, and
    /// returns how many switches of the order have such a route. The others come after them in the
    /// order, and forward along a shortest path to the switches that have one. O(arcs + n log n), n
    /// switches.
    ///
    /// A switch to which a switch above may forward takes a shortest route among those that only go
    /// down. Any other switch takes the shorter of such a route and a route that begins with a hop
    /// up, after which the upper switch decides. So every combination of hops that an engine
    /// chooses is valid: no hop up follows a hop down, and every hop lowers the number of remaining
    /// hops.
    pub fn rebuild_up_down(&mut self, on: &Topology, to: SwitchId, ranks: &UpDownRanks) -> usize {
        self.start(on.switches().len(), to);
        self.measure_down(to, ranks);
        for &v in ranks.from_top.iter().filter(|v| **v != to.0) {
            let (down, entered) = (self.down[v as usize], self.entered[v as usize]);
            let mut least = down;
            if !entered {
                let lengths = ranks.above(v).iter().map(|&w| self.distance[w as usize]);
                least = least.min(lengths.min().unwrap_or(u32::MAX).saturating_add(1));
            }
            if least == u32::MAX {
                continue;
            }
            self.distance[v as usize] = least;
            self.order.push(v);
            if down == least {
                for &w in ranks.below(v) {
                    self.entered[w as usize] |= self.down[w as usize].saturating_add(1) == least;
                }
            }
        }
        self.sort_order();
        let legal = self.order.len();
        self.list_hops(on, 0, |own, v, w, _| {
            if ranks.is_up(v, w) {
                !own.entered[v as usize] && own.is_nearer(w, v)
            } else {
                own.down[w as usize].saturating_add(1) == own.distance[v as usize]
            }
        });
        self.append_rest(on);
        self.list_hops(on, legal, |own, v, w, _| own.is_nearer(w, v));
        legal
    }

    /// Replaces the tree by these switches and their next hops. Each hop must lead to the
    /// destination or to a switch earlier in the list.
    pub(super) fn replace<'h>(
        &mut self,
        next_hops: impl Iterator<Item = (u32, &'h [(ChannelId, u32)])>,
    ) {
        self.order.clear();
        self.starts.clear();
        self.starts.push(0);
        self.hops.clear();
        for (v, hops) in next_hops {
            self.order.push(v);
            self.hops.extend_from_slice(hops);
            self.starts.push(self.hops.len() as u32);
        }
    }

    /// The part of the tree that consists of the switches for which `has` is true. Its distances
    /// are not set.
    pub(super) fn part(&self, has: impl Fn(u32) -> bool) -> Self {
        let mut part = Self { starts: vec![0], ..Self::default() };
        let all = self.order.iter().enumerate().filter(|(_, v)| has(**v));
        let (switches, hops) =
            all.fold((0, 0), |(n, hops), (i, _)| (n + 1, hops + self.hops(i).len()));
        part.order.reserve_exact(switches);
        part.starts.reserve_exact(switches);
        part.hops.reserve_exact(hops);
        for (i, &v) in self.order.iter().enumerate().filter(|(_, v)| has(**v)) {
            part.order.push(v);
            part.hops.extend_from_slice(self.hops(i));
            part.starts.push(part.hops.len() as u32);
        }
        part
    }

    fn start(&mut self, switches: usize, destination: SwitchId) {
        self.distance.clear();
        self.distance.resize(switches, u32::MAX);
        self.distance[destination.ix()] = 0;
        self.order.clear();
        self.starts.clear();
        self.starts.push(0);
        self.hops.clear();
    }

    fn is_nearer(&self, w: u32, v: u32) -> bool {
        self.distance[w as usize].saturating_add(1) == self.distance[v as usize]
    }

    /// Sorts the order by distance, then number. O(switches + greatest distance).
    fn sort_order(&mut self) {
        let farthest = self.order.iter().map(|&v| self.distance[v as usize]).max().unwrap_or(0);
        let mut place = vec![0_usize; farthest as usize + 2];
        let mut in_order = vec![false; self.distance.len()];
        for &v in &self.order {
            in_order[v as usize] = true;
            place[self.distance[v as usize] as usize + 1] += 1;
        }
        for d in 0..=farthest as usize {
            place[d + 1] += place[d];
        }
        for v in (0..in_order.len()).filter(|&v| in_order[v]) {
            let at = &mut place[self.distance[v] as usize];
            self.order[*at] = v as u32;
            *at += 1;
        }
    }

    /// Measures, for every switch, the shortest route that only goes down.
    fn measure_down(&mut self, to: SwitchId, ranks: &UpDownRanks) {
        self.entered.clear();
        self.entered.resize(self.distance.len(), false);
        self.down.clear();
        self.down.resize(self.distance.len(), u32::MAX);
        self.down[to.ix()] = 0;
        let mut found = vec![to.0];
        let mut head = 0;
        while let Some(&v) = found.get(head) {
            head += 1;
            for &w in ranks.above(v) {
                if self.down[w as usize] == u32::MAX {
                    self.down[w as usize] = self.down[v as usize] + 1;
                    found.push(w);
                }
            }
        }
    }

    /// Appends the switches that are not in the order but are connected to those that are.
    fn append_rest(&mut self, on: &Topology) {
        let first = self.order.len();
        let mut head = 0;
        while let Some(&v) = self.order.get(head) {
            head += 1;
            for &w in on.graph().neighbours(v as usize) {
                if self.distance[w as usize] == u32::MAX {
                    self.distance[w as usize] = self.distance[v as usize] + 1;
                    self.order.push(w);
                }
            }
        }
        self.order[first..].sort_unstable_by_key(|&v| (self.distance[v as usize], v));
    }

    /// Lists the next hops of the switches from position `first` of the order on: the channels that
    /// `takes` accepts, given the switch, the switch at the other end and the channel.
    fn list_hops(
        &mut self,
        on: &Topology,
        first: usize,
        takes: impl Fn(&Self, u32, u32, ChannelId) -> bool,
    ) {
        let mut hops = std::mem::take(&mut self.hops);
        for i in first..self.order.len() {
            let v = self.order[i];
            let channels = on.graph().channels(v as usize);
            let row = on.graph().neighbours(v as usize).iter().zip(channels);
            hops.extend(row.filter(|(w, c)| takes(self, v, **w, **c)).map(|(&w, &c)| (c, w)));
            self.starts.push(hops.len() as u32);
        }
        self.hops = hops;
    }

    /// The number of hops from `v` to the destination; `u32::MAX` where no route leads there.
    #[inline]
    pub fn distance(&self, v: u32) -> u32 {
        self.distance[v as usize]
    }

    /// The next hops of the `i`-th switch of the order.
    #[inline]
    pub fn hops(&self, i: usize) -> &[(ChannelId, u32)] {
        &self.hops[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}
