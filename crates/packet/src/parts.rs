//! Partitions a network for several processors: parts have about equal work, and the links between
//! them are few and long.
//!
//! Links shorter than a bound are contracted, with the largest bound that still allows equal parts,
//! because the shortest link between parts limits how far they may run ahead of each other. The
//! contracted graph is bisected, and each half again: one side is grown, then routers are moved as
//! long as that cuts fewer links.
//!
//! Source: Fiduccia and Mattheyses, "A linear-time heuristic for improving network partitions", DAC
//! 1982; Karypis and Kumar, "A fast and high quality multilevel scheme for partitioning irregular
//! graphs", SIAM J. Sci. Comput. 20(1), 1998, section 3.2.

use super::plant::{LinkClass, SimulatedNetwork};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// Base-2 logarithm of the latency, in ps, above which all links are equally good to cut: 2^17 ps =
/// 131 ns makes the engine's time windows long enough.
const LONG: u32 = 17;
/// Parts count as equal if none exceeds its share by more than 1 / `ALIKE`; a graph whose vertices
/// are single routers comes closer.
const ALIKE: u64 = 8;
/// Number of starting vertices tried for a cut; fewer in networks with many links.
const STARTS: usize = 8;
/// The number of links above which a network counts as having many.
const MANY: usize = 1 << 18;

/// A graph of routers, or of groups of routers contracted to one vertex.
struct RouterGraph {
    weights: Vec<u64>,
    offsets: Vec<usize>,
    /// For each edge, the vertex at its other end and the number of links that the edge stands for.
    ends: Vec<(u32, u64)>,
}

/// A link between two routers, or between two routers of one endpoint; third, the base-2 logarithm
/// of its latency in ps.
pub(super) type RouterLink = (u32, u32, u32);

/// The number of the part that each router belongs to, for `count` parts.
pub(super) fn parts(plant: &SimulatedNetwork, count: u16) -> Vec<u16> {
    divided(&weights(plant), &links(plant), count)
}

/// The number of the part that each router belongs to, for routers of these weights. O(links log
/// links) for each halving.
pub(super) fn divided(weights: &[u64], links: &[RouterLink], parts: u16) -> Vec<u16> {
    let routers = weights.len() as u32;
    let by_number: Vec<u16> = (0..u64::from(routers))
        .map(|r| (r * u64::from(parts) / u64::from(routers.max(1))) as u16)
        .collect();
    if parts < 2 || routers <= u32::from(parts) {
        return by_number;
    }
    let levels: BTreeSet<u32> = links.iter().map(|link| link.2).chain([0]).collect();
    for level in levels.into_iter().rev() {
        let (of, vertices) = contracted(routers, links, level);
        let graph = RouterGraph::of(&of, vertices, weights, links);
        let is_whole = vertices == routers;
        let heaviest = graph.weights.iter().copied().max().unwrap_or(0);
        if !is_whole && (vertices < u32::from(parts) || heaviest > graph.share(parts)) {
            continue;
        }
        let mut found = vec![0; vertices as usize];
        graph.split(&(0..vertices).collect::<Vec<_>>(), 0, parts, &mut found);
        if is_whole && graph.rank(&by_number, parts) <= graph.rank(&found, parts) {
            return by_number;
        }
        if is_whole || graph.rank(&found, parts).0 == 0 {
            return of.iter().map(|vertex| found[*vertex as usize]).collect();
        }
    }
    by_number
}

/// The work of each router, in units: one for each port, two for each port with an endpoint.
pub(super) fn weights(plant: &SimulatedNetwork) -> Vec<u64> {
    let mut weights: Vec<u64> =
        (0..plant.routers).map(|r| plant.all(r).filter(|b| b.lp != r).count() as u64).collect();
    for endpoint in 0..plant.endpoints {
        weights[plant.at(endpoint, 0).router as usize] += 1;
    }
    weights
}

