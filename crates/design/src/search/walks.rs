//! The sum of distances kept up to date under exchanges, by counting short walks.
//!
//! A pair is at most L hops apart when a walk of at most L edges joins it. For every base vertex
//! and every other vertex, the numbers of walks of fewer than L edges, and of exactly L, are kept.
//! A removed orbit removes its walks: each is split at its first arc of the orbit, so that the part
//! before uses no arc of the orbit and the part after may use any edge. An exchange costs
//! O(degree^(L - 1)) instead of a search from every vertex.
//!
//! Source: Shimizu and Mori, "Average shortest path length of graphs of diameter 3", 2016
//! (arXiv:1606.05119): local search by counts that an exchange changes in few places.

use super::orbits::{DrawnOrbitExchange, OrbitEdge, SymmetricGraph};

/// The largest degree for which 16 bits can count walks of three edges.
pub(super) const MAX_DEGREE: u32 = 128;

/// Numbers of short walks between all pairs, for graphs of diameter at most L + 1.
#[derive(Debug)]
pub(super) struct WalkCounts {
    /// The length L of the longest walks counted: 2 or 3.
    longest: usize,
    /// One row per base vertex, one column per vertex: walks of fewer than L edges in the upper
    /// half of a cell, walks of exactly L in the lower.
    cells: Vec<u32>,
    /// The number of cells off the diagonal whose upper half is 0, and of those where both are 0.
    beyond: [u64; 2],
    order: usize,
    before: [Vec<u32>; 3],
    after: [Vec<u32>; 3],
}

impl WalkCounts {
    /// The counts of `graph`, for L = `longest` of 2 or 3. O(base * degree^L).
    pub(super) fn new(graph: &SymmetricGraph, longest: usize) -> Self {
        let (n, base) = (graph.order(), graph.base());
        let pairs = (base * (n - 1)) as u64;
        let mut walks = Self {
            longest,
            cells: vec![0; base * n],
            beyond: [pairs; 2],
            order: n,
            before: Default::default(),
            after: Default::default(),
        };
        for v in 0..base as u32 {
            for a in graph.neighbours(v) {
                walks.add(v, a, 1);
                for b in graph.neighbours(a) {
                    walks.add(v, b, 2);
                    if longest > 2 {
                        graph.neighbours(b).for_each(|c| walks.add(v, c, 3));
                    }
                }
            }
        }
        walks
    }

    fn add(&mut self, from: u32, to: u32, length: usize) {
        let unit = if length < self.longest { 1 << 16 } else { 1 };
        let cell = &mut self.cells[from as usize * self.order + to as usize];
        if from != to {
            self.beyond[0] -= u64::from(*cell >> 16 == 0 && unit > 1);
            self.beyond[1] -= u64::from(*cell == 0);
        }
        *cell += unit;
    }

    /// The number of pairs from base vertices more than L - 1 hops apart, plus that of pairs more
    /// than L hops apart. Among graphs of these degrees and diameter at most L + 1 it orders as the
    /// sum of distances does.
    pub(super) fn energy(&self) -> u64 {
        self.beyond[0] + self.beyond[1]
    }

    /// Performs an exchange in `graph` and in the counts.
    pub(super) fn apply(&mut self, graph: &mut SymmetricGraph, drawn: &DrawnOrbitExchange) {
        graph.apply(drawn, |graph, edge, comes| {
            if comes {
                self.count::<true>(graph, edge);
            } else {
                self.count::<false>(graph, edge);
            }
        });
    }

    /// Adds or removes all walks that use the orbit of `edge`, which `graph` must have.
    fn count<const ADD: bool>(&mut self, graph: &SymmetricGraph, edge: OrbitEdge) {
        let n = graph.order() as u32;
        let ends = (graph.home(edge.0).0, graph.home(edge.1).0);
        let along = if edge.1 >= edge.0 { edge.1 - edge.0 } else { edge.1 + n - edge.0 };
        // whether an arc belongs to the orbit, in either direction
        let of_orbit = |from: u32, to: u32, base: u32| {
            let step = if to >= from { to - from } else { to + n - from };
            (step == along && base == ends.0) || (step == n - along && base == ends.1)
        };
        let directions = [(edge.0, edge.1), (edge.1, edge.0)];
        for &(u, v) in &directions[..if graph.is_half(edge) { 1 } else { 2 }] {
            self.before[0].clear();
            self.before[0].push(u);
            self.after[0].clear();
            self.after[0].push(v);
            for i in 1..self.longest {
                let (shorter, longer) = self.before.split_at_mut(i);
                longer[0].clear();
                for &x in &shorter[i - 1] {
                    let base = graph.home(x).0;
                    longer[0].extend(graph.neighbours(x).filter(|&w| !of_orbit(x, w, base)));
                }
                let (shorter, longer) = self.after.split_at_mut(i);
                longer[0].clear();
                for &x in &shorter[i - 1] {
                    longer[0].extend(graph.neighbours(x));
                }
            }
            self.bump_all::<ADD>(graph);
        }
    }

