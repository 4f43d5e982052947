//! Cuts a weighted graph into two halves of equal mass across few edges.
//!
//! Source: Hendrickson & Leland, "A multilevel algorithm for partitioning graphs", SC 1995;
//! Karypis & Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs",
//! SIAM J. Sci. Comput. 1998; Fiduccia & Mattheyses, "A linear-time heuristic for improving network
//! partitions", DAC 1982.

mod gains;

use crate::Interrupted;
use crate::seed::RandomStream;
use gains::GainQueue;
use std::collections::BinaryHeap;

/// A graph with masses on vertices and weights on edges. Each edge is in the rows of both its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedGraph {
    /// The position in `targets` where each row begins, and the end of the last row.
    pub offsets: Vec<u32>,
    /// The neighbours, row by row.
    pub targets: Vec<u32>,
    /// The weight of each edge, in the order of `targets`.
    pub weights: Vec<u32>,
    /// The mass of each vertex.
    pub masses: Vec<u64>,
    /// Mass that the side `true` has in addition to its vertices; 0 where the halves should be
    /// equal.
    pub held: u64,
}

/// A partition: the side of each vertex, the weight of the edges cut, the difference of the masses.
#[derive(Debug, Clone)]
pub struct GraphBisection {
    /// The side of each vertex.
    pub side: Vec<bool>,
    /// Weight of the edges cut.
    pub cut: u64,
    /// Difference of the masses of the two sides.
    pub difference: u64,
}

/// A function that the search calls regularly, and that can stop it.
pub type TickFn<'a> = dyn Fn() -> Result<(), Interrupted> + Sync + 'a;

/// The number of vertices at which coarsening ends, and the number of attempts to halve the
/// remaining graph.
const COARSE: usize = 48;
const ATTEMPTS: u64 = 8;

/// One multilevel run: it coarsens by matchings of heavy edges, halves the small graph, and refines
/// while it expands the graph again.
///
/// Moves of single vertices reduce the difference of the masses to `slack` where they can; a
/// smaller difference comes before a smaller cut. O(edges * log(edges)) per level, with a few
/// passes each; `tick` is called before each pass.
///
/// # Errors
/// [`Interrupted`] when `tick` returns it.
pub fn halve(
    graph: &WeightedGraph,
    slack: u64,
    draw: &mut RandomStream,
    tick: &TickFn,
) -> Result<GraphBisection, Interrupted> {
    halve_best_of(graph, slack, ATTEMPTS, draw, tick)
}

/// As [`halve`], with this number of attempts (at least 1) to halve the graph that coarsening
/// leaves.
///
/// # Errors
/// [`Interrupted`] when `tick` returns it.
pub fn halve_best_of(
    graph: &WeightedGraph,
    slack: u64,
    attempts: u64,
    draw: &mut RandomStream,
    tick: &TickFn,
) -> Result<GraphBisection, Interrupted> {
    if graph.size() <= COARSE {
        return halve_small(graph, slack, attempts, draw, tick);
    }
    let (parent, count) = graph.matching(draw);
    if count * 20 > graph.size() * 19 {
        return halve_small(graph, slack, attempts, draw, tick);
    }
    let small = graph.contracted(&parent, count);
    // only the finest level can balance the masses exactly
    let coarse = halve_best_of(&small, slack.max(small.heaviest()), attempts, draw, tick)?;
    let side = parent.iter().map(|&v| coarse.side[v as usize]).collect();
    refine(graph, side, slack, tick)
}

/// The best of several halvings. Each starts from a half grown around a random vertex, or from
/// random sides.
fn halve_small(
    graph: &WeightedGraph,
    slack: u64,
    attempts: u64,
    draw: &mut RandomStream,
    tick: &TickFn,
) -> Result<GraphBisection, Interrupted> {
    let attempt = |i: u64| {
        let random =
            |draw: &mut RandomStream| (0..graph.size()).map(|_| draw.below(2) == 1).collect();
        let side = if i.is_multiple_of(2) { graph.grown(draw) } else { random(draw) };
        refine(graph, side, slack, tick)
    };
    let tries =
        (0..attempts.max(1)).map(attempt).collect::<Result<Vec<GraphBisection>, Interrupted>>()?;
    let best = tries.into_iter().min_by_key(|h| (h.difference.saturating_sub(slack), h.cut));
    Ok(best.expect("there is more than one attempt"))
}

impl WeightedGraph {
    /// The number of vertices.
    pub fn size(&self) -> usize {
        self.masses.len()
    }