/// All links, each once. An endpoint is simulated with its router of the first plane, so it counts
/// as a link from there to its routers of other planes.
pub(super) fn links(plant: &SimulatedNetwork) -> Vec<RouterLink> {
    let level = |latency_ps: u32| latency_ps.max(1).ilog2().min(LONG);
    let mut links = Vec::new();
    for router in 0..plant.routers {
        for behind in plant.all(router) {
            if behind.class != LinkClass::Endpoint && behind.lp > router {
                links.push((router, behind.lp, level(behind.latency_ps)));
            }
        }
    }
    for endpoint in 0..plant.endpoints {
        let home = plant.at(endpoint, 0).router;
        for rail in 1..plant.rails {
            let at = plant.at(endpoint, rail as u8);
            if at.router != home {
                let latency_ps = plant.behind(at.router, at.port).latency_ps;
                links.push((home.min(at.router), home.max(at.router), level(latency_ps)));
            }
        }
    }
    links
}

/// Contracts all links below a level: returns for each router the vertex that it becomes part of,
/// and the number of vertices.
fn contracted(routers: u32, links: &[RouterLink], level: u32) -> (Vec<u32>, u32) {
    fn root(of: &mut [u32], mut at: u32) -> u32 {
        while of[at as usize] != at {
            of[at as usize] = of[of[at as usize] as usize];
            at = of[at as usize];
        }
        at
    }
    let mut of: Vec<u32> = (0..routers).collect();
    for (a, b, _) in links.iter().filter(|link| link.2 < level) {
        let (a, b) = (root(&mut of, *a), root(&mut of, *b));
        of[a.max(b) as usize] = a.min(b);
    }
    // the root of a set is its router with the lowest number
    let (mut names, mut vertices) = (vec![0; routers as usize], 0);
    for router in 0..routers {
        let root = root(&mut of, router);
        if root == router {
            names[router as usize] = vertices;
            vertices += 1;
        } else {
            names[router as usize] = names[root as usize];
        }
    }
    (names, vertices)
}

impl RouterGraph {
    fn of(vertex: &[u32], vertices: u32, weights: &[u64], links: &[RouterLink]) -> Self {
        let mut mine = vec![0; vertices as usize];
        for (at, weight) in vertex.iter().zip(weights) {
            mine[*at as usize] += weight;
        }
        let between = links.iter().flat_map(|(a, b, _)| {
            let [a, b] = [a, b].map(|router| vertex[*router as usize]);
            [(a, b, 1), (b, a, 1)]
        });
        Self::new(mine, between.collect())
    }

    /// A graph from edges, each given in both directions with its multiplicity; loops are left out
    /// and parallel edges are merged.
    fn new(weights: Vec<u64>, mut links: Vec<(u32, u32, u64)>) -> Self {
        links.retain(|(a, b, _)| a != b);
        links.sort_unstable();
        let mut counts = vec![0; weights.len() + 1];
        let mut ends: Vec<(u32, u64)> = Vec::with_capacity(links.len());
        let mut last = None;
        for (a, b, times) in links {
            if last == Some((a, b)) {
                let end = ends.last_mut().expect("there is a last one");
                end.1 += times;
            } else {
                ends.push((b, times));
                counts[a as usize + 1] += 1;
                last = Some((a, b));
            }
        }
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        Self { weights, offsets: counts, ends }
    }

