//! The busiest channel under each of several patterns of traffic, evenly over all minimal paths.
//!
//! Source: as of the load of all pairs, Brandes, "A faster algorithm for betweenness centrality",
//! J. Math. Sociology 2001; here only switches on minimal paths to receivers are visited.

use super::channel_load::{LoadDistributingSearch, reach};
use base::{ComputationError, Graph, ProgressWatch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one switch sends: the switch, and the receivers with their amounts, which are distinct.
pub(super) type SwitchDemand = (u32, Vec<(u32, f64)>);

/// Loads that one source adds to channels, in any order: the position of the channel in the rows of
/// the graph, and the load.
type ChannelShares = Vec<(u32, f64)>;

/// The number of consecutive sources of a pattern whose loads are added up before they are added to
/// those of the others.
const BATCH: usize = 16;
/// The least and the largest number of sources whose shares are found at once, and how many shares
/// for each channel they have at most beyond the least number of sources. Sums do not depend on any
/// of these.
const LEAST_WAVE: usize = 16;
const MOST_WAVE: usize = 512;
const MOST_SHARES: usize = 2;

/// The load of the busiest channel under each of `patterns`, whose demands are in ascending order
/// of their sources, when the traffic of each pair is divided equally among its minimal paths.
///
/// One search from each source serves all patterns: O(sources * links), and for each pattern the
/// links of the switches on the minimal paths; in parallel over sources.
///
/// # Errors
/// When a source has more than 10^308 minimal paths to some switch, or `watch` says stop.
pub(super) fn busiest_channels(
    graph: &Graph,
    patterns: &[Vec<SwitchDemand>],
    watch: &dyn ProgressWatch,
) -> Result<Vec<f64>, ComputationError> {
    let reach = reach(graph);
    let mut sums: Vec<PatternLoads> = patterns.iter().map(|_| PatternLoads::new(graph)).collect();
    let mut batch = BatchLoads { load: vec![0.0; graph.arcs()], loaded: Vec::new() };
    let mut sources: Vec<u32> = patterns.iter().flatten().map(|demand| demand.0).collect();
    sources.sort_unstable();
    sources.dedup();
    let (all, done) = (sources.len() as u64, AtomicU64::new(0));
    let search = || PatternSearch::new(graph, &reach);
    let of_source = |search: &mut PatternSearch<'_>, &source: &u32| {
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.tick("load of minimal paths", n, all)?;
        search.distances.run_counted(source)?;
        let shares = |pattern: &Vec<SwitchDemand>| {
            let place = pattern.binary_search_by_key(&source, |demand| demand.0).ok()?;
            Some(search.shares(&pattern[place].1))
        };
        Ok(patterns.iter().map(shares).collect::<Vec<Option<ChannelShares>>>())
    };
    let (mut rest, mut wave) = (sources.as_slice(), LEAST_WAVE);
    while !rest.is_empty() {
        let (now, later) = rest.split_at(wave.min(rest.len()));
        rest = later;
        let found: Vec<Vec<Option<ChannelShares>>> =
            now.par_iter().map_init(search, of_source).collect::<Result<_, ComputationError>>()?;
        let size = |of: &Vec<Option<ChannelShares>>| of.iter().flatten().map(Vec::len).sum();
        let most: usize = found.iter().map(size).max().unwrap_or(0);
        wave = (MOST_SHARES * graph.arcs() / most.max(1)).clamp(LEAST_WAVE, MOST_WAVE);
        for shares in found {
            for (sum, shares) in sums.iter_mut().zip(shares) {
                sum.add(shares, &mut batch);
            }
        }
    }
    Ok(sums.into_iter().map(|sum| sum.busiest(&mut batch)).collect())
}

/// The loads of all channels under one pattern while sources are added.
struct PatternLoads {
    load: Vec<f64>,
    /// The shares of the sources of the current batch.
    batch: Vec<ChannelShares>,
}

/// What the sources of one batch add together, and the channels that they load.
struct BatchLoads {
    load: Vec<f64>,
    loaded: Vec<u32>,
}

impl PatternLoads {
    fn new(graph: &Graph) -> Self {
        Self { load: vec![0.0; graph.arcs()], batch: Vec::new() }
    }

    fn add(&mut self, shares: Option<ChannelShares>, batch: &mut BatchLoads) {
        self.batch.extend(shares);
        if self.batch.len() == BATCH {
            self.finish_batch(batch);
        }
    }

    fn finish_batch(&mut self, batch: &mut BatchLoads) {
        for (channel, share) in self.batch.drain(..).flatten() {
            let load = &mut batch.load[channel as usize];
            if *load <= 0.0 {
                batch.loaded.push(channel);
            }
            *load += share;
        }
        for channel in batch.loaded.drain(..) {
            let share = std::mem::take(&mut batch.load[channel as usize]);
            self.load[channel as usize] += share;
        }
    }

    fn busiest(mut self, batch: &mut BatchLoads) -> f64 {
        self.finish_batch(batch);
        self.load.into_iter().fold(0.0, f64::max)
    }
}

/// A search from one source, and what its traffic to a few receivers needs.
struct PatternSearch<'a> {
    graph: &'a Graph,
    distances: LoadDistributingSearch<'a>,
    /// By switch, the traffic that each minimal path from the source to it carries; 0 where it has
    /// not been visited.
    each: Vec<f64>,
    /// By switch, the traffic that it receives.
    wanted: Vec<f64>,
    /// By switch, whether it is in `levels`.
    listed: Vec<bool>,
    /// The switches that traffic comes to, by their distance from the source.
    levels: Vec<Vec<u32>>,
}

