//! What threads share: the buffers of all routers, and calendars of what arrives when.

use paths::word::FlitLayout;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words that one thread writes and other threads read some cycles later, after a barrier.
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

    /// Reads the word and sets it to 0.
    #[inline]
    pub(super) fn take(&self, at: usize) -> u64 {
        let word = self.0[at].load(Relaxed);
        if word != 0 {
            self.0[at].store(0, Relaxed);
        }
        word
    }
}

/// A calendar of bits by cycle, which holds what one thread sends to all routers.
///
/// Every word has a slot for each cycle up to the farthest one ahead, a power of two in number: the
/// slots of the next cycles share a cache line. Another cache line separates two words, so that the
/// slots of one cycle do not all compete for the same cache sets.
#[derive(Debug)]
pub(super) struct BitCalendar {
    bits: SharedWords,
    /// Number of slots of a word, minus one.
    mask: u32,
}

/// Slots left unused after each word.
const GAP: u32 = 8;

impl BitCalendar {
    /// An empty calendar for `words` words, up to `ahead` cycles ahead.
    pub(super) fn new(ahead: u32, words: usize) -> Self {
        let slots = Self::slots(ahead);
        Self { bits: SharedWords::zeros(words * (slots + GAP) as usize), mask: slots - 1 }
    }

    fn slots(ahead: u32) -> u32 {
        (ahead + 1).next_power_of_two()
    }

    /// The distance in slots from one word to the next.
    pub(super) fn pitch(ahead: u32) -> u32 {
        Self::slots(ahead) + GAP
    }

    /// Sets a bit of the word at `place`, in the slot of the cycle.
    #[inline]
    pub(super) fn mark(&self, cycle: u32, place: u32, bit: u32) {
        let at = (place + (cycle & self.mask)) as usize;
        self.bits.set(at, self.bits.get(at) | 1 << (bit & 63));
    }

    /// Reads the slot of a cycle of the word at `place`, and sets it to 0.
    #[inline]
    pub(super) fn take(&self, cycle: u32, place: u32) -> u64 {
        self.bits.take((place + (cycle & self.mask)) as usize)
    }

    /// The number of entries of the bits `lanes` of the word at `place` that lie `first` cycles or
    /// more after the cycle `now`, all of whose earlier slots have been taken.
    pub(super) fn count_from(&self, (now, first): (u32, u32), place: u32, lanes: u64) -> u32 {
        let cycles = (first..=self.mask).map(|ahead| now.wrapping_add(ahead) & self.mask);
        cycles.map(|slot| (self.bits.get((place + slot) as usize) & lanes).count_ones()).sum()
    }

    /// Adds to `sum`, for every bit of every word, the number of slots in which it is set.
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

/// The state that all threads share.
#[derive(Debug)]
pub(super) struct SharedRouterState {
    /// The positions of the fields in a flit's word.
    pub(super) layout: FlitLayout,
    /// The flits in all input buffers.
    pub(super) rings: SharedWords,
    /// The outputs that the heads in `rings` request at their router; empty without lookahead.
    pub(super) wants: SharedWords,
    /// For each thread, a calendar of what it sends.
    pub(super) calendars: Vec<BitCalendar>,
    /// For every port, flits sent and not yet credited, as remote routers see it: first for even
    /// cycles, then for odd cycles. Empty if no guide reads them.
    pub(super) used: [SharedWords; 2],
    /// Flits that wait at every source, for even and odd cycles likewise; empty if rails are not
    /// compared.
    pub(super) waiting: [SharedWords; 2],
}
