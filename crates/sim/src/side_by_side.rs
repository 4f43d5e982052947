//! Runs that do not depend on one another, on several threads.

use base::{Interrupted, Stop};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` gives for 0 to `count` - 1, in that order, from so many threads; the last, which of
/// loads are the largest and take longest, go first.
///
/// # Errors
/// The first of `work` that is found.
pub(crate) fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, Stop> {
    let next = AtomicUsize::new(0);
    let hand = || {
        let mut mine = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(at) = count.checked_sub(i + 1) else { return Ok(mine) };
            mine.push((at, work(at)?));
        }
    };
    let found: Vec<Result<Vec<(usize, T)>, Stop>> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(hand)).collect();
        hands.into_iter().map(|h| h.join().unwrap_or(Err(Interrupted.into()))).collect()
    });
    let mut all = Vec::new();
    for part in found {
        all.extend(part?);
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, one)| one).collect())
}
