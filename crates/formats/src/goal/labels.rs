//! What the operations of one rank are called.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Operations by their labels.
#[derive(Default)]
pub(super) struct Labels<'a>(HashMap<&'a [u8], u32, BuildHasherDefault<Quick>>);

/// Emptying a table takes as long as it is large: one that was for a large rank is given back.
const KEPT: usize = 1 << 12;

impl<'a> Labels<'a> {
    /// Forgets all.
    pub(super) fn clear(&mut self) {
        if self.0.capacity() > KEPT {
            *self = Self::default();
        } else {
            self.0.clear();
        }
    }

    /// `label` names the operation, unless it names another already.
    pub(super) fn add(&mut self, label: &'a [u8], op: u32) {
        self.0.entry(label).or_insert(op);
    }

    /// The operation of that name.
    pub(super) fn get(&self, label: &[u8]) -> Option<u32> {
        self.0.get(label).copied()
    }
}

/// A hash of short words: multiplication and rotation, eight bytes at a time.
#[derive(Default)]
struct Quick(u64);

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Quick {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(ODD);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b));
            self.mix(word);
        }
    }

    fn write_usize(&mut self, n: usize) {
        self.mix(n as u64);
    }

    fn write_u8(&mut self, n: u8) {
        self.mix(n.into());
    }

    fn finish(&self) -> u64 {
        // tables take their place from the low bits and their mark from the high ones
        self.0 ^ self.0 >> 32
    }
}
