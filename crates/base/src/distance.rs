//! All-pairs hop distances, 512 sources at a time, one bit a source.
//!
//! Source: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.

use crate::error::Interrupted;
use crate::graph::Graph;
use crate::watch::Watch;
use rayon::prelude::*;

/// Words of 64 sources that one sweep carries.
const WIDE: usize = 8;
type Mask = [u64; WIDE];

/// Hop distances over the ordered pairs of distinct switches of a chosen set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distances {
    /// `histogram[d]` ordered pairs are `d` hops apart; `histogram[0]` is 0.
    pub histogram: Vec<u64>,
    /// Ordered pairs with no way between them.
    pub unreachable: u64,
}

impl Distances {
    /// The longest distance between two connected switches of the set; 0 if there are none.
    pub fn diameter(&self) -> u32 {
        self.histogram.len().saturating_sub(1) as u32
    }

    /// Sum of the distances and number of connected ordered pairs: their quotient is the mean.
    pub fn sum_and_pairs(&self) -> (u64, u64) {
        let sum = self.histogram.iter().enumerate().map(|(d, n)| d as u64 * n).sum();
        (sum, self.histogram.iter().sum())
    }

    /// Mean distance over connected ordered pairs, `None` when there is no such pair.
    pub fn mean(&self) -> Option<f64> {
        let (sum, pairs) = self.sum_and_pairs();
        (pairs > 0).then(|| sum as f64 / pairs as f64)
    }
}

/// Distances between all ordered pairs of distinct members of `set` (paths may leave the set).
///
/// O(ceil(|set| / 512) * diameter * arcs) word operations, in parallel over batches of 512 sources.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn distances_among(
    graph: &Graph,
    set: &[u32],
    watch: &dyn Watch,
) -> Result<Distances, Interrupted> {
    let mut member = vec![false; graph.switches()];
    for &v in set {
        member[v as usize] = true;
    }
    let batches: Vec<&[u32]> = set.chunks(64 * WIDE).collect();
    let done = std::sync::atomic::AtomicU64::new(0);
    let parts: Vec<Vec<u64>> = batches
        .par_iter()
        .map(|sources| {
            let part = sweep(graph, sources, &member);
            let n = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            watch.tick("all-pairs distances", n, batches.len() as u64)?;
            Ok(part)
        })
        .collect::<Result<_, Interrupted>>()?;
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let mut histogram = vec![0; longest];
    for part in &parts {
        for (d, n) in part.iter().enumerate() {
            histogram[d] += n;
        }
    }
    let n = set.len() as u64;
    let reached: u64 = histogram.iter().sum();
    Ok(Distances { histogram, unreachable: (n * n.saturating_sub(1)).saturating_sub(reached) })
}

/// The state of one sweep: which of its sources have reached which switch.
struct Sweep {
    /// Sources that have reached a switch, at any distance.
    seen: Vec<Mask>,
    /// Sources that reached it in the last level; all zero away from `active`.
    front: Vec<Mask>,
    /// Where the next level is gathered; all zero between levels.
    next: Vec<Mask>,
    /// The switches whose `front` is not zero.
    active: Vec<u32>,
    /// All sources of this sweep.
    full: Mask,
}

/// Distance histogram from up to 512 sources to the members of the set.
///
/// A level is pushed from the switches reached last while these have few arcs, else pulled by the
/// switches that still miss a source (Beamer et al., "Direction-optimizing breadth-first search",
/// SC 2012).
fn sweep(graph: &Graph, sources: &[u32], member: &[bool]) -> Vec<u64> {
    let n = graph.switches();
    let blank = vec![[0; WIDE]; n];
    let mut state = Sweep {
        seen: blank.clone(),
        front: blank.clone(),
        next: blank,
        active: sources.to_vec(),
        full: [0; WIDE],
    };
    for (i, &s) in sources.iter().enumerate() {
        let bit = 1 << (i % 64);
        state.front[s as usize][i / 64] |= bit;
        state.seen[s as usize][i / 64] |= bit;
        state.full[i / 64] |= bit;
    }
    let mut histogram = vec![0];
    loop {
        let arcs: usize = state.active.iter().map(|&v| graph.degree(v as usize)).sum();
        let reached =
            if arcs * PUSH_GAIN < graph.arcs() { state.push(graph) } else { state.pull(graph) };
        for v in std::mem::replace(&mut state.active, reached) {
            state.front[v as usize] = [0; WIDE];
        }
        std::mem::swap(&mut state.front, &mut state.next);
        if state.active.is_empty() {
            while histogram.last() == Some(&0) && histogram.len() > 1 {
                histogram.pop();
            }
            return histogram;
        }
        let among = state.active.iter().map(|&v| v as usize).filter(|&v| member[v]);
        histogram.push(among.map(|v| count(&state.front[v])).sum());
    }
}

