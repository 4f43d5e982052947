//! A schedule as programs that do one thing after another, as processes of MPI do.
//!
//! A schedule is run once by nominal costs, each rank doing one thing at a time: messages that may
//! begin are begun at once, then what is to be computed is computed, and only where neither is left
//! the rank waits. The order in which each rank begins things is its program; it waits for an
//! operation where the next one needs its end. What comes before a wait was begun before in that
//! run as well, so that the programs come to their end wherever the schedule does: also where
//! messages above a size wait for their receivers, for sends end with their messages, and where
//! that would stop all, the shortest end by themselves.

mod matching;
mod narrow;
mod run;
#[cfg(test)]
mod tests;

use super::{JoinedOperation, OperationKind, Schedule};
use base::{Stop, Watch};

/// The next step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramStep {
    /// Begins an operation that sends or receives, and goes on.
    Begin(u32),
    /// Waits for the ends of these, in the order in which they were begun.
    Wait(Vec<u32>),
    /// Computes for this time, ns.
    Compute(u64),
    /// Does this with all ranks, and goes on when it has.
    Join(JoinedOperation),
}

/// The operations of all ranks in the order in which programs do them.
#[derive(Debug)]
pub struct OperationSequence<'a> {
    schedule: &'a Schedule,
    joined: &'a [JoinedOperation],
    /// Operations in their order, of each rank in the places of its operations.
    order: Vec<u32>,
}

/// The programs of a schedule; `joined` by their operations, ascending. O(n log n).
///
/// # Errors
/// When it cannot come to its end, or a message is never received; or when `watch` says stop.
pub fn sequence<'a>(
    schedule: &'a Schedule,
    joined: &'a [JoinedOperation],
    watch: &dyn Watch,
) -> Result<OperationSequence<'a>, Stop> {
    Ok(OperationSequence { schedule, joined, order: run::order(schedule, joined, watch)? })
}

impl OperationSequence<'_> {
    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        self.schedule
    }

    /// What a rank does; at last it waits for all that it has begun. O(its operations).
    pub fn steps(&self, rank: u32) -> Vec<ProgramStep> {
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
                steps.push(ProgramStep::Wait(due));
            }
            match (joined, it.kind) {
                (Some(joined), _) => steps.push(ProgramStep::Join(joined)),
                (None, OperationKind::Calc) if idle => {}
                (None, OperationKind::Calc) => steps.push(ProgramStep::Compute(it.size)),
                (None, _) => steps.push(ProgramStep::Begin(op)),
            }
        }
        let open = |op: &u32| {
            let at = (*op - first) as usize;
            ops[at].kind != OperationKind::Calc && !over[at]
        };
        let left: Vec<u32> = order.iter().copied().filter(open).collect();
        if !left.is_empty() {
            steps.push(ProgramStep::Wait(left));
        }
        steps
    }

    fn joined(&self, op: u32) -> Option<JoinedOperation> {
        let at = self.joined.binary_search_by_key(&op, |one| one.op).ok()?;
        Some(self.joined[at])
    }
}