    fn ends(&self, vertex: u32) -> &[(u32, u64)] {
        &self.ends[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    /// The largest weight of a part that counts as equal to the others.
    fn share(&self, parts: u16) -> u64 {
        let all: u64 = self.weights.iter().sum();
        (all + all / ALIKE).div_ceil(parts.into())
    }

    /// The cost of a partition, less is better: first by how much parts exceed their share, then by
    /// the number of links between them.
    fn rank(&self, part_of: &[u16], parts: u16) -> (u64, u64) {
        let mut shares = vec![0; parts.into()];
        for (part, weight) in part_of.iter().zip(&self.weights) {
            shares[usize::from(*part)] += weight;
        }
        let most: u64 = shares.into_iter().max().unwrap_or(0);
        (most.saturating_sub(self.share(parts)), self.cut(part_of))
    }

    /// The number of links between parts.
    fn cut<T: PartialEq>(&self, part_of: &[T]) -> u64 {
        let each = (0..self.weights.len()).map(|a| {
            let other = |end: &&(u32, u64)| part_of[end.0 as usize] != part_of[a];
            self.ends(a as u32).iter().filter(other).map(|end| end.1).sum::<u64>()
        });
        each.sum::<u64>() / 2
    }

    /// The subgraph of these vertices and the links between them.
    fn only(&self, vertices: &[u32]) -> Self {
        let mut names = vec![u32::MAX; self.weights.len()];
        for (name, vertex) in (0..).zip(vertices) {
            names[*vertex as usize] = name;
        }
        let links = vertices.iter().flat_map(|vertex| {
            let ends = self.ends(*vertex).iter();
            ends.map(|end| (names[*vertex as usize], names[end.0 as usize], end.1))
        });
        let weights = vertices.iter().map(|vertex| self.weights[*vertex as usize]).collect();
        Self::new(weights, links.filter(|link| link.1 != u32::MAX).collect())
    }

    /// Divides some vertices into parts and writes their part numbers, counted from `first`, to
    /// `found`.
    fn split(&self, vertices: &[u32], first: u16, parts: u16, found: &mut [u16]) {
        if parts < 2 || vertices.is_empty() {
            for vertex in vertices {
                found[*vertex as usize] = first;
            }
            return;
        }
        let half = parts.div_ceil(2);
        let sides = RouterGraphBisection::of(&self.only(vertices), half, parts);
        let of = |side: bool| {
            let mine = vertices.iter().zip(&sides).filter(move |(_, s)| **s == side);
            mine.map(|(vertex, _)| *vertex).collect::<Vec<_>>()
        };
        self.split(&of(false), first, half, found);
        self.split(&of(true), first + half, parts - half, found);
    }

    /// The vertex that is farthest from `from`; the first one if several are.
    fn farthest(&self, from: u32) -> u32 {
        let mut seen = vec![false; self.weights.len()];
        let (mut next, mut last, mut depth) = (VecDeque::from([(from, 0)]), from, 0);
        seen[from as usize] = true;
        while let Some((at, steps)) = next.pop_front() {
            if steps > depth {
                (last, depth) = (at, steps);
            }
            for (end, _) in self.ends(at) {
                if !std::mem::replace(&mut seen[*end as usize], true) {
                    next.push_back((*end, steps + 1));
                }
            }
        }
        last
    }
}

/// A cut into two sides: false is the first side, which should weigh `target`.
struct RouterGraphBisection<'a> {
    graph: &'a RouterGraph,
    sides: Vec<bool>,
    first_weight: u64,
    target: u64,
    slack: u64,
    /// For each vertex, the number of links by which the cut shrinks if the vertex changes sides.
    gains: Vec<i64>,
    cut: i64,
}

impl<'a> RouterGraphBisection<'a> {
    /// The best cut found; the first side gets `half` of the `parts` parts.
    fn of(graph: &'a RouterGraph, half: u16, parts: u16) -> Vec<bool> {
        let vertices = graph.weights.len() as u32;
        let all: u64 = graph.weights.iter().sum();
        let heaviest = graph.weights.iter().copied().max().unwrap_or(0);
        let target = all * u64::from(half) / u64::from(parts);
        let slack = (all / (50 * u64::from(parts))).max(heaviest.div_ceil(2));
        let starts = if graph.ends.len() > MANY { 2 } else { STARTS } as u32;
        let begin = |start: u32| {
            let mut it = Self {
                graph,
                sides: vec![true; vertices as usize],
                first_weight: 0,
                target,
                slack,
                gains: Vec::new(),
                cut: 0,
            };
            it.weigh();
            match start {
                0 => it.take_by_number(),
                1 => it.grow(graph.farthest(0)),
                _ => {
                    let share = u64::from(start - 2) * u64::from(vertices) / u64::from(starts);
                    it.grow(share as u32);
                }
            }
            while it.improve() {}
            it
        };
        let tried = (0..=starts).map(begin);
        let best = tried.min_by_key(RouterGraphBisection::rank).expect("there is a first one");
        best.sides
    }

    fn off(&self) -> u64 {
        self.first_weight.abs_diff(self.target)
    }

    /// The cost of the cut; less is better.
    fn rank(&self) -> (u64, i64) {
        (self.off().saturating_sub(self.slack), self.cut)
    }

    /// Computes the gains and the cut of the current sides.
    fn weigh(&mut self) {
        let each = (0..).zip(&self.sides).map(|(vertex, side)| {
            let ends = self.graph.ends(vertex).iter();
            ends.map(|(end, links)| {
                let links = *links as i64;
                if self.sides[*end as usize] == *side { -links } else { links }
            })
            .sum::<i64>()
        });
        self.gains = each.collect();
        self.cut = self.graph.cut(&self.sides) as i64;
    }

