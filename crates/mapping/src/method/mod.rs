//! Methods of mapping: each makes an arrangement or improves one.

pub mod anneal;
pub mod bisection;
pub mod congestion;
pub mod exact;
pub mod fold;
pub mod greedy;
pub mod multicore;
pub mod multilevel;
pub mod pack;
pub mod partition;
pub mod rcm;

use crate::near::Near;
use crate::problem::Problem;
use fabric::Topology;

/// What every method is asked with.
pub struct Asked<'a> {
    /// The problem.
    pub problem: &'a Problem<'a>,
    /// Sites around sites.
    pub near: &'a Near,
    /// The network.
    pub on: &'a Topology,
    /// The seed of all that is random.
    pub seed: u64,
}

/// The slots of each site that nobody is pinned to.
pub(crate) fn free_slots(problem: &Problem<'_>) -> Vec<Vec<u32>> {
    let slots = problem.slots;
    let mut taken = vec![false; slots.count()];
    for &s in problem.pinned.iter().filter(|&&s| s != u32::MAX) {
        taken[s as usize] = true;
    }
    let free = |site: u32| slots.of_site(site).iter().copied().filter(|&s| !taken[s as usize]);
    (0..slots.sites() as u32).map(|site| free(site).collect()).collect()
}
