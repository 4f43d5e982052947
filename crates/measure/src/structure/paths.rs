//! Counts minimal and almost minimal paths between switches.

use super::symmetry::sources;
use base::{Graph, Interrupted, ProgressWatch};
use fabric::network::Topology;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of paths over ordered pairs of distinct switches with endpoints.
///
/// Parallel links make separate paths. A count above 2^64 - 1 is given as 2^64 - 1.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct PathCounts {
    /// Ordered pairs counted.
    pub pairs: u64,
    /// Sum of the counts.
    #[serde(serialize_with = "super::number")]
    #[schemars(with = "f64")]
    pub sum: u128,
    /// Fewest paths of any pair; 0 without pairs.
    pub min: u64,
    /// Most paths of any pair; 0 without pairs.
    pub max: u64,
    /// Pairs by their number of paths.
    pub histogram: BTreeMap<u64, u64>,
    /// Mean number of paths; none without pairs.
    pub mean: Option<f64>,
}

impl From<BTreeMap<u64, u64>> for PathCounts {
    /// The statistics of a histogram.
    fn from(histogram: BTreeMap<u64, u64>) -> Self {
        let pairs: u64 = histogram.values().sum();
        let sum: u128 = histogram.iter().map(|(&c, &n)| u128::from(c) * u128::from(n)).sum();
        Self {
            pairs,
            sum,
            mean: (pairs > 0).then(|| sum as f64 / pairs as f64),
            min: histogram.first_key_value().map_or(0, |(&c, _)| c),
            max: histogram.last_key_value().map_or(0, |(&c, _)| c),
            histogram,
        }
    }
}

/// The short paths of a network, over connected ordered pairs of distinct switches with endpoints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShortPathCounts {
    /// Numbers of minimal paths.
    pub minimal: PathCounts,
    /// Numbers of paths at most one hop longer than minimal, the minimal ones included.
    pub almost_minimal: PathCounts,
}

/// Counts the minimal and almost minimal paths between all ordered pairs of switches with
/// endpoints.
///
/// O(switches with endpoints * links), which is seconds for thousands of switches, so it is a
/// function of its own. If the family guarantees that all switches are equivalent, only one source
/// is searched.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn short_paths(
    t: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<ShortPathCounts, Interrupted> {
    let (graph, edge) = (t.graph(), t.edge_switches());
    let (from, each) = sources(t, &edge);
    let done = AtomicU64::new(0);
    let [minimal, almost_minimal] = from
        .par_chunks(32)
        .map(|sources| {
            let mut histograms = [BTreeMap::new(), BTreeMap::new()];
            let mut search = PathCountingSearch::new(graph.switches());
            for &s in sources {
                search.run(graph, s);
                for &t in edge.iter().filter(|&&t| t != s) {
                    let (count, longer) = (search.count[t as usize], search.longer[t as usize]);
                    if count > 0 {
                        *histograms[0].entry(count).or_insert(0) += each;
                        *histograms[1].entry(count.saturating_add(longer)).or_insert(0) += each;
                    }
                }
            }
            let n = done.fetch_add(sources.len() as u64, Ordering::Relaxed);
            watch.tick("short paths", n + sources.len() as u64, from.len() as u64)?;
            Ok(histograms)
        })
        .try_reduce(
            || [BTreeMap::new(), BTreeMap::new()],
            |mut sums, parts| {
                for (sum, part) in sums.iter_mut().zip(&parts) {
                    add_histogram(sum, part);
                }
                Ok(sums)
            },
        )?;
    Ok(ShortPathCounts { minimal: minimal.into(), almost_minimal: almost_minimal.into() })
}

/// Adds `part` to `sum`.
pub(super) fn add_histogram(sum: &mut BTreeMap<u64, u64>, part: &BTreeMap<u64, u64>) {
    for (&count, &pairs) in part {
        *sum.entry(count).or_insert(0) += pairs;
    }
}

/// A breadth-first search that counts paths from one source.
struct PathCountingSearch {
    dist: Vec<u32>,
    count: Vec<u64>,
    longer: Vec<u64>,
    queue: Vec<u32>,
}

impl PathCountingSearch {
    fn new(switches: usize) -> Self {
        Self {
            dist: vec![u32::MAX; switches],
            count: vec![0; switches],
            longer: vec![0; switches],
            queue: Vec::with_capacity(switches),
        }
    }

    /// Stores in `count` the number of minimal paths from `source` to every switch, 0 if there is
    /// none, and in `longer` the number of paths that are one hop longer.
    ///
    /// A walk one hop longer than minimal is always a path, because a closed part of it would have
    /// at least two hops. It has one step within a level, and all others lead to the next level.
    fn run(&mut self, graph: &Graph, source: u32) {
        self.dist.fill(u32::MAX);
        self.count.fill(0);
        self.longer.fill(0);
        self.queue.clear();
        self.dist[source as usize] = 0;
        self.count[source as usize] = 1;
        self.queue.push(source);
        let mut head = 0;
        while let Some(&v) = self.queue.get(head) {
            head += 1;
            let (next, paths) = (self.dist[v as usize] + 1, self.count[v as usize]);
            let mut longer = 0_u64;
            for &w in graph.neighbours(v as usize) {
                let w = w as usize;
                if self.dist[w] == u32::MAX {
                    self.dist[w] = next;
                    self.queue.push(w as u32);
                }
                // the counts of the level of `v` are complete, and so are both counts of the level
                // before
                if self.dist[w] == next {
                    self.count[w] = self.count[w].saturating_add(paths);
                } else if self.dist[w] + 1 == next {
                    longer = longer.saturating_add(self.count[w]);
                } else {
                    longer = longer.saturating_add(self.longer[w]);
                }
            }
            self.longer[v as usize] = longer;
        }
    }
}
