//! A fast hash of a few words, for keys that no attacker chooses to collide.

use std::hash::{BuildHasherDefault, Hasher};

/// A hasher that multiplies words by 2^64 over the golden ratio, with rotations.
///
/// Source: Knuth: The Art of Computer Programming, volume 3, section 6.4 (Fibonacci hashing).
#[derive(Debug, Default, Clone, Copy)]
pub struct FibonacciHasher(u64);

/// The builder by which a hash map uses [`FibonacciHasher`].
pub type QuickHashBuilder = BuildHasherDefault<FibonacciHasher>;

impl Hasher for FibonacciHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for eight in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..eight.len()].copy_from_slice(eight);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
