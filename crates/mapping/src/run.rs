//! A run of methods: the request with all that is known of it, and whether it is to stop.
//!
//! Budgets are in units of work, never of time, so that results are the same on every machine: a
//! unit is about 3 ns.

use crate::arrangement::Arrangement;
use crate::effort::{Effort, Objective};
use crate::metric::Metric;
use crate::near::Near;
use crate::problem::Problem;
use crate::proposals::Proposals;
use crate::ways::Ways;
use base::{Interrupted, Watch};
use fabric::Topology;
use std::sync::atomic::{AtomicBool, Ordering};
use traffic::communication::Communication;

/// Slots from which a mapping is large: fewer runs, more moves.
pub(crate) const LARGE: usize = 4096;

/// Units of work of a normal effort, at most.
pub(crate) const NORMAL: u64 = 220_000_000;

/// What a method that makes a mapping is asked with.
pub(crate) struct Asked<'a> {
    /// The problem.
    pub(crate) problem: &'a Problem<'a>,
    /// Sites around sites.
    pub(crate) near: &'a Near,
    /// The network.
    pub(crate) on: &'a Topology,
    /// The seed of all that is random.
    pub(crate) seed: u64,
}

/// A request with all that is known of it.
pub(crate) struct Run<'a, M> {
    pub(crate) graph: &'a Communication,
    pub(crate) ways: Ways<'a>,
    pub(crate) objective: Objective,
    pub(crate) hops_limit: f64,
    pub(crate) effort: Effort,
    pub(crate) seed: u64,
    pub(crate) metric: &'a M,
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) near: &'a Near,
    pub(crate) proposals: &'a Proposals<'a>,
    pub(crate) watch: &'a dyn Watch,
    /// Whether the watch has said stop.
    pub(crate) stopped: AtomicBool,
}

impl<M: Metric> Run<'_, M> {
    /// Notes a stop; what was found so far stands.
    pub(crate) fn heard(&self, ended: Result<(), Interrupted>) {
        if ended.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        let on = self.ways.topology();
        Asked { problem: self.problem, near: self.near, on, seed: self.seed }
    }

    pub(crate) fn cost(&self, at: &Arrangement) -> i64 {
        at.cost(self.problem, self.metric)
    }

    /// Units of work for annealing.
    pub(crate) fn budget(&self) -> u64 {
        let processes = self.problem.processes as u64;
        match self.effort {
            Effort::Fast => {
                let most = 22_000_000_u64.saturating_sub(processes * 16_000).max(11_000_000);
                (processes * 100_000).min(most).max(processes * 500)
            }
            Effort::Normal => (processes * 1_500_000).min(NORMAL).max(processes * 4_000),
            Effort::Best => (processes * 4_000_000).min(900_000_000).max(processes * 40_000),
        }
    }
}
