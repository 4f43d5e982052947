//! All-pairs hop distances, for 512 sources at a time with one bit per source.
//!
//! Source: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.

use crate::error::Interrupted;
use crate::graph::Graph;
use crate::watch::ProgressWatch;
use rayon::prelude::*;

/// The number of 64-bit words of a source set: one sweep has 64 times as many sources.
const WIDE: usize = 8;

/// A set of the sources of a sweep. It fills one cache line and never spans two, since a sweep does
/// little but load such sets.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct SourceSwitchBits([u64; WIDE]);

impl SourceSwitchBits {
    const EMPTY: Self = Self([0; WIDE]);

    #[inline]
    fn is_empty(&self) -> bool {
        let mut any = 0;
        for i in 0..WIDE {
            any |= self.0[i];
        }
        any == 0
    }

    /// Whether the set has every source of `other`.
    #[inline]
    fn has_all(&self, other: &Self) -> bool {
        let mut lacks = 0;
        for i in 0..WIDE {
            lacks |= other.0[i] & !self.0[i];
        }
        lacks == 0
    }

    /// Adds the sources of `other`.
    #[inline]
    fn add(&mut self, other: &Self) {
        for i in 0..WIDE {
            self.0[i] |= other.0[i];
        }
    }

    /// The sources of the set that `other` lacks.
    #[inline]
    fn without(mut self, other: &Self) -> Self {
        for i in 0..WIDE {
            self.0[i] &= !other.0[i];
        }
        self
    }

    /// The number of sources, those of each word times its weight.
    #[inline]
    fn count(&self, weights: &[u64; WIDE]) -> u64 {
        let mut count = 0;
        for i in 0..WIDE {
            count += weights[i] * u64::from(self.0[i].count_ones());
        }
        count
    }
}

/// Hop distances over the ordered pairs of distinct switches of a chosen set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HopDistanceHistogram {
    /// `histogram[d]` ordered pairs are `d` hops apart; `histogram[0]` is 0.
    pub histogram: Vec<u64>,
    /// The number of ordered pairs that are not connected.
    pub unreachable: u64,
}

impl HopDistanceHistogram {
    /// The longest distance between two connected switches of the set; 0 if there are none.
    pub fn diameter(&self) -> u32 {
        self.histogram.len().saturating_sub(1) as u32
    }

