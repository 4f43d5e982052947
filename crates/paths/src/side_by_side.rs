//! Work items that do not depend on one another, done by several threads.

use base::ComputationError;
use base::team::{ThreadBarrier, processors, together};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads, out of `threads`, that are worth using on one run that they share. The
/// threads wait for each other every few cycles or windows, so each needs a processor and enough
/// work in between: `items_a_thread` of the `items`.
pub fn paying(threads: usize, items: usize, items_a_thread: usize) -> usize {
    threads.min(items / items_a_thread).min(processors()).max(1)
}

/// Returns the results of `work` for 0 to `count` - 1, in that order, computed by `threads`
/// threads. The last items are begun first: items are sorted by rising load, and the largest load
/// takes longest.
///
/// # Errors
/// The first error of `work` that is found.
///
/// # Panics
/// When `work` panics. No further item is begun after that.
pub fn side_by_side<T: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<T, ComputationError> + Sync,
) -> Result<Vec<T>, ComputationError> {
    let (next, meeting) = (AtomicUsize::new(0), ThreadBarrier::new(threads));
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
    let found: Vec<Result<Vec<(usize, T)>, ComputationError>> =
        together(&meeting, 0..threads.max(1), |_, _| hand());
    let mut all = Vec::new();
    for part in found {
        all.extend(part?);
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, one)| one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_no_more_than_work_and_processors() {
        let most = processors();
        assert_eq!([0, 1, 511, 512].map(|ports| paying(64, ports, 512)), [1; 4]);
        assert_eq!([1024, 5120].map(|ports| paying(64, ports, 512)), [2.min(most), 10.min(most)]);
        assert_eq!([0, 1, 2].map(|threads| paying(threads, 1 << 20, 512)), [1, 1, 2.min(most)]);
    }
}