    /// Moves a vertex to the other side.
    fn turn(&mut self, vertex: u32, mut touched: impl FnMut(u32, i64)) {
        let at = vertex as usize;
        let side = !self.sides[at];
        self.sides[at] = side;
        let weight = self.graph.weights[at];
        self.first_weight =
            if side { self.first_weight - weight } else { self.first_weight + weight };
        self.cut -= self.gains[at];
        self.gains[at] = -self.gains[at];
        for (end, links) in self.graph.ends(vertex) {
            let links = 2 * *links as i64;
            let gain = &mut self.gains[*end as usize];
            *gain += if self.sides[*end as usize] == side { -links } else { links };
            touched(*end, *gain);
        }
    }

    /// Makes the vertices with the lowest numbers the first side.
    fn take_by_number(&mut self) {
        for vertex in 0..self.sides.len() as u32 {
            let weight = self.graph.weights[vertex as usize];
            if (self.first_weight + weight).abs_diff(self.target) >= self.off() {
                break;
            }
            self.turn(vertex, |_, _| {});
        }
    }

    /// Grows the first side from a vertex, adding in each step the vertex that cuts the fewest
    /// links.
    fn grow(&mut self, from: u32) {
        let mut next = BinaryHeap::from([(i64::MAX, Reverse(from))]);
        let mut unseen = 0;
        while self.first_weight < self.target {
            let Some((gain, Reverse(vertex))) = next.pop() else {
                // the network is not connected: continue with its next component
                while self.sides.get(unseen) == Some(&false) {
                    unseen += 1;
                }
                next.push((i64::MAX, Reverse(unseen as u32)));
                continue;
            };
            let at = vertex as usize;
            if !self.sides[at] || gain != i64::MAX && gain != self.gains[at] {
                continue;
            }
            if (self.first_weight + self.graph.weights[at]).abs_diff(self.target) > self.off() {
                break;
            }
            self.turn(vertex, |end, gain| next.push((gain, Reverse(end))));
        }
    }

    /// Moves every vertex once, the best first, then returns to the best cut seen in between;
    /// reports whether it is better than the cut before.
    fn improve(&mut self) -> bool {
        let patience = self.sides.len() / 8 + 64;
        let mut locked = vec![false; self.sides.len()];
        let mut next = [BinaryHeap::new(), BinaryHeap::new()];
        for (vertex, gain) in (0..).zip(&self.gains) {
            next[usize::from(self.sides[vertex as usize])].push((*gain, Reverse(vertex)));
        }
        let before = self.rank();
        let (mut best, mut moved, mut keep) = (before, Vec::new(), 0);
        while moved.len() < keep + patience {
            for heap in &mut next {
                while let Some((gain, Reverse(vertex))) = heap.peek()
                    && (locked[*vertex as usize] || *gain != self.gains[*vertex as usize])
                {
                    heap.pop();
                }
            }
            // if both moves unbalance the sides, the heavier side gives a vertex
            let fits = |side: usize| {
                let (gain, Reverse(vertex)) = next[side].peek()?;
                let weight = self.graph.weights[*vertex as usize];
                let after =
                    if side == 0 { self.first_weight - weight } else { self.first_weight + weight };
                let off = after.abs_diff(self.target);
                (off <= self.slack || off < self.off()).then_some((*gain, Reverse(side)))
            };
            let Some((_, Reverse(side))) = fits(0).max(fits(1)) else { break };
            let Some((_, Reverse(vertex))) = next[side].pop() else { break };
            locked[vertex as usize] = true;
            let mut touched = Vec::new();
            self.turn(vertex, |end, gain| touched.push((end, gain)));
            for (end, gain) in touched.into_iter().filter(|(end, _)| !locked[*end as usize]) {
                next[usize::from(self.sides[end as usize])].push((gain, Reverse(end)));
            }
            moved.push(vertex);
            if self.rank() < best {
                (best, keep) = (self.rank(), moved.len());
            }
        }
        for vertex in moved.drain(keep..).rev() {
            self.turn(vertex, |_, _| {});
        }
        best < before
    }
}
