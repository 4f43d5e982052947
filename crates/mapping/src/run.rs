//! The state of a run of methods: the request, the data computed from it, and whether it must stop.
//!
//! Budgets are in units of work, never of time, so that results are the same on every machine; a
//! unit takes about 3 ns.

use crate::arrangement::ProcessArrangement;
use crate::effort::{MappingObjective, SearchEffort};
use crate::metric::SiteMetric;
use crate::near::NearSiteLists;
use crate::paths::TrafficPathRule;
use crate::problem::MappingProblem;
use crate::proposals::SwapProposalGenerator;
use base::{Interrupted, ProgressWatch};
use fabric::Topology;
use std::sync::atomic::{AtomicBool, Ordering};
use traffic::communication::CommunicationGraph;

/// The number of slots from which a mapping counts as large and gets fewer runs with more swaps.
pub(crate) const LARGE: usize = 4096;

/// The largest budget of a normal effort, in units of work.
pub(crate) const NORMAL: u64 = 220_000_000;

/// The input of a method that makes a mapping.
pub(crate) struct MappingMethodInput<'a> {
    /// The mapping problem.
    pub(crate) problem: &'a MappingProblem<'a>,
    /// The sites around each site.
    pub(crate) near: &'a NearSiteLists,
    /// The network.
    pub(crate) on: &'a Topology,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
}

/// A mapping request with everything computed from it.
pub(crate) struct PreparedMappingProblem<'a, M> {
    pub(crate) graph: &'a CommunicationGraph,
    pub(crate) paths: TrafficPathRule<'a>,
    pub(crate) objective: MappingObjective,
    pub(crate) hops_limit: f64,
    pub(crate) effort: SearchEffort,
    pub(crate) seed: u64,
    pub(crate) metric: &'a M,
    pub(crate) problem: &'a MappingProblem<'a>,
    pub(crate) near: &'a NearSiteLists,
    pub(crate) proposals: &'a SwapProposalGenerator<'a>,
    pub(crate) watch: &'a dyn ProgressWatch,
    /// Whether the watch has said stop.
    pub(crate) stopped: AtomicBool,
}

impl<M: SiteMetric> PreparedMappingProblem<'_, M> {
    /// Records that `watch` said stop; the result so far is kept.
    pub(crate) fn note_stop(&self, ended: Result<(), Interrupted>) {
        if ended.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn input(&self) -> MappingMethodInput<'_> {
        let on = self.paths.topology();
        MappingMethodInput { problem: self.problem, near: self.near, on, seed: self.seed }
    }

    pub(crate) fn cost(&self, at: &ProcessArrangement) -> i64 {
        at.cost(self.problem, self.metric)
    }

    /// The budget for annealing, in units of work.
    pub(crate) fn budget(&self) -> u64 {
        let processes = self.problem.processes as u64;
        match self.effort {
            SearchEffort::Fast => {
                let most = 22_000_000_u64.saturating_sub(processes * 16_000).max(11_000_000);
                (processes * 100_000).min(most).max(processes * 500)
            }
            SearchEffort::Normal => (processes * 1_500_000).min(NORMAL).max(processes * 4_000),
            SearchEffort::Best => (processes * 4_000_000).min(900_000_000).max(processes * 40_000),
        }
    }
}