/// A level is pushed when that touches this many times fewer arcs than pulling it would.
const PUSH_GAIN: usize = 4;

/// Neighbours gathered between two looks at whether a switch has seen every source.
const STRIDE: usize = 32;

#[inline]
fn count(mask: &Mask) -> u64 {
    mask.iter().map(|m| u64::from(m.count_ones())).sum()
}

impl Sweep {
    /// The next level, from the switches of the last: for few of them. Returns those reached.
    fn push(&mut self, graph: &Graph) -> Vec<u32> {
        let mut reached = Vec::new();
        for &v in &self.active {
            let from = self.front[v as usize];
            for &w in graph.neighbours(v as usize) {
                let (seen, next) = (&self.seen[w as usize], &mut self.next[w as usize]);
                let known = *next != [0; WIDE];
                for i in 0..WIDE {
                    next[i] |= from[i] & !seen[i];
                }
                if !known && *next != [0; WIDE] {
                    reached.push(w);
                }
            }
        }
        for &w in &reached {
            for (s, g) in self.seen[w as usize].iter_mut().zip(&self.next[w as usize]) {
                *s |= g;
            }
        }
        reached
    }

    /// The next level, by every switch that misses a source. Returns those reached.
    fn pull(&mut self, graph: &Graph) -> Vec<u32> {
        let mut reached = Vec::with_capacity(graph.switches());
        for (v, seen) in self.seen.iter_mut().enumerate() {
            if *seen == self.full {
                continue;
            }
            let mut all = *seen;
            for near in graph.neighbours(v).chunks(STRIDE) {
                for &w in near {
                    for (g, f) in all.iter_mut().zip(&self.front[w as usize]) {
                        *g |= f;
                    }
                }
                if all == self.full {
                    break;
                }
            }
            if all != *seen {
                for i in 0..WIDE {
                    self.next[v][i] = all[i] & !seen[i];
                }
                *seen = all;
                reached.push(v as u32);
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SwitchId;
    use crate::seed::Stream;
    use crate::watch::Quiet;

    fn random_graph(n: usize, m: usize, seed: u64) -> Graph {
        let mut s = Stream::new(seed, "graph", 0);
        let mut draw = || SwitchId(s.below(n as u64) as u32);
        let links: Vec<_> = (0..m)
            .map(|_| {
                loop {
                    let (a, b) = (draw(), draw());
                    if a != b {
                        break Some((a, b));
                    }
                }
            })
            .collect();
        Graph::new(n, links.into_iter())
    }

    #[test]
    fn agrees_with_one_search_a_source() {
        for (n, m) in [(2, 1), (40, 30), (100, 180), (700, 1500), (1100, 900)] {
            let g = random_graph(n, m, n as u64);
            let set: Vec<u32> = (0..n as u32).filter(|v| v % 3 != 1).collect();
            let mut histogram = vec![0_u64];
            let mut unreachable = 0;
            for &s in &set {
                let dist = g.distances_from(s as usize);
                for &t in set.iter().filter(|&&t| t != s) {
                    let d = dist[t as usize];
                    if d == u32::MAX {
                        unreachable += 1;
                        continue;
                    }
                    if histogram.len() <= d as usize {
                        histogram.resize(d as usize + 1, 0);
                    }
                    histogram[d as usize] += 1;
                }
            }
            let got = distances_among(&g, &set, &Quiet).expect("not interrupted");
            assert_eq!(got, Distances { histogram, unreachable }, "n={n}");
        }
    }

    #[test]
    fn the_mean_of_a_ring_is_its_formula() {
        // even ring: n^2 / (4 (n - 1))
        let n = 600_u32;
        let g = Graph::new(600, (0..n).map(|v| Some((SwitchId(v), SwitchId((v + 1) % n)))));
        let all: Vec<u32> = (0..n).collect();
        let d = distances_among(&g, &all, &Quiet).expect("not interrupted");
        assert_eq!(d.diameter(), 300);
        let (sum, pairs) = d.sum_and_pairs();
        assert_eq!(sum * 4 * 599, 360_000 * pairs);
    }
}
