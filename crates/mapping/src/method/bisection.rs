//! Recursive bisection: processes and sites are halved again and again, cutting few bytes and
//! following the structure of the network.
//!
//! Source: Pellegrini & Roman, "SCOTCH: a software package for static mapping by dual recursive
//! bipartitioning of process and architecture graphs", HPCN 1996; Hoefler & Snir, ICS 2011,
//! section 4.2.

use super::greedy::fill;
use super::kind::{MappingMethod, MappingMethodEntry};
use super::partition::exact;
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use crate::slots::switch_of;
use base::part::PartDescription;
use base::partition::{WeightedGraph, halve};
use base::seed::RandomStream;
use base::{ComputationError, Interrupted, ProgressWatch};
use fabric::geometry::PlaneStructure;
use std::collections::VecDeque;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<BisectionMethod>();

/// The mapping method that halves processes and sites again and again.
struct BisectionMethod;

impl MappingMethod for BisectionMethod {
    const PART: PartDescription =
        PartDescription::new("bisection", "processes and network in halves, again and again");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        *at = bisection(&run.input(), run.metric, run.watch)?;
        Ok(())
    }
}

/// A set of processes, and the sites that have exactly as many slots for them.
type ProcessBlock = (Vec<u32>, Vec<u32>);

/// Splits blocks of processes and sites until each block is one site. The traffic to processes
/// outside decides which half of the processes goes to which half of the sites.
///
/// Sites are split along the coordinates of a grid or between groups and pods, otherwise where few
/// sites are near to one another. Where there are more slots than processes, those of the sites
/// nearest to the first are used. O((pairs + sites) log(sites)).
///
/// # Errors
/// When `watch` says stop.
pub(super) fn bisection<M: SiteMetric>(
    input: &MappingMethodInput<'_>,
    metric: &M,
    watch: &dyn ProgressWatch,
) -> Result<ProcessArrangement, Interrupted> {
    let problem = input.problem;
    let free = problem.free_slots();
    let processes: Vec<u32> =
        (0..problem.processes as u32).filter(|&p| !problem.is_pinned(p)).collect();
    let (sites, room) = compact(input, &free, processes.len());
    let stand = problem
        .pinned
        .iter()
        .map(|&s| if s == u32::MAX { u32::MAX } else { problem.slots.site(s) });
    let mut cut = ProcessBisector {
        input,
        metric,
        room,
        stand: stand.collect(),
        place: vec![u32::MAX; problem.slots.count().max(problem.slots.sites())],
    };
    for &p in &processes {
        cut.stand[p as usize] = sites[0];
    }
    let mut parts = VecDeque::from([(processes, sites)]);
    let mut placed = problem.pinned.clone();
    while let Some((processes, sites)) = parts.pop_front() {
        if let [site] = *sites {
            for (&p, &slot) in processes.iter().zip(&free[site as usize]) {
                placed[p as usize] = slot;
            }
        } else {
            watch.tick("bisection", 0, 0)?;
            parts.extend(cut.split(&processes, &sites, watch)?);
        }
    }
    Ok(fill(problem, placed))
}

/// The sites nearest to the first site, which have as many slots as there are processes; and the
/// number of slots used on each.
fn compact(
    input: &MappingMethodInput<'_>,
    free: &[Vec<u32>],
    processes: usize,
) -> (Vec<u32>, Vec<u32>) {
    let slots = input.problem.slots;
    let mut room: Vec<u32> = free.iter().map(|own| own.len() as u32).collect();
    let some = (0..slots.sites() as u32).filter(|&site| room[site as usize] > 0);
    let mut order: Vec<u32> = some.collect();
    if room.iter().map(|&r| r as usize).sum::<usize>() > processes {
        let start = switch_of(input.on, slots.rails(order[0])[0]);
        let far = input.on.graph().distances_from(start as usize);
        order.sort_by_key(|&site| (far[switch_of(input.on, slots.rails(site)[0]) as usize], site));
    }
    let mut left = processes as u32;
    for &site in &order {
        room[site as usize] = room[site as usize].min(left);
        left -= room[site as usize];
    }
    order.retain(|&site| room[site as usize] > 0);
    order.sort_unstable();
    if order.is_empty() {
        order.push(0); // all processes are pinned
    }
    (order, room)
}