    /// The sum of the distances and the number of connected ordered pairs: their quotient is the
    /// mean.
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
/// [`Interrupted`] when `watch` asks to stop.
pub fn distances_among(
    graph: &Graph,
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<HopDistanceHistogram, Interrupted> {
    let words: Vec<SourceWord> = set.chunks(64).map(|sources| (sources.to_vec(), 1)).collect();
    distances_of(graph, &words, set, watch)
}

/// As [`distances_among`], where each of `sources` stands for a number of members of `set`, itself
/// included, that have as many members at each distance as it has; together they stand for all.
///
/// # Errors
/// As [`distances_among`].
pub fn distances_by_source(
    graph: &Graph,
    sources: &[(u32, u64)],
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<HopDistanceHistogram, Interrupted> {
    let mut sorted = sources.to_vec();
    sorted.sort_by_key(|&(source, weight)| (weight, source));
    let alike = sorted.chunk_by(|x, y| x.1 == y.1);
    let words = alike.flat_map(|alike| alike.chunks(64));
    let word = |word: &[(u32, u64)]| (word.iter().map(|source| source.0).collect(), word[0].1);
    distances_of(graph, &words.map(word).collect::<Vec<SourceWord>>(), set, watch)
}

/// Up to 64 sources, and the number of switches that each of them stands for.
type SourceWord = (Vec<u32>, u64);

/// The distances from all of `words`, which stand for all members of `set`, to these members.
fn distances_of(
    graph: &Graph,
    words: &[SourceWord],
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<HopDistanceHistogram, Interrupted> {
    let mut member = vec![false; graph.switches()];
    for &v in set {
        member[v as usize] = true;
    }
    let batches: Vec<&[SourceWord]> = words.chunks(WIDE).collect();
    let done = std::sync::atomic::AtomicU64::new(0);
    let parts: Vec<Vec<u64>> = batches
        .par_iter()
        .map(|words| {
            // a level of a large network takes seconds, so the sweep calls `tick` after every level
            let tick = |more: u64| {
                let n = done.fetch_add(more, std::sync::atomic::Ordering::Relaxed) + more;
                watch.tick("all-pairs distances", n, batches.len() as u64)
            };
            let part = sweep(graph, words, &member, &tick)?;
            tick(1)?;
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
    Ok(HopDistanceHistogram {
        histogram,
        unreachable: (n * n.saturating_sub(1)).saturating_sub(reached),
    })
}

/// A level is pushed when pushing touches this many times fewer arcs than pulling.
const PUSH_GAIN: usize = 8;

/// The number of neighbours gathered between two checks whether a switch has seen every source.
const STRIDE: usize = 64;

/// The state of one sweep: which of its sources have reached each switch.
struct MultiSourceBfsState<'a> {
    graph: &'a Graph,
    member: &'a [bool],
    /// For each switch, the sources that have reached it, at any distance.
    seen: Vec<SourceSwitchBits>,
    /// For each switch, the sources that reached it in the last level.
    front: Vec<SourceSwitchBits>,
    /// For each switch, the sources that reach it in the level under construction; when a level
    /// begins, all sets are empty where `active` is `Some`.
    next: Vec<SourceSwitchBits>,
    /// The switches whose `front` is not zero; `None` after a pull, which does not list them.
    active: Option<Vec<u32>>,
    /// The set of all sources of this sweep.
    full: SourceSwitchBits,
    /// For each word of a set, the number of switches that each of its sources stands for.
    weights: [u64; WIDE],
}

/// The result of one level of a sweep.
#[derive(Default)]
struct BfsLevelCounts {
    /// The number of pairs of a source and a member of the set that the source reached; a source
    /// counts as often as the number of switches that it stands for.
    pairs: u64,
    /// The number of arcs that leave the reached switches. The sweep is complete when `switches` is
    /// 0.
    arcs: usize,
    /// The number of reached switches, in the set or not.
    switches: usize,
}

/// Distance histogram from up to 512 sources to the members of the set.
///
/// A level is pushed from the switches reached last while these have few arcs; otherwise the
/// switches that still miss a source pull it (Beamer et al., "Direction-optimizing breadth-first
/// search", SC 2012).
fn sweep(
    graph: &Graph,
    words: &[SourceWord],
    member: &[bool],
    tick: &dyn Fn(u64) -> Result<(), Interrupted>,
) -> Result<Vec<u64>, Interrupted> {
    let blank = vec![SourceSwitchBits::EMPTY; graph.switches()];
    let active = words.iter().flat_map(|word| &word.0).copied().collect();
    let (seen, front, next, active) = (blank.clone(), blank.clone(), blank, Some(active));
    let mut sweep = MultiSourceBfsState {
        graph,
        member,
        seen,
        front,
        next,
        active,
        full: SourceSwitchBits::EMPTY,
        weights: [0; WIDE],
    };
    let mut arcs = 0;
    for (word, (sources, weight)) in words.iter().enumerate() {
        sweep.weights[word] = *weight;
        for (bit, &s) in sources.iter().enumerate() {
            let mut own = SourceSwitchBits::EMPTY;
            own.0[word] = 1 << bit;
            sweep.front[s as usize].add(&own);
            sweep.seen[s as usize].add(&own);
            sweep.full.add(&own);
            arcs += graph.degree(s as usize);
        }
    }
    let mut histogram = vec![0];
    loop {
        let level = if arcs * PUSH_GAIN < graph.arcs() { sweep.push() } else { sweep.pull() };
        std::mem::swap(&mut sweep.front, &mut sweep.next);
        if level.switches == 0 {
            while histogram.last() == Some(&0) && histogram.len() > 1 {
                histogram.pop();
            }
            return Ok(histogram);
        }
        tick(0)?;
        histogram.push(level.pairs);
        arcs = level.arcs;
    }
}

impl MultiSourceBfsState<'_> {
    /// Computes the next level from the switches of the last one, for few of them.
    fn push(&mut self) -> BfsLevelCounts {
        let active = self.active.take().unwrap_or_else(|| {
            self.next.fill(SourceSwitchBits::EMPTY);
            let front = self.front.iter().enumerate();
            front.filter(|(_, f)| !f.is_empty()).map(|(v, _)| v as u32).collect()
        });
        let mut reached = Vec::new();
        for &v in &active {
            let from = std::mem::replace(&mut self.front[v as usize], SourceSwitchBits::EMPTY);
            for &w in self.graph.neighbours(v as usize) {
                let next = &mut self.next[w as usize];
                let known = !next.is_empty();
                next.add(&from.without(&self.seen[w as usize]));
                if !known && !next.is_empty() {
                    reached.push(w);
                }
            }
        }
        let mut level = BfsLevelCounts { switches: reached.len(), ..BfsLevelCounts::default() };
        for &w in &reached {
            let w = w as usize;
            self.seen[w].add(&self.next[w]);
            level.arcs += self.graph.degree(w);
            level.pairs += if self.member[w] { self.next[w].count(&self.weights) } else { 0 };
        }
        self.active = Some(reached);
        level
    }

    /// Computes the next level at every switch that misses a source.
    fn pull(&mut self) -> BfsLevelCounts {
        let mut level = BfsLevelCounts::default();
        self.active = None;
        for (v, (seen, next)) in self.seen.iter_mut().zip(&mut self.next).enumerate() {
            let mut fresh = SourceSwitchBits::EMPTY;
            if !seen.has_all(&self.full) {
                let mut all = *seen;
                for near in self.graph.neighbours(v).chunks(STRIDE) {
                    for &w in near {
                        all.add(&self.front[w as usize]);
                    }
                    if all.has_all(&self.full) {
                        break;
                    }
                }
                fresh = all.without(seen);
                *seen = all;
                let reached = fresh.count(&self.weights);
                if reached > 0 {
                    level.switches += 1;
                    level.arcs += self.graph.degree(v);
                    level.pairs += if self.member[v] { reached } else { 0 };
                }
            }
            *next = fresh;
        }
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SwitchId;
    use crate::seed::RandomStream;
    use crate::watch::QuietWatch;

    fn random_graph(n: usize, m: usize, seed: u64) -> Graph {
        let mut s = RandomStream::new(seed, "graph", 0);
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
        // the set leaves out every third switch, and in the last two graphs nearly all, so that
        // levels are pushed, pulled and pushed again
        for (n, m, keep) in [
            (2, 1, 3),
            (40, 30, 3),
            (100, 180, 3),
            (700, 1500, 3),
            (1100, 900, 3),
            (3000, 4000, 600),
            (3000, 20_000, 600),
        ] {
            let g = random_graph(n, m, n as u64);
            let few = keep > 3;
            let set: Vec<u32> =
                (0..n as u32).filter(|v| if few { v % keep == 1 } else { v % 3 != 1 }).collect();
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
            let got = distances_among(&g, &set, &QuietWatch).expect("not interrupted");
            assert_eq!(got, HopDistanceHistogram { histogram, unreachable }, "n={n}");
        }
    }

    #[test]
    fn the_mean_of_a_ring_is_its_formula() {
        // the mean distance in a ring of even n: n^2 / (4 (n - 1))
        let n = 600_u32;
        let g = Graph::new(600, (0..n).map(|v| Some((SwitchId(v), SwitchId((v + 1) % n)))));
        let all: Vec<u32> = (0..n).collect();
        let d = distances_among(&g, &all, &QuietWatch).expect("not interrupted");
        assert_eq!(d.diameter(), 300);
        let (sum, pairs) = d.sum_and_pairs();
        assert_eq!(sum * 4 * 599, 360_000 * pairs);
    }
}
