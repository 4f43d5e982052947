//! Timing wheels: rows of buckets, each with a linked list of entries.

/// Base-2 logarithm of the number of buckets of a wheel.
pub(crate) const LOG: u32 = 12;
pub(crate) const BUCKETS: usize = 1 << LOG;
pub(crate) const MASK: u64 = BUCKETS as u64 - 1;

/// The index that stands for no entry.
pub(crate) const NONE: u32 = u32::MAX;

/// A wheel of buckets, each with the index of its first entry; the entries, outside of the wheel,
/// link to the next ones.
pub(crate) struct EventBucketWheel {
    /// The first entry of each bucket.
    pub(crate) heads: Vec<u32>,
    /// A bit mask of the buckets that have entries.
    full: [u64; BUCKETS / 64],
}

impl EventBucketWheel {
    pub(crate) fn new() -> Self {
        Self { heads: vec![NONE; BUCKETS], full: [0; BUCKETS / 64] }
    }

    /// The first bucket from `at` on that is not empty; `None` where there is none up to the last
    /// bucket.
    pub(crate) fn next(&self, at: usize) -> Option<usize> {
        if at >= BUCKETS {
            return None;
        }
        let (mut word, mut bits) = (at / 64, self.full[at / 64] & (u64::MAX << (at % 64)));
        while bits == 0 {
            word += 1;
            bits = *self.full.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// Puts an entry at the front of a bucket, and returns the entry that was the first before.
    pub(crate) fn add(&mut self, bucket: usize, entry: u32) -> u32 {
        self.full[bucket / 64] |= 1 << (bucket % 64);
        std::mem::replace(&mut self.heads[bucket], entry)
    }

    /// Empties a bucket, and returns its first entry.
    pub(crate) fn take(&mut self, bucket: usize) -> u32 {
        self.full[bucket / 64] &= !(1 << (bucket % 64));
        std::mem::replace(&mut self.heads[bucket], NONE)
    }
}
