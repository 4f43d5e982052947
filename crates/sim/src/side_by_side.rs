//! Runs that do not depend on one another, on several threads.

use base::Stop;
use base::team::{Meeting, together};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` gives for 0 to `count` - 1, in that order, from so many threads; the last, which of
/// loads are the largest and take longest, go first.
///
/// # Errors
/// The first of `work` that is found.
///
/// # Panics
/// When `work` does: nothing more is begun then.
pub(crate) fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, Stop> {
    let (next, meeting) = (AtomicUsize::new(0), Meeting::new(threads));
    let hand = || {
        let mut mine = Vec::new();
        loop {
            if meeting.is_broken() {
                return Ok(mine);
            }
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(at) = count.checked_sub(i + 1) else { return Ok(mine) };
            mine.push((at, work(at)?));
        }
    };
    let found: Vec<Result<Vec<(usize, T)>, Stop>> =
        together(&meeting, 0..threads.max(1), |_, _| hand());
    let mut all = Vec::new();
    for part in found {
        all.extend(part?);
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, one)| one).collect())
}