    /// The edges of `v`: the other end and the weight.
    #[inline]
    pub fn edges(&self, v: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let row = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        let weights = self.weights[row.clone()].iter();
        self.targets[row].iter().zip(weights).map(|(&w, &weight)| (w as usize, weight))
    }

    /// The weight of the edge between `v` and `w`, 0 where there is none, in a graph whose rows are
    /// ascending. O(log(edges of v)).
    #[inline]
    pub fn weight(&self, v: usize, w: usize) -> u32 {
        let row = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        let found = self.targets[row.clone()].binary_search(&(w as u32));
        found.map_or(0, |place| self.weights[row.start + place])
    }

    fn heaviest(&self) -> u64 {
        self.masses.iter().copied().max().unwrap_or(0)
    }

    /// Pairs neighbours over heavy edges. Returns the number of the pair (or single vertex) of each
    /// vertex, and how many numbers there are.
    fn matching(&self, draw: &mut RandomStream) -> (Vec<u32>, usize) {
        let n = self.size();
        let most = self.masses.iter().sum::<u64>() / 16;
        let mut order: Vec<u32> = (0..n as u32).collect();
        draw.shuffle(&mut order);
        let mut rank = vec![0_u32; n];
        for (i, &v) in order.iter().enumerate() {
            rank[v as usize] = i as u32;
        }
        let mut parent = vec![u32::MAX; n];
        let mut count = 0;
        for &v in &order {
            let v = v as usize;
            if parent[v] < u32::MAX {
                continue;
            }
            let free = self.edges(v).filter(|&(w, _)| {
                parent[w] == u32::MAX && self.masses[v] + self.masses[w] <= most.max(1)
            });
            if let Some((w, _)) = free.max_by_key(|&(w, weight)| (weight, rank[w])) {
                parent[w] = count;
            }
            parent[v] = count;
            count += 1;
        }
        (parent, count as usize)
    }

    /// The graph whose vertices are the pairs; edges between the same two pairs are added up.
    fn contracted(&self, parent: &[u32], count: usize) -> Self {
        let mut members = vec![[u32::MAX; 2]; count];
        let mut masses = vec![0; count];
        for (v, &p) in parent.iter().enumerate() {
            let pair = &mut members[p as usize];
            pair[usize::from(pair[0] < u32::MAX)] = v as u32;
            masses[p as usize] += self.masses[v];
        }
        let mut at = vec![u32::MAX; count];
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for (p, pair) in members.iter().enumerate() {
            let start = targets.len();
            for &v in pair.iter().filter(|&&v| v < u32::MAX) {
                for (w, weight) in self.edges(v as usize) {
                    let to = parent[w] as usize;
                    if to == p {
                        continue;
                    }
                    if at[to] == u32::MAX {
                        at[to] = targets.len() as u32;
                        targets.push(to as u32);
                        weights.push(0);
                    }
                    weights[at[to] as usize] += weight;
                }
            }
            for &to in &targets[start..] {
                at[to as usize] = u32::MAX;
            }
            offsets.push(targets.len() as u32);
        }
        Self { offsets, targets, weights, masses, held: self.held }
    }

    /// Grows one half from a random vertex. The vertex that joins next is the one with the most
    /// weight of edges into the half, minus its other edges.
    fn grown(&self, draw: &mut RandomStream) -> Vec<bool> {
        let n = self.size();
        let half = self.masses.iter().sum::<u64>().saturating_sub(self.held) / 2;
        let mut side = vec![false; n];
        let mut bound: Vec<i64> =
            (0..n).map(|v| -self.edges(v).map(|(_, w)| i64::from(w)).sum::<i64>()).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        draw.shuffle(&mut order);
        let mut heap = BinaryHeap::new();
        let (mut mass, mut starts) = (0, order.into_iter());
        while mass < half {
            let next = heap.pop().or_else(|| starts.next().map(|v| (bound[v as usize], v)));
            let Some((gain, v)) = next else { break };
            let v = v as usize;
            if side[v] || gain != bound[v] {
                continue;
            }
            side[v] = true;
            mass += self.masses[v];
            for (w, weight) in self.edges(v).filter(|&(w, _)| !side[w]) {
                bound[w] += 2 * i64::from(weight);
                heap.push((bound[w], w as u32));
            }
        }
        side
    }
}

/// Runs passes of single moves until a pass no longer improves the halves.
fn refine(
    graph: &WeightedGraph,
    side: Vec<bool>,
    slack: u64,
    tick: &TickFn,
) -> Result<GraphBisection, Interrupted> {
    let mut state = BisectionRefinementState::new(graph, side, slack);
    tick()?;
    while state.pass() {
        tick()?;
    }
    Ok(GraphBisection {
        cut: state.cut,
        difference: state.difference.unsigned_abs(),
        side: state.side,
    })
}