    /// Counts every walk of a part before, one arc, and a part after.
    fn bump_all<const ADD: bool>(&mut self, graph: &SymmetricGraph) {
        // the conjunction of two conditions, without a branch
        let and = |a: bool, b: bool| u64::from(a) * u64::from(b);
        let Self { longest, cells, beyond, order, before, after } = self;
        let n = *order as u32;
        let (mut near, mut all) = (0_u64, 0_u64);
        for (i, sources) in before.iter().enumerate().take(*longest) {
            for &x in sources {
                let (row, turn) = graph.home(x);
                let line = &mut cells[row as usize * n as usize..][..n as usize];
                for (j, targets) in after.iter().enumerate().take(*longest - i) {
                    let short = i + j + 1 < *longest;
                    let unit: u32 = if short { 1 << 16 } else { 1 };
                    for &y in targets {
                        let column = if y >= turn { y - turn } else { y + n - turn };
                        let cell = &mut line[column as usize];
                        let other = if ADD { *cell } else { *cell - unit };
                        let counts = column != row;
                        near += and(counts, other >> 16 == 0) * u64::from(short);
                        all += and(counts, other == 0);
                        *cell = if ADD { other + unit } else { other };
                    }
                }
            }
        }
        if ADD {
            beyond[0] -= near;
            beyond[1] -= all;
        } else {
            beyond[0] += near;
            beyond[1] += all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::OrderDegreeProblem;
    use crate::search::reach::MultiSourceDistanceSearch;
    use base::seed::RandomStream;

    #[test]
    fn exchanges_leave_the_counts_that_counting_anew_gives() {
        let cases =
            [(16, 4, 1), (16, 5, 4), (30, 7, 3), (12, 3, 2), (12, 3, 4), (13, 5, 1), (20, 6, 20)];
        for (longest, (n, d, g)) in [2, 3].into_iter().flat_map(|l| cases.map(|c| (l, c))) {
            let problem = OrderDegreeProblem::new(n, d).unwrap();
            let mut graph = SymmetricGraph::circulant(problem, g);
            let mut walks = WalkCounts::new(&graph, longest);
            let mut random = RandomStream::new(5, "walks", u64::from(n));
            for step in 0..400 {
                let Some(drawn) = graph.draw(&mut random) else { continue };
                walks.apply(&mut graph, &drawn);
                if step % 3 == 0 {
                    let reverse = graph.reverse(&drawn);
                    walks.apply(&mut graph, &reverse);
                }
                let anew = WalkCounts::new(&graph, longest);
                assert_eq!(walks.cells, anew.cells, "({n}, {d}, {g}), L = {longest}");
                assert_eq!(walks.beyond, anew.beyond);
            }
        }
    }

    #[test]
    fn the_energy_is_the_sum_of_distances_but_for_a_constant() {
        for (n, d, g, longest) in [(40, 8, 1, 2), (40, 8, 4, 2), (60, 6, 1, 3), (60, 6, 5, 3)] {
            let problem = OrderDegreeProblem::new(n, d).unwrap();
            let mut graph = SymmetricGraph::circulant(problem, g);
            let mut random = RandomStream::new(6, "walks", u64::from(n));
            let (mut compared, mut draws) = (0, 0);
            while compared < 20 {
                draws += 1;
                assert!(draws < 10_000, "random graphs of these sizes have the diameter");
                if let Some(drawn) = graph.draw(&mut random) {
                    graph.apply(&drawn, |_, _, _| {});
                }
                let exact = MultiSourceDistanceSearch::default().score(&graph);
                if draws < 500 || exact.diameter.is_none_or(|d| d as usize > longest + 1) {
                    continue;
                }
                compared += 1;
                // every pair 1, all but the neighbours 1 more, then the pairs beyond
                let (n, d, g) = (u64::from(n), u64::from(d), u64::from(g));
                let near = n * (n - 1) + if longest == 2 { 0 } else { n * (n - 1 - d) };
                let energy = WalkCounts::new(&graph, longest).energy();
                assert_eq!(exact.distance_sum, near + g * energy, "({n}, {d}, {g})");
            }
        }
    }
}
