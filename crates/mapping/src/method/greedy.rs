//! Greedy placement: one process after the other goes to the free slot that is best for those
//! placed already.
//!
//! Source: Müller-Merbach, "Optimale Reihenfolgen", 1970; Hoefler & Snir, "Generic topology
//! mapping strategies for large-scale parallel architectures", ICS 2011, section 4.1.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::near::NearSiteLists;
use crate::problem::MappingProblem;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use base::ComputationError;
use base::part::PartDescription;
use std::collections::BinaryHeap;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<GreedyMethod>();

/// The mapping method that puts the heaviest traffic first at the nearest free slots.
struct GreedyMethod;

impl MappingMethod for GreedyMethod {
    const PART: PartDescription =
        PartDescription::new("greedy", "heaviest traffic first, to the nearest free slot");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        *at = greedy(&run.input(), run.metric);
        Ok(())
    }
}

/// The next process is the one with the most traffic to all placed ones. If no placed process has
/// unplaced partners, it is the process with the most traffic. Ties go to the lower number.
///
/// O(pairs * (log pairs + near sites)), and O(sites) for each process without a free slot near its
/// partners.
pub(super) fn greedy<M: SiteMetric>(
    input: &MappingMethodInput<'_>,
    metric: &M,
) -> ProcessArrangement {
    let (problem, near) = (input.problem, input.near);
    let slots = problem.slots;
    let mut free = problem.free_slots();
    for own in &mut free {
        own.reverse();
    }
    let mut placed = problem.pinned.clone();
    let mut drawn = vec![0_i64; problem.processes];
    let mut heap = BinaryHeap::new();
    let number = |p: u32| std::cmp::Reverse(p);
    let mut starts: Vec<u32> = (0..problem.processes as u32).collect();
    starts.sort_by_key(|&p| (-problem.weight(p), p));
    let mut starts = starts.into_iter();
    let pins = (0..problem.processes as u32).filter(|&p| problem.is_pinned(p));
    let mut settle = |p: u32, heap: &mut BinaryHeap<_>, placed: &[u32]| {
        for &(x, w) in problem.row(p).iter().filter(|(x, _)| placed[*x as usize] == u32::MAX) {
            drawn[x as usize] += i64::from(w);
            heap.push((drawn[x as usize], number(x)));
        }
    };
    for p in pins {
        settle(p, &mut heap, &placed);
    }
    let mut search = FreeSiteSearch { problem, metric, near, seen: vec![u32::MAX; slots.sites()] };
    loop {
        let next = heap.pop().map(|(_, p)| p.0).or_else(|| starts.next());
        let Some(p) = next else { break };
        if placed[p as usize] != u32::MAX {
            continue;
        }
        let site = search.best(p, &placed, &free);
        let slot = free[site as usize].pop().expect("a site with a free slot");
        placed[p as usize] = slot;
        settle(p, &mut heap, &placed);
    }
    fill(problem, placed)
}

/// Puts fillers into the slots that are left.
pub(super) fn fill(problem: &MappingProblem<'_>, mut placed: Vec<u32>) -> ProcessArrangement {
    let mut taken = vec![false; placed.len()];
    for &s in placed.iter().filter(|&&s| s != u32::MAX) {
        taken[s as usize] = true;
    }
    let mut rest = (0..placed.len() as u32).filter(|&s| !taken[s as usize]);
    for slot in placed.iter_mut().filter(|slot| **slot == u32::MAX) {
        *slot = rest.next().expect("as many slots as processes and fillers");
    }
    ProcessArrangement::of(problem, placed)
}

/// The search for the best site with a free slot.
struct FreeSiteSearch<'a, M> {
    problem: &'a MappingProblem<'a>,
    metric: &'a M,
    near: &'a NearSiteLists,
    /// The last process for which each site was considered.
    seen: Vec<u32>,
}

impl<M: SiteMetric> FreeSiteSearch<'_, M> {
    fn best(&mut self, p: u32, placed: &[u32], free: &[Vec<u32>]) -> u32 {
        let slots = self.problem.slots;
        let row = self.problem.row(p).iter();
        let partners: Vec<(u32, i32)> = row
            .filter(|(x, _)| placed[*x as usize] != u32::MAX)
            .map(|&(x, w)| (slots.site(placed[x as usize]), w))
            .collect();
        let cost = |site: u32| -> i64 {
            let of = |&(s, w): &(u32, i32)| i64::from(w) * i64::from(self.metric.hops(site, s));
            partners.iter().map(of).sum()
        };
        let mut best: Option<(i64, u32)> = None;
        for &(home, _) in &partners {
            for site in std::iter::once(home).chain(self.near.of(home).iter().copied()) {
                let known = std::mem::replace(&mut self.seen[site as usize], p) == p;
                if !known && !free[site as usize].is_empty() {
                    let found = (cost(site), site);
                    best = Some(best.map_or(found, |known| known.min(found)));
                }
            }
        }
        let all = (0..free.len() as u32).filter(|&site| !free[site as usize].is_empty());
        best.or_else(|| all.map(|site| (cost(site), site)).min()).expect("a free slot").1
    }
}
