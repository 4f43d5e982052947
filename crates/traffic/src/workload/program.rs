//! Programs that define what each rank does, and the schedules that are made from them.

use super::script::{MOST_OPERATIONS, RankScriptWriter, too_many};
use super::{Schedule, ScheduleBuilder, UnexpandedCollective};
use base::{ComputationError, ProgressWatch};

/// A program of all ranks: what each of them does.
pub trait RankProgram: Sync {
    /// How many ranks there are.
    fn ranks(&self) -> u32;

    /// Writes the operations of a rank to `to`.
    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>);
}

/// The schedule of a program. O(operations).
///
/// # Errors
/// When there would be too many operations, or `watch` says stop.
pub fn schedule_of(
    program: &dyn RankProgram,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    joined_schedule_of(program, None, watch)
}

/// As [`schedule_of`]; with `joined`, collective operations of all ranks become one operation of
/// each rank, and are added to it.
pub(super) fn joined_schedule_of(
    program: &dyn RankProgram,
    mut joined: Option<&mut Vec<UnexpandedCollective>>,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let ranks = program.ranks();
    sampled(program, ranks, watch)?;
    let mut all = ScheduleBuilder::new(ranks);
    for rank in 0..ranks {
        if rank % 1024 == 0 {
            watch.tick("ranks", rank.into(), ranks.into())?;
        }
        let mut script = RankScriptWriter::new(all.rank(), MOST_OPERATIONS, watch);
        if let Some(joined) = &mut joined {
            script = script.joining(ranks, joined);
        }
        program.tell(rank, &mut script);
        script.done()?;
    }
    Ok(all.finish()?)
}

/// Refuses schedules that are far too large before they are made: if each of three sampled ranks
/// has more operations than all ranks may have. The exact limit is checked while they are made.
fn sampled(
    program: &dyn RankProgram,
    ranks: u32,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    for rank in [0, ranks / 2, ranks - 1] {
        if within_share(program, rank, watch)? {
            return Ok(());
        }
    }
    Err(too_many().into())
}

/// Whether a program has few enough operations, by the same three ranks, each of which is to have
/// no more than its share.
pub(super) fn fits(
    program: &dyn RankProgram,
    watch: &dyn ProgressWatch,
) -> Result<bool, ComputationError> {
    let ranks = program.ranks();
    for rank in [0, ranks / 2, ranks - 1] {
        if !within_share(program, rank, watch)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a rank has no more operations than its share of those that a schedule may have.
fn within_share(
    program: &dyn RankProgram,
    rank: u32,
    watch: &dyn ProgressWatch,
) -> Result<bool, ComputationError> {
    let ranks = program.ranks();
    let share = MOST_OPERATIONS / u64::from(ranks) + 1;
    let mut all = ScheduleBuilder::new(ranks);
    let mut script = RankScriptWriter::new(all.rank(), share, watch);
    program.tell(rank, &mut script);
    let fits = u64::from(script.len()) < share;
    if fits {
        script.done()?;
    }
    Ok(fits)
}
