//! Measures exact distances of a graph during the search, for 512 sources at a time with one bit
//! per source.
//!
//! Source: Nakao et al., 2021 (see `orbits`): sources of one orbit have the same distances, so only
//! the base vertices are sources.

use super::bounds::DistanceBounds;
use super::orbits::SymmetricGraph;
use std::cmp::Ordering;

/// The quality of a graph: diameter first, then mean distance, as Graph Golf ranks graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphScore {
    /// Longest distance, hops; `None` when the graph is not connected.
    pub diameter: Option<u32>,
    /// Sum of the distances of all ordered pairs; a pair that is not connected counts with the
    /// number of vertices.
    pub distance_sum: u64,
}

impl GraphScore {
    /// Whether no graph can be better.
    pub fn meets(&self, bounds: &DistanceBounds) -> bool {
        self.diameter == Some(bounds.diameter) && self.distance_sum == bounds.distance_sum
    }
}

impl Ord for GraphScore {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |s: &Self| (s.diameter.unwrap_or(u32::MAX), s.distance_sum);
        rank(self).cmp(&rank(other))
    }
}

impl PartialOrd for GraphScore {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A breadth-first sweep from many sources, whose memory is reused.
#[derive(Debug, Default)]
pub(super) struct MultiSourceDistanceSearch {
    seen: Vec<u64>,
    next: Vec<u64>,
}

impl MultiSourceDistanceSearch {
    /// The score of `graph`. O(ceil(base / 512) * diameter * arcs) operations on 512 bits.
    pub(super) fn score(&mut self, graph: &SymmetricGraph) -> GraphScore {
        let mut total = GraphScore { diameter: Some(0), distance_sum: 0 };
        let sources: Vec<u32> = (0..graph.base() as u32).collect();
        for some in sources.chunks(512) {
            let part = match some.len().div_ceil(64) {
                1 => self.sweep::<1>(graph, some),
                2 => self.sweep::<2>(graph, some),
                3 | 4 => self.sweep::<4>(graph, some),
                _ => self.sweep::<8>(graph, some),
            };
            total.diameter = match (total.diameter, part.diameter) {
                (Some(a), Some(b)) => Some(a.max(b)),
                _ => None,
            };
            total.distance_sum += part.distance_sum;
        }
        total.distance_sum *= u64::from(graph.symmetry());
        total
    }

    /// The score over the ordered pairs from at most 64 W sources.
    fn sweep<const W: usize>(&mut self, graph: &SymmetricGraph, sources: &[u32]) -> GraphScore {
        let n = graph.order();
        for words in [&mut self.seen, &mut self.next] {
            words.clear();
            words.resize(n * W, 0);
        }
        let mut full = [0_u64; W];
        for (i, &s) in sources.iter().enumerate() {
            full[i / 64] |= 1 << (i % 64);
            self.seen[s as usize * W + i / 64] |= 1 << (i % 64);
        }
        let all = n as u64 * sources.len() as u64;
        let (mut reached, mut sum, mut depth) = (sources.len() as u64, 0, 0);
        while reached < all {
            let now = grow::<W>(graph, &self.seen, &mut self.next, &full, sources.len() as u64);
            if now == reached {
                let distance_sum = sum + (all - reached) * (n as u64 - u64::from(depth));
                return GraphScore { diameter: None, distance_sum };
            }
            sum += all - reached;
            depth += 1;
            reached = now;
            std::mem::swap(&mut self.seen, &mut self.next);
        }
        GraphScore { diameter: Some(depth), distance_sum: sum }
    }
}

/// Advances the sweep by one hop: `next` gets what `seen` has at each vertex or at its neighbours.
/// Returns the number of pairs reached so far.
fn grow<const W: usize>(
    graph: &SymmetricGraph,
    seen: &[u64],
    next: &mut [u64],
    full: &[u64; W],
    most: u64,
) -> u64 {
    let (seen, _) = seen.as_chunks::<W>();
    let (next, _) = next.as_chunks_mut::<W>();
    let mut reached = 0;
    for (v, (own, new)) in seen.iter().zip(next).enumerate() {
        *new = *own;
        if own == full {
            reached += most;
            continue;
        }
        for w in graph.neighbours(v as u32) {
            for (a, b) in new.iter_mut().zip(&seen[w as usize]) {
                *a |= b;
            }
        }
        reached += if new == full {
            most
        } else {
            new.iter().map(|word| u64::from(word.count_ones())).sum()
        };
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::OrderDegreeProblem;
    use base::seed::RandomStream;
    use base::{Graph, SwitchId};

    #[test]
    fn agrees_with_one_search_a_vertex() {
        let cases = [
            (12, 3, 1),
            (12, 3, 4),
            (70, 3, 1),
            (150, 4, 5),
            (300, 3, 2),
            (600, 5, 1),
            (1200, 3, 2),
        ];
        for (n, d, g) in cases {
            let mut graph = SymmetricGraph::circulant(OrderDegreeProblem::new(n, d).unwrap(), g);
            let mut random = RandomStream::new(2, "reach", u64::from(n));
            for _ in 0..20 * n {
                if let Some(drawn) = graph.draw(&mut random) {
                    graph.apply(&drawn, |_, _, _| {});
                }
            }
            let ends = graph.all_edges();
            let plain =
                Graph::new(n as usize, ends.iter().map(|&(a, b)| Some((SwitchId(a), SwitchId(b)))));
            let (mut sum, mut longest) = (0_u64, 0);
            for v in 0..n as usize {
                for far in plain.distances_from(v) {
                    sum += u64::from(far.min(n));
                    longest = longest.max(far);
                }
            }
            let expect =
                GraphScore { diameter: (longest < n).then_some(longest), distance_sum: sum };
            assert_eq!(
                MultiSourceDistanceSearch::default().score(&graph),
                expect,
                "({n}, {d}, {g})"
            );
        }
    }

    #[test]
    fn what_is_not_connected_is_worse_than_anything() {
        // two triangles
        let problem = OrderDegreeProblem::new(6, 2).unwrap();
        let edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)];
        let graph = SymmetricGraph::new(problem, 1, &edges).expect("a graph");
        let apart = MultiSourceDistanceSearch::default().score(&graph);
        assert_eq!(apart, GraphScore { diameter: None, distance_sum: 6 * 2 + 18 * 6 });
        let ring =
            MultiSourceDistanceSearch::default().score(&SymmetricGraph::circulant(problem, 1));
        assert_eq!(ring, GraphScore { diameter: Some(3), distance_sum: 6 * 9 });
        assert!(ring < apart);
    }
}