/// The bisection of blocks, with an approximate position of every process.
struct ProcessBisector<'a, M> {
    input: &'a MappingMethodInput<'a>,
    metric: &'a M,
    room: Vec<u32>,
    /// For each process, a site that represents its approximate position.
    stand: Vec<u32>,
    /// The index of a process or a site in the current block; [`u32::MAX`] outside of it.
    place: Vec<u32>,
}

impl<M: SiteMetric> ProcessBisector<'_, M> {
    fn split(
        &mut self,
        processes: &[u32],
        sites: &[u32],
        watch: &dyn ProgressWatch,
    ) -> Result<[ProcessBlock; 2], Interrupted> {
        let (left, right) = self.split_sites(sites, watch)?;
        let room = |sites: &[u32]| sites.iter().map(|&s| self.room[s as usize]).sum::<u32>();
        let (small, large) =
            if room(&left) <= room(&right) { (left, right) } else { (right, left) };
        let wanted = room(&small);
        let graph = self.graph(processes, wanted);
        let mut draw = RandomStream::new(self.input.seed, "bisection", u64::from(sites[0]));
        let tick = || watch.tick("bisection", 0, 0);
        let halves = halve(&graph, 0, &mut draw, &tick)?;
        let mut sides = [Vec::new(), Vec::new()];
        for (&p, &inner) in processes.iter().zip(&halves.side) {
            sides[usize::from(!inner)].push(p);
        }
        // the sizes of the halves may be off by a few processes, which are then moved
        let [mut a, mut b] = exact(sides, wanted as usize);
        let stands = [self.middle(&small), self.middle(&large)];
        if a.len() == b.len() && self.pull(&a, &b, stands) > self.pull(&b, &a, stands) {
            std::mem::swap(&mut a, &mut b);
        }
        for (side, stand) in [(&a, stands[0]), (&b, stands[1])] {
            for &p in side {
                self.stand[p as usize] = stand;
            }
        }
        Ok([(a, small), (b, large)])
    }

    /// The cost of the traffic to processes outside the block if `a` goes to the first site of
    /// `stands` and `b` to the second.
    fn pull(&mut self, a: &[u32], b: &[u32], stands: [u32; 2]) -> i64 {
        for &p in a.iter().chain(b) {
            self.place[p as usize] = 0;
        }
        let mut sum = 0;
        for (side, stand) in [(a, stands[0]), (b, stands[1])] {
            for &p in side {
                let row = self.input.problem.row(p).iter();
                for &(x, w) in row.filter(|(x, _)| self.place[*x as usize] == u32::MAX) {
                    let there = self.stand[x as usize];
                    sum += i64::from(w) * i64::from(self.metric.hops(stand, there));
                }
            }
        }
        for &p in a.iter().chain(b) {
            self.place[p as usize] = u32::MAX;
        }
        sum
    }

    /// The site that represents a set of sites: the most central one of a sample.
    fn middle(&self, sites: &[u32]) -> u32 {
        let step = sites.len().div_ceil(16);
        let sample = || sites.iter().step_by(step);
        let far = |site: u32| -> i64 {
            sample().map(|&other| i64::from(self.metric.hops(site, other))).sum()
        };
        *sample().min_by_key(|&&site| (far(site), site)).expect("a part has a site")
    }

    /// The graph of the traffic among some processes, whose smaller half is to have `small` of
    /// them.
    fn graph(&mut self, processes: &[u32], small: u32) -> WeightedGraph {
        for (i, &p) in (0..).zip(processes) {
            self.place[p as usize] = i;
        }
        let problem = self.input.problem;
        let total: i64 = processes.iter().map(|&p| problem.weight(p)).sum();
        let divisor = (total >> 31) + 1;
        let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for &p in processes {
            for &(x, w) in problem.row(p).iter().filter(|(x, _)| self.place[*x as usize] < u32::MAX)
            {
                targets.push(self.place[x as usize]);
                weights.push((i64::from(w) / divisor).max(1) as u32);
            }
            offsets.push(targets.len() as u32);
        }
        for &p in processes {
            self.place[p as usize] = u32::MAX;
        }
        let held = (processes.len() as u64).saturating_sub(2 * u64::from(small));
        WeightedGraph { offsets, targets, weights, masses: vec![1; processes.len()], held }
    }

    fn split_sites(
        &mut self,
        sites: &[u32],
        watch: &dyn ProgressWatch,
    ) -> Result<ProcessBlock, Interrupted> {
        let on = self.input.on;
        let slots = self.input.problem.slots;
        let switch = |site: u32| &on.switches()[switch_of(on, slots.rails(site)[0]) as usize];
        let mut sorted = sites.to_vec();
        let form = on.geometry().form;
        if let PlaneStructure::Grid(_) = form {
            let dimensions = switch(sites[0]).coordinates.len();
            let width = |d: usize| {
                let at = |&site: &u32| switch(site).coordinates.get(d).copied().unwrap_or(0);
                let all = || sites.iter().map(at);
                all().max().unwrap_or(0) - all().min().unwrap_or(0)
            };
            let widest = (0..dimensions).rev().max_by_key(|&d| width(d)).unwrap_or(0);
            if width(widest) > 0 {
                sorted.sort_by_key(|&site| (switch(site).coordinates[widest], site));
                return Ok(self.halved(&sorted, |s| switch(s).coordinates[widest]));
            }
        }
        let group = |site: u32| (switch(site).plane, switch(site).group);
        let known = form != PlaneStructure::Free && form != PlaneStructure::Columns;
        if known && sites.iter().any(|&site| group(site) != group(sites[0])) {
            sorted.sort_by_key(|&site| (group(site), site));
            return Ok(self.halved(&sorted, group));
        }
        self.halved_by_nearness(sites, watch)
    }

    /// Cuts a sorted list of sites near its middle, where the key changes.
    fn halved<K: PartialEq>(&self, sorted: &[u32], key: impl Fn(u32) -> K) -> ProcessBlock {
        let room = |sites: &[u32]| sites.iter().map(|&s| i64::from(self.room[s as usize])).sum();
        let total: i64 = room(sorted);
        let (mut before, mut best) = (0, (i64::MAX, 1));
        for i in 1..sorted.len() {
            before += i64::from(self.room[sorted[i - 1] as usize]);
            if key(sorted[i - 1]) != key(sorted[i]) {
                best = best.min(((2 * before - total).abs(), i));
            }
        }
        let (left, right) = sorted.split_at(best.1);
        (left.to_vec(), right.to_vec())
    }

    /// Cuts a set of sites where few of them are near to one another.
    fn halved_by_nearness(
        &mut self,
        sites: &[u32],
        watch: &dyn ProgressWatch,
    ) -> Result<ProcessBlock, Interrupted> {
        for (i, &site) in (0..).zip(sites) {
            self.place[site as usize] = i;
        }
        let far = self.input.near.reach(self.metric) + 1;
        let mut edges: Vec<(u32, u32, u32)> = Vec::new();
        for (i, &site) in (0..).zip(sites) {
            for &other in self.input.near.of(site) {
                let j = self.place[other as usize];
                if j < u32::MAX {
                    let close = far.saturating_sub(self.metric.hops(site, other) as u32).max(1);
                    let weight = close.saturating_mul(close).min(10_000);
                    edges.extend([(i, j, weight), (j, i, weight)]);
                }
            }
        }
        for &site in sites {
            self.place[site as usize] = u32::MAX;
        }
        edges.sort_unstable();
        let (mut offsets, mut targets, mut weights) =
            (vec![0_u32; sites.len() + 1], vec![], vec![]);
        for same in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            offsets[same[0].0 as usize + 1] += 1;
            targets.push(same[0].1);
            weights.push(same.iter().map(|e| e.2).sum());
        }
        for i in 0..sites.len() {
            offsets[i + 1] += offsets[i];
        }
        let masses = sites.iter().map(|&s| u64::from(self.room[s as usize])).collect();
        let graph = WeightedGraph { offsets, targets, weights, masses, held: 0 };
        let mut draw = RandomStream::new(self.input.seed, "site bisection", u64::from(sites[0]));
        let halves = halve(&graph, 0, &mut draw, &|| watch.tick("bisection", 0, 0))?;
        let side = |which: bool| -> Vec<u32> {
            let of = sites.iter().zip(&halves.side).filter(|(_, s)| **s == which);
            of.map(|(site, _)| *site).collect()
        };
        let (left, right) = (side(false), side(true));
        if left.is_empty() || right.is_empty() {
            let (left, right) = sites.split_at(sites.len() / 2);
            return Ok((left.to_vec(), right.to_vec()));
        }
        Ok((left, right))
    }
}