impl<'a> PatternSearch<'a> {
    fn new(graph: &'a Graph, reach: &'a [u32]) -> Self {
        let switches = graph.switches();
        Self {
            graph,
            distances: LoadDistributingSearch::new(graph, reach),
            each: vec![0.0; switches],
            wanted: vec![0.0; switches],
            listed: vec![false; switches],
            levels: Vec::new(),
        }
    }

    fn list(&mut self, switch: u32, distance: usize) {
        if !std::mem::replace(&mut self.listed[switch as usize], true) {
            if self.levels.len() <= distance {
                self.levels.resize(distance + 1, Vec::new());
            }
            self.levels[distance].push(switch);
        }
    }

    /// What the source of the last run adds to channels when it sends these amounts to these
    /// switches: as in a search from the farthest switch back, but only over switches that traffic
    /// comes to.
    fn shares(&mut self, to: &[(u32, f64)]) -> ChannelShares {
        for &(there, amount) in to {
            let (distance, _) = self.distances.minimal(there);
            if distance < u32::MAX {
                self.wanted[there as usize] += amount;
                self.list(there, distance as usize);
            }
        }
        let mut shares = Vec::new();
        for level in (0..self.levels.len()).rev() {
            for place in 0..self.levels[level].len() {
                self.visit(self.levels[level][place], &mut shares);
            }
        }
        for level in &mut self.levels {
            for switch in level.drain(..) {
                let switch = switch as usize;
                (self.each[switch], self.wanted[switch], self.listed[switch]) = (0.0, 0.0, false);
            }
        }
        shares
    }

    /// Divides what comes to `switch`, all of whose farther neighbours have been visited, among its
    /// minimal paths, and lists the nearer neighbours, which it comes from.
    fn visit(&mut self, switch: u32, shares: &mut ChannelShares) {
        let (distance, paths) = self.distances.minimal(switch);
        let graph = self.graph;
        let at = switch as usize;
        let mut passing = 0.0;
        for (channel, &next) in graph.row(at).zip(graph.neighbours(at)) {
            let (there, _) = self.distances.minimal(next);
            if there == distance + 1 {
                let leaves = paths * self.each[next as usize];
                if leaves > 0.0 {
                    passing += leaves;
                    shares.push((channel as u32, leaves));
                }
            } else if there < distance {
                self.list(next, there as usize);
            }
        }
        self.each[at] = (self.wanted[at] + passing) / paths;
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel_load::split_pairs;
    use super::super::tests::built;
    use super::*;
    use base::QuietWatch;
    use base::seed::RandomStream;

    /// Patterns of random pairs, of one receiver and of many, with sources left out: loads are
    /// those of a search for each pattern alone.
    #[test]
    fn loads_are_those_of_a_search_for_each_pattern() {
        let networks = [
            "slim_fly:q=5,p=4",
            "fat_tree:levels=3,k=8",
            "torus:shape=4x5x3,p=2",
            "jellyfish:n=70,k=9,p=3",
            "fat_tree:leaves=10,spines=5,parallel=5,p=25,k=50",
            "multi_plane:planes=2,of=dragonfly:h=2",
        ];
        for name in networks {
            let t = built(name);
            let n = t.switches().len() as u64;
            let mut draw = RandomStream::new(3, "patterns", 0);
            // each of the sources that `sends` picks sends to at most `most` switches
            let mut pattern = |most: u64, sends: fn(u32) -> bool| -> Vec<SwitchDemand> {
                let mut to = || {
                    let mut to: Vec<u32> = (0..most).map(|_| draw.below(n) as u32).collect();
                    to.sort_unstable();
                    to.dedup();
                    to.into_iter().map(|w| (w, 1.0 + draw.below(7) as f64)).collect()
                };
                (0..n as u32).filter(|&v| sends(v)).map(|v| (v, to())).collect()
            };
            let patterns = [
                pattern(1, |_| true),
                pattern(6, |v| v % 3 == 0),
                pattern(2 * n, |_| true),
                pattern(2, |v| v % 5 > 1),
                Vec::new(),
            ];
            let got = busiest_channels(t.graph(), &patterns, &QuietWatch).expect("loads");
            for (pattern, got) in patterns.iter().zip(got) {
                let load = split_pairs(t.graph(), pattern, &QuietWatch).expect("loads");
                let wanted = load.into_iter().fold(0.0, f64::max);
                // the same sums in the same order
                assert_eq!(got.to_bits(), wanted.to_bits(), "{name}: {got} {wanted}");
            }
        }
    }

    /// In a ring of n switches in which each sends one unit to the next but one, every channel of
    /// one direction carries two; nothing is carried where nothing is sent.
    #[test]
    fn a_ring_carries_what_its_formula_says() {
        let t = built("torus:shape=9,p=1");
        let next = |step: u32| (0..9).map(|v| (v, vec![((v + step) % 9, 1.0)])).collect();
        let patterns = [next(2), Vec::new(), next(4)];
        let got = busiest_channels(t.graph(), &patterns, &QuietWatch).expect("loads");
        assert_eq!(got.iter().map(|load| *load as u32).collect::<Vec<_>>(), [2, 0, 4]);
    }
}