/// A partition while moves of single vertices refine it.
struct BisectionRefinementState<'a> {
    graph: &'a WeightedGraph,
    side: Vec<bool>,
    slack: u64,
    /// For each vertex, how much the cut shrinks when the vertex changes sides.
    gain: Vec<i64>,
    cut: u64,
    /// The mass of the side `true` minus that of the side `false`.
    difference: i64,
    heaviest: u64,
    /// For each vertex, whether it has not moved in this pass.
    free: Vec<bool>,
    /// The vertices that have not moved in this pass, by side and gain.
    open: GainQueue,
}

impl<'a> BisectionRefinementState<'a> {
    fn new(graph: &'a WeightedGraph, side: Vec<bool>, slack: u64) -> Self {
        let (mut gain, mut cut, mut most) = (Vec::with_capacity(graph.size()), 0, 0);
        for v in 0..graph.size() {
            let (mut inside, mut outside) = (0, 0);
            for (w, weight) in graph.edges(v) {
                *(if side[w] == side[v] { &mut inside } else { &mut outside }) += u64::from(weight);
            }
            gain.push(outside as i64 - inside as i64);
            cut += outside;
            most = most.max(inside + outside);
        }
        let placed = side.iter().zip(&graph.masses).map(|(&s, &m)| sign(s) * m as i64);
        let difference = graph.held as i64 + placed.sum::<i64>();
        Self {
            graph,
            slack,
            gain,
            cut: cut / 2,
            difference,
            heaviest: graph.heaviest(),
            free: vec![false; graph.size()],
            open: GainQueue::new(graph.size(), most),
            side,
        }
    }

    /// The cost to minimise: the excess of the difference over `slack`, then the cut.
    fn cost(&self) -> (u64, u64) {
        (self.difference.unsigned_abs().saturating_sub(self.slack), self.cut)
    }

    /// Moves every vertex once, best first, and undoes all moves after the best state. Returns
    /// whether that state is better than before.
    fn pass(&mut self) -> bool {
        let before = self.cost();
        self.open.clear();
        self.free.fill(true);
        let n = self.graph.size();
        for v in 0..n {
            self.open.enter(v, self.side[v], self.gain[v]);
        }
        let (mut best, mut best_at, mut moved) = (before, 0, Vec::with_capacity(n));
        let patience = 200 + n / 4;
        while moved.len() < best_at + patience {
            let Some(v) = self.candidate() else { break };
            self.free[v] = false;
            self.open.leave(v);
            self.turn(v);
            moved.push(v);
            if self.cost() < best {
                (best, best_at) = (self.cost(), moved.len());
            }
        }
        self.free.fill(false);
        for &v in moved[best_at..].iter().rev() {
            self.turn(v);
        }
        best < before
    }

    /// The best vertex that may move: its move keeps the masses close to each other, or brings them
    /// closer.
    fn candidate(&mut self) -> Option<usize> {
        let firsts = [self.open.first(false), self.open.first(true)];
        let near = self.slack + 2 * self.heaviest;
        let allowed = |&(_, _, v): &(i64, u32, usize)| {
            let after = self.difference_after(v).unsigned_abs();
            after <= near || after < self.difference.unsigned_abs()
        };
        // among equal gains the vertex whose move leaves the smaller difference, then the one
        // entered last
        let key = |&(gain, entry, v): &(i64, u32, usize)| {
            (gain, -(self.difference_after(v).abs()), entry)
        };
        firsts.into_iter().flatten().filter(allowed).max_by_key(key).map(|first| first.2)
    }

    fn difference_after(&self, v: usize) -> i64 {
        self.difference - 2 * sign(self.side[v]) * self.graph.masses[v] as i64
    }

    /// Moves `v` to the other side.
    fn turn(&mut self, v: usize) {
        self.difference = self.difference_after(v);
        self.cut = (self.cut as i64 - self.gain[v]) as u64;
        self.side[v] = !self.side[v];
        self.gain[v] = -self.gain[v];
        let graph = self.graph;
        for (w, weight) in graph.edges(v) {
            self.gain[w] += 2 * i64::from(weight) * sign(self.side[w] != self.side[v]);
            if self.free[w] {
                self.open.enter(w, self.side[w], self.gain[w]);
            }
        }
    }
}

fn sign(yes: bool) -> i64 {
    if yes { 1 } else { -1 }
}
