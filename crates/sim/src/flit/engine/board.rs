//! What threads share: the buffers of all routers, and calendars of what arrives when.

use crate::flit::word::Layout;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Words that one thread writes and others read, cycles later: a barrier lies between.
#[derive(Debug, Default)]
pub(super) struct Words(Vec<AtomicU64>);

impl Words {
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

/// Bits by cycle: what one thread sends to all routers.
///
/// A slot a cycle, as many slots as cycles that anything can be ahead, a power of two; in a slot
/// the words of all routers in order.
#[derive(Debug)]
pub(super) struct Calendar {
    bits: Words,
    slot_words: usize,
    slot_mask: u32,
}

impl Calendar {
    /// For bits up to `ahead` cycles ahead, `slot_words` words a cycle.
    pub(super) fn new(ahead: u32, slot_words: usize) -> Self {
        let slots = (ahead + 1).next_power_of_two();
        let bits = Words::zeros(slots as usize * slot_words);
        Self { bits, slot_words, slot_mask: slots - 1 }
    }

    /// Where the words of a cycle begin.
    #[inline]
    pub(super) fn slot(&self, cycle: u32) -> usize {
        (cycle & self.slot_mask) as usize * self.slot_words
    }

    /// Sets a bit of a word of the cycle.
    #[inline]
    pub(super) fn mark(&self, cycle: u32, word: u32, bit: u32) {
        let at = self.slot(cycle) + word as usize;
        self.bits.set(at, self.bits.get(at) | 1 << (bit & 63));
    }

    /// The word of a slot, which becomes 0.
    #[inline]
    pub(super) fn take(&self, slot: usize, word: usize) -> u64 {
        self.bits.take(slot + word)
    }
}

impl Calendar {
    /// Adds, for every bit of a slot's words, how many slots have it set.
    pub(super) fn count(&self, sum: &mut Vec<u32>) {
        sum.resize(self.slot_words * 64, 0);
        for slot in 0..=self.slot_mask as usize {
            for word in 0..self.slot_words {
                let mut bits = self.bits.get(slot * self.slot_words + word);
                while bits != 0 {
                    sum[word * 64 + bits.trailing_zeros() as usize] += 1;
                    bits &= bits - 1;
                }
            }
        }
    }
}

/// All that threads share.
#[derive(Debug)]
pub(super) struct Board {
    /// Where the fields of flits are.
    pub(super) layout: Layout,
    /// Flits of all input buffers.
    pub(super) rings: Words,
    /// What the heads in `rings` want where they are, with lookahead; empty without.
    pub(super) wants: Words,
    /// A calendar a thread: what it sends.
    pub(super) calendars: Vec<Calendar>,
    /// Flits sent and not credited, of every port, as seen by those far away: of even cycles, then
    /// of odd ones. Empty where no guide looks.
    pub(super) used: [Words; 2],
}
