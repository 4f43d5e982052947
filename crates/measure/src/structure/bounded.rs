//! Numbers of link-disjoint paths of bounded length between two switches.
//!
//! Source: Itai, Perl, Shiloach, "The complexity of finding maximum disjoint paths with length
//! constraints", Networks 1982: a matching problem up to three hops, NP-hard from five on.

use base::Graph;
use std::collections::VecDeque;

/// A counter of link-disjoint paths of at most `hops` hops, to one switch after the other.
pub(super) struct BoundedPathCounter<'a> {
    graph: &'a Graph,
    hops: u32,
    /// For each switch, the number of channels to the target, and the index of the switch among the
    /// target's neighbours.
    to_target: Vec<u32>,
    place: Vec<u32>,
    /// For each link, whether an earlier path uses it.
    used: Vec<bool>,
    touched: Vec<u32>,
    depth: Vec<u32>,
    from: Vec<(u32, u32)>,
}

/// An interval of the number of link-disjoint paths: at least `low` and at most `high`.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathCountRange {
    pub(super) low: u64,
    pub(super) high: u64,
}

/// An arc in the middle of the three-hop network: from a neighbour of the source to a neighbour of
/// the target.
struct MiddleHopArc {
    right: u32,
    room: u32,
    flow: u32,
}

impl<'a> BoundedPathCounter<'a> {
    pub(super) fn new(graph: &'a Graph, hops: u32) -> Self {
        let n = graph.switches();
        Self {
            graph,
            hops,
            to_target: vec![0; n],
            place: vec![u32::MAX; n],
            used: vec![false; graph.links()],
            touched: Vec::new(),
            depth: vec![u32::MAX; n],
            from: vec![(0, 0); n],
        }
    }

    /// Counts the link-disjoint paths of at most the bounded length from `s` to another switch,
    /// `t`; `near` has the hop distances to `t`. Exact up to three hops.
    pub(super) fn count(&mut self, s: u32, t: u32, near: &[u32]) -> PathCountRange {
        if near[s as usize] > self.hops {
            return PathCountRange { low: 0, high: 0 };
        }
        let exact = self.within_three(s, t);
        if self.hops <= 3 {
            return PathCountRange { low: exact, high: exact };
        }
        let useful = |w: &&u32| near[**w as usize] < self.hops;
        let leave = self.graph.neighbours(s as usize).iter().filter(useful).count();
        let high = leave.min(self.graph.degree(t as usize)) as u64;
        let low = if exact == high { high } else { self.greedy(s, t, near).max(exact) };
        PathCountRange { low, high }
    }

    /// Counts exactly the paths of at most three hops, or of fewer if the bound is lower than
    /// three.
    ///
    /// It is a flow from `s` over its neighbours a and the neighbours b of `t`; a = b is a path of
    /// two hops. Two paths s-a-b-t and s-b-a-t would share a link, but can be replaced by s-a-t and
    /// s-b-t, so links between neighbours of both need no special care.
    fn within_three(&mut self, s: u32, t: u32) -> u64 {
        let (s, t) = (s as usize, t as usize);
        let mut rights: Vec<(u32, u32)> = Vec::new();
        for &b in self.graph.neighbours(t) {
            if self.to_target[b as usize] == 0 {
                self.place[b as usize] = rights.len() as u32;
                rights.push((b, 0));
            }
            self.to_target[b as usize] += 1;
        }
        let direct = u64::from(std::mem::take(&mut self.to_target[s]));
        let mut room: Vec<u32> = rights.iter().map(|&(b, _)| self.to_target[b as usize]).collect();
        let mut lefts = by_switch(self.graph.neighbours(s).iter().filter(|&&a| a as usize != t));
        let middles: Vec<Vec<MiddleHopArc>> = lefts
            .iter()
            .map(|&(a, _)| {
                let same = (self.to_target[a as usize] > 0).then_some((a, u32::MAX));
                let near = self.graph.neighbours(a as usize).iter();
                let near = near.filter(|&&b| self.to_target[b as usize] > 0 && b as usize != t);
                let crossing = if self.hops >= 3 { by_switch(near) } else { Vec::new() };
                let middle = |(b, room): (u32, u32)| MiddleHopArc {
                    right: self.place[b as usize],
                    room,
                    flow: 0,
                };
                same.into_iter().chain(crossing).map(middle).collect()
            })
            .collect();
        let found = if self.hops >= 2 { widest(&mut lefts, middles, &mut room) } else { 0 };
        for (b, _) in rights {
            self.to_target[b as usize] = 0;
            self.place[b as usize] = u32::MAX;
        }
        direct + found
    }

