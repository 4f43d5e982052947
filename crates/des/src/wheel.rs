//! Lists of entries in a row of buckets.

/// Buckets of a wheel, as a power of two.
pub(crate) const LOG: u32 = 12;
pub(crate) const BUCKETS: usize = 1 << LOG;
pub(crate) const MASK: u64 = BUCKETS as u64 - 1;

/// No entry.
pub(crate) const NONE: u32 = u32::MAX;

/// Buckets, each with its first entry; of every entry whoever has it knows the next.
pub(crate) struct Wheel {
    /// The first entry of each bucket.
    pub(crate) heads: Vec<u32>,
    /// Which buckets have any.
    full: [u64; BUCKETS / 64],
}

impl Wheel {
    pub(crate) fn new() -> Self {
        Self { heads: vec![NONE; BUCKETS], full: [0; BUCKETS / 64] }
    }

    /// The first bucket that is not empty, from `at` on, without going around.
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

    /// Puts an entry in front of a bucket, and returns which was there.
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
