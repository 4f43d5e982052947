//! The load of every channel when all switches send to each other, evenly over all minimal paths.
//!
//! Source: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 2001;
//! Heydemann, Meyer, Sotteau, "On forwarding indices of networks", Discrete Appl. Math. 1989.

use super::planes_of;
use super::symmetry::{alike, steps};
use base::ComputationError;
use base::{Graph, ProgressWatch, Refusal, SwitchId};
use fabric::network::Topology;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bins of [`ChannelLoadStatistics::histogram`].
pub const BINS: usize = 20;

/// How traffic between all switches with endpoints loads the channels.
///
/// A pair's traffic is divided equally among its minimal *paths* (not equally among the next hops
/// of every switch, which gives other loads where paths branch unevenly). Parallel links make
/// separate paths. All cables count as equally fast.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MinimalLoad")]
pub struct MinimalPathChannelLoads {
    /// The loads when every switch with endpoints sends one unit to every other of its plane.
    pub unit: ChannelLoadStatistics,
    /// The loads when every terminal sends one unit to every other of its plane.
    pub terminals: ChannelLoadStatistics,
    /// A lower bound of the largest channel load of any routing under unit traffic: the larger of
    /// the mean load and of the load that the links of one switch must carry.
    pub forwarding_index_low: f64,
    /// An upper bound of it, which a split routing reaches: `unit.max`.
    pub forwarding_index_high: f64,
    /// The traffic of a terminal, spread evenly over all others, at which the busiest channel of
    /// `terminals` is full: a fraction of a link's rate, above 1 where the channels could carry
    /// more than the terminals' own cables. None without load.
    pub uniform_saturation: Option<f64>,
}

/// Statistics of the load over working channels, in units of traffic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "LoadStatistics")]
pub struct ChannelLoadStatistics {
    /// Load of the busiest channel.
    pub max: f64,
    /// Mean load.
    pub mean: f64,
    /// Load of the least busy channel.
    pub min: f64,
    /// Entry i: channels with a load above `i / 20` and at most `(i + 1) / 20` of `max`; the first
    /// also has those without load.
    pub histogram: Vec<u64>,
    /// Load by channel: twice the number of the link, plus 1 for its direction back; 0 for links
    /// that are down.
    #[serde(skip)]
    pub by_channel: Vec<f64>,
}