    /// Counts paths greedily: each is a shortest path over the links that earlier ones have not
    /// used.
    fn greedy(&mut self, s: u32, t: u32, near: &[u32]) -> u64 {
        let mut taken = Vec::new();
        let mut found = 0;
        while self.shortest(s, t, near) {
            found += 1;
            let mut v = t;
            while v != s {
                let (before, link) = self.from[v as usize];
                self.used[link as usize] = true;
                taken.push(link);
                v = before;
            }
        }
        for link in taken {
            self.used[link as usize] = false;
        }
        found
    }

    /// Whether another path of bounded length exists; its steps are left in `from`.
    fn shortest(&mut self, s: u32, t: u32, near: &[u32]) -> bool {
        for v in self.touched.drain(..) {
            self.depth[v as usize] = u32::MAX;
        }
        self.depth[s as usize] = 0;
        self.touched.push(s);
        let mut head = 0;
        while let Some(&v) = self.touched.get(head) {
            head += 1;
            let next = self.depth[v as usize] + 1;
            let row = self.graph.neighbours(v as usize).iter();
            for (&w, channel) in row.zip(self.graph.channels(v as usize)) {
                let at = w as usize;
                let in_time = near[at] <= self.hops - next.min(self.hops) && next <= self.hops;
                if self.depth[at] < u32::MAX || !in_time || self.used[channel.link().ix()] {
                    continue;
                }
                self.depth[at] = next;
                self.from[at] = (v, channel.link().0);
                self.touched.push(w);
                if w == t {
                    return true;
                }
            }
        }
        false
    }
}

/// Every switch of `row` once, with the number of times that it occurs.
fn by_switch<'a>(row: impl Iterator<Item = &'a u32>) -> Vec<(u32, u32)> {
    let mut all: Vec<u32> = row.copied().collect();
    all.sort_unstable();
    all.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect()
}

/// The maximum flow from the switches in `lefts` (switch, capacity) over the middle arcs of each to
/// the right switches, whose capacities are in `room`.
fn widest(lefts: &mut [(u32, u32)], mut middles: Vec<Vec<MiddleHopArc>>, room: &mut [u32]) -> u64 {
    let mut into: Vec<Vec<(u32, u32)>> = vec![Vec::new(); room.len()];
    for (left, crossing) in middles.iter().enumerate() {
        for (i, arc) in crossing.iter().enumerate() {
            into[arc.right as usize].push((left as u32, i as u32));
        }
    }
    let mut found = 0;
    for start in 0..lefts.len() {
        while lefts[start].1 > 0 && reroute(start, &mut middles, &into, room) {
            lefts[start].1 -= 1;
            found += 1;
        }
    }
    found
}

/// Adds one unit of flow from `start` to a right switch with free capacity, rerouting earlier units
/// if necessary; returns whether that was possible.
fn reroute(
    start: usize,
    middles: &mut [Vec<MiddleHopArc>],
    into: &[Vec<(u32, u32)>],
    room: &mut [u32],
) -> bool {
    // the arc by which the search reached each right switch, and the right switch from which it
    // reached each left one
    let mut reached_by: Vec<Option<(u32, u32)>> = vec![None; room.len()];
    let mut back: Vec<Option<(u32, u32)>> = vec![None; middles.len()];
    let mut seen = vec![false; middles.len()];
    let mut queue = VecDeque::from([start]);
    seen[start] = true;
    while let Some(left) = queue.pop_front() {
        for (i, arc) in middles[left].iter().enumerate() {
            let right = arc.right as usize;
            if arc.flow == arc.room || reached_by[right].is_some() {
                continue;
            }
            reached_by[right] = Some((left as u32, i as u32));
            if room[right] > 0 {
                room[right] -= 1;
                apply(right, middles, &reached_by, &back);
                return true;
            }
            for &(other, j) in &into[right] {
                if !seen[other as usize] && middles[other as usize][j as usize].flow > 0 {
                    seen[other as usize] = true;
                    back[other as usize] = Some((right as u32, j));
                    queue.push_back(other as usize);
                }
            }
        }
    }
    false
}

/// Adds the unit along the path of the search to `right`.
fn apply(
    mut right: usize,
    middles: &mut [Vec<MiddleHopArc>],
    reached_by: &[Option<(u32, u32)>],
    back: &[Option<(u32, u32)>],
) {
    while let Some((left, i)) = reached_by[right] {
        middles[left as usize][i as usize].flow += 1;
        let Some((before, j)) = back[left as usize] else { return };
        middles[left as usize][j as usize].flow -= 1;
        right = before as usize;
    }
}
