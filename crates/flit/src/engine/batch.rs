//! Stages of several cycles that are no pipelines, as BookSim's are not.
//!
//! A stage takes all that has come, together; what comes meanwhile waits until these have left, all
//! in the same step, and is taken in the step after. All that a router has to route is one such
//! stage, all that goes through its crossbar is another.

use super::context::{CycleContext, WHOLE};

/// When a stage takes, or took, the last it knows of, and when these leave.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageBatch {
    /// The step in which it takes them, counted from the beginning.
    begins: u64,
    /// The step in which they leave, and its cycle.
    ends: (u64, u32),
}

impl StageBatch {
    /// What comes may be taken from `step` on, which is in `cycle`, by a stage of `delay` cycles, 2
    /// or more: the step in which it leaves, and its cycle. O(1).
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
                // they leave in the first step of their cycle
                (left + 1, last + u32::from(on.steps(last) == 1))
            };
            let ends = from + delay - 1;
            (self.begins, self.ends) = (begins, (first_step(ends, on), ends));
        }
        self.ends
    }
}

/// The number of a cycle's first step.
pub(super) fn first_step<G: ?Sized>(cycle: u32, on: &CycleContext<'_, G>) -> u64 {
    u64::from(cycle) * on.speed / WHOLE + 1
}
