//! Merging of schedules, and copying of ranks with changed operations.

use super::{
    ANY, OperationKind, RankScheduleBuilder, Schedule, ScheduleBuilder, ScheduleOperation,
};
use base::{ComputationError, ProgressWatch, Refusal};

/// One schedule with the ranks of all given ones, one after another, for several jobs at the same
/// time. O(operations + dependencies).
///
/// # Errors
/// When there is no schedule, they have too many ranks or operations, or `watch` says stop.
pub fn merge(jobs: &[&Schedule], watch: &dyn ProgressWatch) -> Result<Schedule, ComputationError> {
    let ranks: u64 = jobs.iter().map(|job| u64::from(job.ranks())).sum();
    if jobs.is_empty() || ranks >= u64::from(ANY) {
        let why = format!("{} with {ranks} ranks", jobs.len());
        return Err(Refusal::new("schedules", why, "one or more, of 2^32 - 2 ranks at most").into());
    }
    let mut all = ScheduleBuilder::new(ranks as u32);
    let mut first = 0;
    for job in jobs {
        for rank in 0..job.ranks() {
            if rank % 1024 == 0 {
                watch.tick("ranks", (first + rank).into(), ranks)?;
            }
            let moved = |op: ScheduleOperation| match op.kind {
                OperationKind::Calc => (0, op),
                _ if op.peer == ANY => (0, op),
                _ => (0, ScheduleOperation { peer: op.peer + first, ..op }),
            };
            copy(job, rank, &mut all.rank(), moved)?;
        }
        first += job.ranks();
    }
    Ok(all.finish()?)
}

/// Copies the operations of a rank with their dependencies. `change` returns the replacement of an
/// operation, and the time in ns of a calculation before it, which then gets its dependencies.
///
/// # Errors
/// When there are too many operations.
pub(super) fn copy(
    of: &Schedule,
    rank: u32,
    into: &mut RankScheduleBuilder<'_>,
    mut change: impl FnMut(ScheduleOperation) -> (u64, ScheduleOperation),
) -> Result<(), Refusal> {
    let range = of.of_rank(rank);
    // for each operation, the number of its first new operation, and that of its replacement
    let mut places = Vec::with_capacity(range.len());
    for op in &of.ops()[range.start as usize..range.end as usize] {
        let (before_ns, op) = change(*op);
        let begin = if before_ns > 0 {
            Some(into.add(ScheduleOperation::calc(before_ns).on(op.cpu))?)
        } else {
            None
        };
        let at = into.add(op)?;
        if let Some(begin) = begin {
            into.require(at, begin)?;
        }
        places.push((begin.unwrap_or(at), at));
    }
    for steps in of.collectives_of(rank) {
        let first = places[(steps.first - range.start) as usize].0;
        let last = places[(steps.end - 1 - range.start) as usize].1;
        into.name(first..last + 1, steps.name);
    }
    for op in range.clone() {
        let at = places[(op - range.start) as usize].1;
        for &after in of.require(op) {
            into.require(places[(after - range.start) as usize].0, at)?;
        }
        for &after in of.require_start(op) {
            into.require_start(places[(after - range.start) as usize].0, at)?;
        }
    }
    Ok(())
}
