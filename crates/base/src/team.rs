//! Threads that work together: a barrier for them, and how all of them end when one panics.

use crate::error::Interrupted;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The number of spins before a waiting thread sleeps, where every thread has a processor: some
/// microseconds.
const PATIENCE: u32 = 1 << 10;

/// A barrier of threads: no thread continues before all have arrived.
///
/// A thread spins for a few microseconds where every thread has a processor, and then sleeps, so
/// that it does not disturb whatever uses the processor meanwhile. A thread that panics breaks the
/// barrier, so that no other thread waits for it.
#[derive(Debug)]
pub struct ThreadBarrier {
    threads: usize,
    patience: u32,
    here: AtomicUsize,
    round: AtomicUsize,
    is_broken: AtomicBool,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl ThreadBarrier {
    /// A barrier for this number of threads.
    pub fn new(threads: usize) -> Self {
        let has_processors = threads <= processors();
        Self {
            threads,
            patience: if has_processors { PATIENCE } else { 0 },
            here: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits until all threads have arrived.
    ///
    /// # Errors
    /// When one of them has panicked: the caller must end, too.
    #[inline]
    pub fn wait(&self) -> Result<(), Interrupted> {
        if self.threads <= 1 {
            return Ok(());
        }
        let round = self.round.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            self.wake();
        } else {
            self.wait_for(round);
        }
        if self.is_broken() { Err(Interrupted) } else { Ok(()) }
    }

    fn wait_for(&self, round: usize) {
        let is_over = |order| self.round.load(order) != round || self.is_broken();
        for _ in 0..self.patience {
            if is_over(Ordering::Acquire) {
                return;
            }
            std::hint::spin_loop();
        }
        // The thread that ends the round changes `round` first and reads `sleepers` then. Here the
        // order is the opposite, so that one of the two threads sees the change of the other.
        let mut bed = self.bed();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while !is_over(Ordering::SeqCst) {
            bed = self.bell.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    fn bed(&self) -> MutexGuard<'_, ()> {
        self.bed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _bed = self.bed(); // with this lock, no thread is between its check and its sleep
            self.bell.notify_all();
        }
    }

    /// Breaks the barrier: no thread waits here any more, because one of them has ended.
    pub fn break_off(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Whether a thread has panicked.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }
}

/// The processors that this process may use, by its affinity and its quota.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Runs `work` for each item, with the number of the item, on a thread of its own (the first on the
/// calling thread). Returns the results in the order of the items.
///
/// # Panics
/// When `work` panics for any item, as soon as all threads have ended; threads that wait at the
/// barrier end at once. Also when the system has no more threads.
pub fn together<I: Send, T: Send>(
    meeting: &ThreadBarrier,
    items: impl IntoIterator<Item = I>,
    work: impl Fn(usize, I) -> T + Sync,
) -> Vec<T> {
    let one = |at: usize, item: I| {
        let done = catch_unwind(AssertUnwindSafe(|| work(at, item)));
        if done.is_err() {
            meeting.break_off();
        }
        done
    };
    let found: Vec<thread::Result<T>> = thread::scope(|scope| {
        let (one, mut items) = (&one, items.into_iter().enumerate());
        let first = items.next();
        let mut others = Vec::new();
        for (at, item) in items {
            match thread::Builder::new().spawn_scoped(scope, move || one(at, item)) {
                Ok(other) => others.push(other),
                Err(why) => {
                    meeting.break_off();
                    for other in others {
                        drop(other.join());
                    }
                    let why: Box<dyn Any + Send> =
                        Box::new(format!("no thread can be started: {why}"));
                    return vec![Err(why)];
                }
            }
        }
        let mut found: Vec<_> = first.map(|(at, item)| one(at, item)).into_iter().collect();
        found.extend(others.into_iter().map(|other| other.join().unwrap_or_else(Err)));
        found
    });
    found.into_iter().map(|done| done.unwrap_or_else(|why| resume_unwind(why))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Every thread adds its number in every round; after the barrier all see the same sum.
    #[test]
    fn nobody_goes_on_before_all_have_come() {
        for threads in [1, 2, 3, 16, 40] {
            let meeting = ThreadBarrier::new(threads);
            let sums: Vec<AtomicU64> = (0..200).map(|_| AtomicU64::new(0)).collect();
            let all: u64 = (0..threads as u64).sum();
            let seen = together(&meeting, 0..threads as u64, |at, number| {
                assert_eq!(at as u64, number);
                sums.iter().all(|sum| {
                    sum.fetch_add(number, Ordering::Relaxed);
                    meeting.wait().is_ok() && sum.load(Ordering::Relaxed) == all
                })
            });
            assert_eq!(seen, vec![true; threads]);
        }
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let found = together(&ThreadBarrier::new(9), 10..19_u32, |at, item| item * 2 - at as u32);
        assert_eq!(found, (0..9).map(|at| 20 + at).collect::<Vec<u32>>());
        assert!(together(&ThreadBarrier::new(0), 0..0_u32, |_, item| item).is_empty());
    }

    /// Whichever thread panics, in whichever round, all others leave the barrier, and the caller
    /// gets the panic.
    #[test]
    fn a_panic_of_one_ends_all() {
        for (threads, culprit, round) in [(2, 0, 0), (2, 1, 3), (5, 4, 1), (40, 17, 2)] {
            let meeting = ThreadBarrier::new(threads);
            let ended = AtomicU64::new(0);
            let work = |at: usize, ()| {
                for now in 0.. {
                    assert!((at, now) != (culprit, round), "planted in thread {at}");
                    if meeting.wait().is_err() {
                        ended.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                }
            };
            let all = std::iter::repeat_n((), threads);
            let why = catch_unwind(AssertUnwindSafe(|| together(&meeting, all, work)))
                .expect_err("it panics");
            let words = why.downcast_ref::<String>().expect("words");
            assert_eq!(*words, format!("planted in thread {culprit}"));
            assert_eq!(ended.load(Ordering::Relaxed), threads as u64 - 1);
        }
    }
}
