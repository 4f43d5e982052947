//! Stages of several cycles that are not pipelined, as in BookSim.
//!
//! Such a stage takes all items that have arrived as one batch, and they leave together in the same
//! step. Items that arrive meanwhile wait, and are taken in the step after that. Routing is one
//! such stage of a router, and passing the crossbar another.

use super::context::{CycleContext, WHOLE};

/// Times of the last batch of a stage that is known.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PipelineStageBatchTimes {
    /// The step in which the stage takes the batch, counted from the start of the simulation.
    begins: u64,
    /// The step in which the batch leaves, and the cycle of that step.
    ends: (u64, u32),
}

impl PipelineStageBatchTimes {
    /// The step and the cycle in which an item leaves that may be taken from `step` on, which is in
    /// `cycle`. The stage takes `delay` cycles, 2 or more. O(1).
    pub(super) fn take<G: ?Sized>(
        &mut self,
        (step, cycle): (u64, u32),
        delay: u32,
        on: &CycleContext<'_, G>,
    ) -> (u64, u32) {
        if self.begins < step {
            let (left, last) = self.ends;
            let (begins, from) = if left < step {
                (step, cycle)
            } else {
                // a batch leaves in the first step of its last cycle
                (left + 1, last + u32::from(on.steps(last) == 1))
            };
            let ends = from + delay - 1;
            (self.begins, self.ends) = (begins, (first_step(ends, on), ends));
        }
        self.ends
    }
}

/// The number of the first step of a cycle.
pub(super) fn first_step<G: ?Sized>(cycle: u32, on: &CycleContext<'_, G>) -> u64 {
    u64::from(cycle) * on.speed / WHOLE + 1
}
