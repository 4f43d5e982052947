//! How many minimal paths join two switches.

use crate::network::Topology;
use base::{Graph, Interrupted, Watch};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of minimal paths over connected ordered pairs of distinct switches with endpoints.
///
/// Parallel links make paths of their own. A count above 2^64 - 1 is given as 2^64 - 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PathCounts {
    /// Ordered pairs counted: those with a way between them.
    pub pairs: u64,
    /// Sum of the counts.
    pub sum: u128,
    /// Fewest minimal paths of any pair; 0 without pairs.
    pub min: u64,
    /// Most minimal paths of any pair; 0 without pairs.
    pub max: u64,
    /// `histogram[&c]` pairs have `c` minimal paths.
    pub histogram: BTreeMap<u64, u64>,
}

impl PathCounts {
    /// Mean number of minimal paths, `None` without pairs.
    pub fn mean(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.sum as f64 / self.pairs as f64)
    }
}

/// Counts the minimal paths between all ordered pairs of switches with endpoints.
///
/// O(switches with endpoints * links): seconds for thousands of switches; the caller decides.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn minimal_paths(t: &Topology, watch: &dyn Watch) -> Result<PathCounts, Interrupted> {
    let (graph, edge) = (t.graph(), t.edge_switches());
    let done = AtomicU64::new(0);
    let histogram = edge
        .par_chunks(32)
        .map(|sources| {
            let mut histogram = BTreeMap::new();
            let mut search = Search::new(graph.switches());
            for &s in sources {
                search.run(graph, s);
                for &t in edge.iter().filter(|&&t| t != s) {
                    let count = search.count[t as usize];
                    if count > 0 {
                        *histogram.entry(count).or_insert(0) += 1;
                    }
                }
            }
            let n = done.fetch_add(sources.len() as u64, Ordering::Relaxed);
            watch.tick("minimal paths", n + sources.len() as u64, edge.len() as u64)?;
            Ok(histogram)
        })
        .try_reduce(BTreeMap::new, |mut sum, part: BTreeMap<u64, u64>| {
            for (count, pairs) in part {
                *sum.entry(count).or_insert(0) += pairs;
            }
            Ok(sum)
        })?;
    Ok(PathCounts {
        pairs: histogram.values().sum(),
        sum: histogram.iter().map(|(&c, &n)| u128::from(c) * u128::from(n)).sum(),
        min: histogram.first_key_value().map_or(0, |(&c, _)| c),
        max: histogram.last_key_value().map_or(0, |(&c, _)| c),
        histogram,
    })
}

struct Search {
    dist: Vec<u32>,
    count: Vec<u64>,
    queue: Vec<u32>,
}

impl Search {
    fn new(switches: usize) -> Self {
        Self {
            dist: vec![u32::MAX; switches],
            count: vec![0; switches],
            queue: Vec::with_capacity(switches),
        }
    }

    /// Leaves in `count` the number of minimal paths from `source` to every switch, 0 without one.
    fn run(&mut self, graph: &Graph, source: u32) {
        self.dist.fill(u32::MAX);
        self.count.fill(0);
        self.queue.clear();
        self.dist[source as usize] = 0;
        self.count[source as usize] = 1;
        self.queue.push(source);
        let mut head = 0;
        while let Some(&v) = self.queue.get(head) {
            head += 1;
            let (next, paths) = (self.dist[v as usize] + 1, self.count[v as usize]);
            for &w in graph.neighbours(v as usize) {
                if self.dist[w as usize] == u32::MAX {
                    self.dist[w as usize] = next;
                    self.queue.push(w);
                }
                if self.dist[w as usize] == next {
                    let sum = &mut self.count[w as usize];
                    *sum = sum.saturating_add(paths);
                }
            }
        }
    }
}
