//! Where threads wait for one another: a few hundred nanoseconds, and no lock.

use std::sync::atomic::{AtomicUsize, Ordering::AcqRel, Ordering::Acquire};

/// Turns of waiting before a thread lets others run: with fewer cores than threads they must.
const PATIENCE: u32 = 1 << 10;

/// All of so many threads come here before any goes on.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    came: AtomicUsize,
}

impl Barrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, came: AtomicUsize::new(0) }
    }

    /// Waits for all.
    pub(crate) fn wait(&self) {
        let before = self.came.fetch_add(1, AcqRel);
        let due = (before / self.threads + 1) * self.threads;
        let mut turns = 0;
        while self.came.load(Acquire) < due {
            turns += 1;
            if turns < PATIENCE {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}
