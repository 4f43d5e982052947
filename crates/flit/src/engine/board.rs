//! What threads share: the buffers of all routers, and calendars of what arrives when.

use paths::word::FlitLayout;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words that one thread writes and others read, cycles later: a barrier lies between.
#[derive(Debug, Default)]
pub(super) struct SharedWords(Vec<AtomicU64>);

impl SharedWords {
    pub(super) fn zeros(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> u64 {
        self.0[at].load(Relaxed)
    }

    #[inline]
    pub(super) fn set(&self, at: usize, value: u64) {
        self.0[at].store(value, Relaxed);
    }

    /// The word, which becomes 0.
    #[inline]
    pub(super) fn take(&self, at: usize) -> u64 {
        let word = self.0[at].load(Relaxed);
        if word != 0 {
            self.0[at].store(0, Relaxed);
        }
        word
    }
}

/// A calendar of bits by cycle: what one thread sends to all routers.
///
/// Every word has a slot a cycle, as many as cycles that anything can be ahead, a power of two:
/// what comes in the next cycles is in one line of the cache. A line more lies between two words,
/// so that the slots of a cycle do not all compete for the same places in it.
#[derive(Debug)]
pub(super) struct BitCalendar {
    bits: SharedWords,
    /// Slots of a word, less one.
    mask: u32,
}

/// Slots that are left out after each word.
const GAP: u32 = 8;

impl BitCalendar {
    /// For the bits of `words` words, up to `ahead` cycles ahead.
    pub(super) fn new(ahead: u32, words: usize) -> Self {
        let slots = Self::slots(ahead);
        Self { bits: SharedWords::zeros(words * (slots + GAP) as usize), mask: slots - 1 }
    }

    fn slots(ahead: u32) -> u32 {
        (ahead + 1).next_power_of_two()
    }

    /// How far apart the places of two words are.
    pub(super) fn pitch(ahead: u32) -> u32 {
        Self::slots(ahead) + GAP
    }

    /// Sets a bit of the word at `place`, in the slot of the cycle.
    #[inline]
    pub(super) fn mark(&self, cycle: u32, place: u32, bit: u32) {
        let at = (place + (cycle & self.mask)) as usize;
        self.bits.set(at, self.bits.get(at) | 1 << (bit & 63));
    }

    /// What is in the slot of a cycle of the word at `place`; it becomes 0.
    #[inline]
    pub(super) fn take(&self, cycle: u32, place: u32) -> u64 {
        self.bits.take((place + (cycle & self.mask)) as usize)
    }

    /// Adds, for every bit of every word, in how many slots it is set.
    pub(super) fn count(&self, sum: &mut Vec<u32>) {
        let pitch = (self.mask + 1 + GAP) as usize;
        sum.resize(self.bits.0.len() / pitch * 64, 0);
        for at in 0..self.bits.0.len() {
            let mut bits = self.bits.get(at);
            while bits != 0 {
                sum[at / pitch * 64 + bits.trailing_zeros() as usize] += 1;
                bits &= bits - 1;
            }
        }
    }
}

/// The board that all threads share.
#[derive(Debug)]
pub(super) struct SharedBoard {
    /// Where the fields of flits are.
    pub(super) layout: FlitLayout,
    /// Flits of all input buffers.
    pub(super) rings: SharedWords,
    /// What the heads in `rings` want where they are, with lookahead; empty without.
    pub(super) wants: SharedWords,
    /// A calendar a thread: what it sends.
    pub(super) calendars: Vec<BitCalendar>,
    /// Flits sent and not credited, of every port, as seen by those far away: of even cycles, then
    /// of odd ones. Empty where no guide looks.
    pub(super) used: [SharedWords; 2],
    /// Flits that wait at every source, likewise; empty where rails do not look at one another.
    pub(super) waiting: [SharedWords; 2],
}
