//! Schedules as sequential programs, like those of MPI processes.
//!
//! A schedule is run once with nominal costs, each rank doing one thing at a time: it begins all
//! messages that may begin; then it computes what is to be computed; and it waits only if neither
//! is left. The order in which each rank begins its operations is its program, with a wait for an
//! operation where the next one needs its end. What precedes a wait in the program also began
//! before it in that run, so the programs do not deadlock if the schedule does not. This holds even
//! if messages above some size wait for their receivers: in that run sends end with their messages,
//! and if that would block all ranks, the shortest sends end by themselves.

mod matching;
mod narrow;
mod run;
#[cfg(test)]
mod tests;

use super::{OperationKind, Schedule, UnexpandedCollective};
use base::{ComputationError, ProgressWatch};

/// A step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankProgramStep {
    /// Begins a send or a receive, and continues.
    Begin(u32),
    /// Waits for the ends of these operations, in the order in which they were begun.
    Wait(Vec<u32>),
    /// Computes for this time in ns.
    Compute(u64),
    /// Takes part in a collective operation of all ranks, and continues when it is done.
    Join(UnexpandedCollective),
}

/// The operations of all ranks in the order in which their programs perform them.
#[derive(Debug)]
pub struct OperationSequence<'a> {
    schedule: &'a Schedule,
    joined: &'a [UnexpandedCollective],
    /// The operations in order; those of a rank are in the same range as in the schedule.
    order: Vec<u32>,
}

/// The programs of a schedule. `joined` are its joined operations, ascending. O(n log n).
///
/// # Errors
/// When the schedule deadlocks, a message is never received, or `watch` says stop.
pub fn sequence<'a>(
    schedule: &'a Schedule,
    joined: &'a [UnexpandedCollective],
    watch: &dyn ProgressWatch,
) -> Result<OperationSequence<'a>, ComputationError> {
    Ok(OperationSequence { schedule, joined, order: run::order(schedule, joined, watch)? })
}

impl OperationSequence<'_> {
    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        self.schedule
    }

    /// The steps of a rank's program; at the end it waits for all that it has begun. O(its
    /// operations).
    pub fn steps(&self, rank: u32) -> Vec<RankProgramStep> {
        let range = self.schedule.of_rank(rank);
        let first = range.start;
        let ops = &self.schedule.ops()[range.start as usize..range.end as usize];
        let order = &self.order[range.start as usize..range.end as usize];
        let mut needs: Vec<Vec<u32>> = vec![Vec::new(); ops.len()];
        for &op in
            order.iter().filter(|&&op| ops[(op - first) as usize].kind != OperationKind::Calc)
        {
            for &after in self.schedule.require(op) {
                needs[(after - first) as usize].push(op);
            }
        }
        let mut over = vec![false; ops.len()];
        let mut steps = Vec::new();
        for &op in order {
            let at = (op - first) as usize;
            let it = &ops[at];
            let joined = self.joined(op);
            let idle = it.kind == OperationKind::Calc && it.size == 0 && joined.is_none();
            if idle && self.schedule.require(op).is_empty() {
                continue;
            }
            let mut due = std::mem::take(&mut needs[at]);
            due.retain(|&one| !std::mem::replace(&mut over[(one - first) as usize], true));
            if !due.is_empty() {
                steps.push(RankProgramStep::Wait(due));
            }
            match (joined, it.kind) {
                (Some(joined), _) => steps.push(RankProgramStep::Join(joined)),
                (None, OperationKind::Calc) if idle => {}
                (None, OperationKind::Calc) => steps.push(RankProgramStep::Compute(it.size)),
                (None, _) => steps.push(RankProgramStep::Begin(op)),
            }
        }
        let open = |op: &u32| {
            let at = (*op - first) as usize;
            ops[at].kind != OperationKind::Calc && !over[at]
        };
        let left: Vec<u32> = order.iter().copied().filter(open).collect();
        if !left.is_empty() {
            steps.push(RankProgramStep::Wait(left));
        }
        steps
    }

    fn joined(&self, op: u32) -> Option<UnexpandedCollective> {
        let at = self.joined.binary_search_by_key(&op, |one| one.op).ok()?;
        Some(self.joined[at])
    }
}