/// Measures the load of minimal paths. O(switches with endpoints * links), in parallel; O(links)
/// for a direct network whose translations are automorphisms ([`steps`]). If planes are equal, only
/// one is measured.
///
/// # Errors
/// When some pair has more than 10^308 minimal paths, or `watch` says stop.
pub fn minimal_load(
    t: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<MinimalPathChannelLoads, ComputationError> {
    let graph = t.graph();
    let edge = t.edge_switches();
    let carried = terminal_weights(t);
    let unit = unit_load(t, watch)?;
    // if all weights are equal, they only change the unit
    let first = edge.first().map_or(1.0, |&v| carried[v as usize]);
    let terminals = if edge.iter().all(|&v| carried[v as usize].total_cmp(&first).is_eq()) {
        unit.iter().map(|l| l * first * first).collect()
    } else {
        let sources: Vec<_> = edge.iter().map(|&v| (v, carried[v as usize])).collect();
        split_evenly(graph, &sources, &carried, watch)?
    };
    let mut saturation: Option<f64> = None;
    let mut low = 0.0_f64;
    for plane in planes_of(t, &edge) {
        let all: f64 = plane.iter().map(|&v| carried[v as usize]).sum();
        let busiest = busiest_of_plane(t, &plane, &terminals);
        if busiest > 0.0 {
            let full = (all - 1.0) / busiest;
            saturation = Some(saturation.map_or(full, |s| s.min(full)));
        }
        low = low.max(least_index(graph, &plane));
    }
    let unit = statistics(graph, unit);
    let high = unit.max;
    Ok(MinimalPathChannelLoads {
        forwarding_index_low: low.max(unit.mean).min(high),
        forwarding_index_high: high,
        unit,
        terminals: statistics(graph, terminals),
        uniform_saturation: saturation,
    })
}

/// Working terminals of every switch; 1 on every working switch of a network without terminals.
pub(super) fn terminal_weights(t: &Topology) -> Vec<f64> {
    let bare = t.terminals().is_empty();
    let weight = |v: usize| {
        let on = t.terminals_on(SwitchId::from(v)).iter();
        let working = on.filter(|&&i| t.terminal_is_up(i)).count() as f64;
        if bare && t.switches()[v].up { 1.0 } else { working }
    };
    (0..t.switches().len()).map(weight).collect()
}

/// Load of every channel when each switch with endpoints sends one unit to every other of its
/// plane, each pair's traffic divided equally among its minimal paths.
///
/// # Errors
/// As [`minimal_load`].
pub(super) fn unit_load(
    t: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<Vec<f64>, ComputationError> {
    let graph = t.graph();
    let mut wanted = vec![0.0_f64; graph.switches()];
    for &v in &t.edge_switches() {
        wanted[v as usize] = 1.0;
    }
    let working: Vec<u32> =
        (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect();
    let mut planes = planes_of(t, &working);
    planes.retain(|plane| !plane.is_empty());
    let same = |one: &[u32], other: &[u32]| {
        let both = || one.iter().zip(other);
        alike(graph, one, other)
            && both().all(|(&v, &w)| wanted[v as usize].total_cmp(&wanted[w as usize]).is_eq())
    };
    let mut load = vec![0.0; graph.links() * 2];
    for (i, plane) in planes.iter().enumerate() {
        if let Some(done) = planes[..i].iter().find(|done| same(done, plane)) {
            for (&v, &w) in done.iter().zip(plane) {
                let channels = |v: u32| graph.channels(v as usize).iter();
                for (from, to) in channels(v).zip(channels(w)) {
                    load[to.0 as usize] = load[from.0 as usize];
                }
            }
            continue;
        }
        let all = plane.iter().all(|&v| wanted[v as usize] > 0.0);
        let found = if let Some(steps) = all.then(|| steps(t, plane)).flatten() {
            by_translation(graph, plane, &steps, &wanted)?
        } else {
            let edge = plane.iter().filter(|&&v| wanted[v as usize] > 0.0);
            split_evenly(graph, &edge.map(|&v| (v, 1.0)).collect::<Vec<_>>(), &wanted, watch)?
        };
        for (sum, l) in load.iter_mut().zip(found) {
            *sum += l;
        }
    }
    Ok(load)
}

/// As [`split_evenly`], from all of `members` to all of them, where every translation is an
/// automorphism: a channel carries the sum of what its translations, one from every switch, carry
/// from one source.
fn by_translation(
    graph: &Graph,
    members: &[u32],
    steps: &[u32],
    wanted: &[f64],
) -> Result<Vec<f64>, ComputationError> {
    let reach = reach(graph);
    let mut search = LoadDistributingSearch::new(graph, &reach);
    search.run_counted(members[0])?;
    search.send(1.0, wanted);
    let (mut carried, mut channels) = (vec![0.0; members.len()], vec![0_u32; members.len()]);
    let arcs = || members.iter().flat_map(|&v| graph.row(v as usize));
    for (arc, &step) in arcs().zip(steps) {
        carried[step as usize] += search.load[arc];
        channels[step as usize] += 1;
    }
    let each = |step: u32| {
        let (all, count) = (carried[step as usize], f64::from(channels[step as usize]));
        all / (count / members.len() as f64)
    };
    for (arc, &step) in arcs().zip(steps) {
        search.load[arc] = each(step);
    }
    Ok(by_channel(graph, &search.load))
}

/// Converts loads of the channels that leave each switch, row by row, to loads by channel.
fn by_channel(graph: &Graph, leaving: &[f64]) -> Vec<f64> {
    let mut load = vec![0.0; graph.links() * 2];
    for v in 0..graph.switches() {
        for (out, &l) in graph.channels(v).iter().zip(&leaving[graph.row(v)]) {
            load[out.0 as usize] = l;
        }
    }
    load
}

fn busiest_of_plane(t: &Topology, plane: &[u32], load: &[f64]) -> f64 {
    let Some(&first) = plane.first() else { return 0.0 };
    let here = t.switches()[first as usize].plane;
    let links = t.links().iter().zip(load.chunks_exact(2));
    let inside = links.filter(|(l, _)| t.switches()[l.a.switch.ix()].plane == here);
    inside.flat_map(|(_, both)| both.iter().copied()).fold(0.0, f64::max)
}

/// A lower bound of the largest load of a link, from the links of one switch: the switch's traffic
/// with all others that it can reach leaves and arrives over them.
fn least_index(graph: &Graph, plane: &[u32]) -> f64 {
    let (component, count) = graph.components();
    let mut members = vec![0_u64; count as usize];
    for &v in plane {
        members[component[v as usize] as usize] += 1;
    }
    let need = |&v: &u32| {
        let others = members[component[v as usize] as usize] - 1;
        if others == 0 { 0.0 } else { others as f64 / graph.degree(v as usize) as f64 }
    };
    plane.iter().map(need).fold(0.0, f64::max)
}

fn statistics(graph: &Graph, load: Vec<f64>) -> ChannelLoadStatistics {
    let working: Vec<f64> = (0..graph.switches())
        .flat_map(|v| graph.channels(v).iter().map(|c| load[c.0 as usize]))
        .collect();
    let max = working.iter().copied().fold(0.0, f64::max);
    let min = working.iter().copied().fold(max, f64::min);
    let mut histogram = vec![0; BINS];
    for &l in &working {
        // the small term puts loads that differ by rounding only into the same bin
        let bin = if max > 0.0 { (l / max * BINS as f64 - 1e-9).ceil() as usize } else { 0 };
        histogram[bin.saturating_sub(1).min(BINS - 1)] += 1;
    }
    let mean = load.iter().sum::<f64>() / working.len().max(1) as f64;
    ChannelLoadStatistics { max, mean, min, histogram, by_channel: load }
}

/// The number of sources of one search batch, and of batches whose loads are kept at once. They are
/// fixed, so that sums run in the same order with any number of threads.
const BATCH: usize = 16;
const WAVE: usize = 32;

/// Load of every channel when each of `sources` (switch, weight) sends its weight times `wanted[w]`
/// to every other switch w, each pair's traffic divided equally among its minimal paths.
///
/// # Errors
/// As [`minimal_load`].
pub(super) fn split_evenly(
    graph: &Graph,
    sources: &[(u32, f64)],
    wanted: &[f64],
    watch: &dyn ProgressWatch,
) -> Result<Vec<f64>, ComputationError> {
    in_batches(graph, sources, watch, |search, &(source, weight)| {
        search.run_counted(source)?;
        search.send(weight, wanted);
        Ok(())
    })
}

/// Load of every channel when each of `demands`, a switch with the switches that it sends to and
/// the amounts, is divided equally among the minimal paths of each pair.
///
/// # Errors
/// As [`minimal_load`].
#[cfg(test)]
pub(super) fn split_pairs(
    graph: &Graph,
    demands: &[(u32, Vec<(u32, f64)>)],
    watch: &dyn ProgressWatch,
) -> Result<Vec<f64>, ComputationError> {
    in_batches(graph, demands, watch, |search, (source, to)| {
        let mut wanted = vec![0.0; graph.switches()];
        for &(there, amount) in to {
            wanted[there as usize] += amount;
        }
        search.run_counted(*source)?;
        search.send(1.0, &wanted);
        Ok(())
    })
}

/// The loads that `search` adds up for all `sources`, by channel; in parallel over batches.
fn in_batches<S: Sync>(
    graph: &Graph,
    sources: &[S],
    watch: &dyn ProgressWatch,
    search: impl Fn(&mut LoadDistributingSearch<'_>, &S) -> Result<(), ComputationError> + Sync,
) -> Result<Vec<f64>, ComputationError> {
    let done = AtomicU64::new(0);
    let reach = reach(graph);
    let mut load = vec![0.0; graph.arcs()];
    for wave in sources.chunks(BATCH * WAVE) {
        let parts: Vec<Vec<f64>> = wave
            .par_chunks(BATCH)
            .map(|batch| {
                let mut found = LoadDistributingSearch::new(graph, &reach);
                for source in batch {
                    search(&mut found, source)?;
                }
                let n = done.fetch_add(batch.len() as u64, Ordering::Relaxed);
                let n = n + batch.len() as u64;
                watch.tick("load of minimal paths", n, sources.len() as u64)?;
                Ok(found.load)
            })
            .collect::<Result<_, ComputationError>>()?;
        for part in parts {
            for (sum, l) in load.iter_mut().zip(part) {
                *sum += l;
            }
        }
    }
    Ok(by_channel(graph, &load))
}

/// For every switch, how many switches it reaches, itself included.
pub(super) fn reach(graph: &Graph) -> Vec<u32> {
    let (component, count) = graph.components();
    let mut members = vec![0; count as usize];
    for &c in &component {
        members[c as usize] += 1;
    }
    component.iter().map(|&c| members[c as usize]).collect()
}

/// A breadth-first search from one source that distributes its traffic over minimal paths.
///
/// The channels of the farthest switches, most of all channels where the diameter is small, are
/// never read: minimal paths lead to these switches and no further, so that their neighbours that
/// are one hop nearer know all that is needed.
pub(super) struct LoadDistributingSearch<'a> {
    graph: &'a Graph,
    /// By switch, the switches in reach, itself included.
    reach: &'a [u32],
    /// The load of every channel that leaves a switch, along its row.
    load: Vec<f64>,
    seen: Vec<SwitchSearchState>,
    /// The switches in order of distance.
    queue: Vec<u32>,
    /// How many switches of `queue` are nearer to the source than the farthest.
    inner: usize,
}

/// The state of a switch in a search. The figures are stored together, because loading them is most
/// of the work.
#[derive(Clone, Copy)]
struct SwitchSearchState {
    /// Minimal paths from the source.
    paths: f64,
    /// The traffic that each minimal path from the source to this switch carries.
    each: f64,
    /// Distance from the source; `u32::MAX` before it is reached.
    dist: u32,
}

impl SwitchSearchState {
    const NOT_YET: Self = Self { paths: 0.0, each: 0.0, dist: u32::MAX };
}

impl<'a> LoadDistributingSearch<'a> {
    pub(super) fn new(graph: &'a Graph, reach: &'a [u32]) -> Self {
        let n = graph.switches();
        Self {
            graph,
            reach,
            load: vec![0.0; graph.arcs()],
            seen: vec![SwitchSearchState::NOT_YET; n],
            queue: Vec::with_capacity(n),
            inner: 0,
        }
    }

    /// The distance of a switch from the source of the last run, `u32::MAX` where it is not
    /// reached, and the number of its minimal paths.
    #[inline]
    pub(super) fn minimal(&self, switch: u32) -> (u32, f64) {
        let SwitchSearchState { dist, paths, .. } = self.seen[switch as usize];
        (dist, paths)
    }

    /// Computes distances and numbers of minimal paths from `source`.
    pub(super) fn run(&mut self, source: u32) {
        self.seen.fill(SwitchSearchState::NOT_YET);
        self.queue.clear();
        self.seen[source as usize] =
            SwitchSearchState { paths: 1.0, dist: 0, ..SwitchSearchState::NOT_YET };
        self.queue.push(source);
        let all = self.reach[source as usize] as usize;
        let (mut head, mut farthest) = (0, 0);
        while let Some(&v) = self.queue.get(head) {
            let SwitchSearchState { dist, paths, .. } = self.seen[v as usize];
            if self.queue.len() == all && dist == farthest {
                break;
            }
            head += 1;
            for &w in self.graph.neighbours(v as usize) {
                let next = &mut self.seen[w as usize];
                if next.dist == u32::MAX {
                    next.dist = dist + 1;
                    farthest = next.dist;
                    self.queue.push(w);
                }
                if next.dist == dist + 1 {
                    next.paths += paths;
                }
            }
        }
        self.inner = head;
    }

    /// As [`Self::run`], and refuses numbers of paths that are too large to count.
    pub(super) fn run_counted(&mut self, source: u32) -> Result<(), ComputationError> {
        self.run(source);
        let most = self.queue.iter().map(|&v| self.seen[v as usize].paths).fold(0.0, f64::max);
        if most.is_finite() {
            return Ok(());
        }
        let why = "two switches have more than 10^308 minimal paths";
        Err(Refusal::new("load", why, "a smaller network").into())
    }

    /// Adds `weight` times the wanted traffic from the source of the last run, from the farthest
    /// switch back: what arrives at a switch is its own traffic and all that passes through it.
    fn send(&mut self, weight: f64, wanted: &[f64]) {
        for &v in &self.queue[self.inner..] {
            let last = &mut self.seen[v as usize];
            last.each = wanted[v as usize] / last.paths;
        }
        for &v in self.queue[..self.inner].iter().rev() {
            let v = v as usize;
            let SwitchSearchState { paths, dist, .. } = self.seen[v];
            let row = self.graph.neighbours(v).iter().zip(&mut self.load[self.graph.row(v)]);
            let mut passing = 0.0;
            for (&w, load) in row {
                let next = &self.seen[w as usize];
                if next.dist == dist + 1 {
                    let leaves = paths * next.each;
                    passing += leaves;
                    *load += weight * leaves;
                }
            }
            self.seen[v].each = (wanted[v] + passing) / paths;
        }
    }
}
