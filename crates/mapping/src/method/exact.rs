//! Exhaustive search for the best arrangement of a few processes.

use super::greedy::fill;
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::problem::MappingProblem;

/// The largest number of processes for which all arrangements are searched.
pub(super) const MOST: usize = 8;

/// The largest number of steps of the search.
const MOST_STEPS: u64 = 3_000_000;

/// The arrangement with the least weighted distance; none if the search runs out of steps or finds
/// nothing better than `known`.
///
/// The search is branch and bound; the sites for a process are tried by rising cost.
pub(super) fn exact<M: SiteMetric>(
    problem: &MappingProblem<'_>,
    metric: &M,
    known: &ProcessArrangement,
) -> Option<ProcessArrangement> {
    if problem.processes > MOST {
        return None;
    }
    let mut order: Vec<u32> = (0..problem.processes as u32).collect();
    order.sort_by_key(|&p| (!problem.is_pinned(p), -problem.weight(p), p));
    let mut search = BranchAndBoundState {
        problem,
        metric,
        order,
        free: problem.free_slots(),
        placed: problem.pinned.clone(),
        least: known.cost(problem, metric) / 2,
        best: None,
        steps: 0,
    };
    search.go(0, 0);
    search.best.map(|placed| fill(problem, placed))
}

/// The state of the branch-and-bound search.
struct BranchAndBoundState<'a, M> {
    problem: &'a MappingProblem<'a>,
    metric: &'a M,
    order: Vec<u32>,
    free: Vec<Vec<u32>>,
    placed: Vec<u32>,
    least: i64,
    best: Option<Vec<u32>>,
    steps: u64,
}

impl<M: SiteMetric> BranchAndBoundState<'_, M> {
    fn go(&mut self, depth: usize, cost: i64) {
        self.steps += 1;
        if cost >= self.least || self.steps > MOST_STEPS {
            return;
        }
        let Some(&p) = self.order.get(depth) else {
            self.least = cost;
            self.best = Some(self.placed.clone());
            return;
        };
        let site_of = |slot: u32| self.problem.slots.site(slot);
        let before = &self.order[..depth];
        let partners: Vec<(u32, i32)> = self
            .problem
            .row(p)
            .iter()
            .filter(|(x, _)| before.contains(x))
            .map(|&(x, w)| (site_of(self.placed[x as usize]), w))
            .collect();
        let at = |site: u32| -> i64 {
            let of = |&(s, w): &(u32, i32)| i64::from(w) * i64::from(self.metric.hops(site, s));
            partners.iter().map(of).sum()
        };
        if self.problem.is_pinned(p) {
            let more = at(site_of(self.placed[p as usize]));
            self.go(depth + 1, cost + more);
            return;
        }
        let sites = 0..self.free.len() as u32;
        let open = sites.filter(|&s| !self.free[s as usize].is_empty());
        let mut choices: Vec<(i64, u32)> = open.map(|site| (at(site), site)).collect();
        choices.sort_unstable();
        for (more, site) in choices {
            if cost + more >= self.least {
                break;
            }
            let Some(slot) = self.free[site as usize].pop() else { continue };
            self.placed[p as usize] = slot;
            self.go(depth + 1, cost + more);
            self.free[site as usize].push(slot);
            self.placed[p as usize] = u32::MAX;
        }
    }
}
