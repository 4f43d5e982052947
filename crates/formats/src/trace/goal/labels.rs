//! The labels of the operations of one rank.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;

/// Operations by their labels.
#[derive(Default)]
pub(super) struct OperationsByLabel<'a>(HashMap<&'a [u8], u32, QuickHashBuilder>);

/// The largest table that is kept: clearing one takes time in proportion to its size, so that a
/// larger one is freed.
const KEPT: usize = 1 << 12;

impl<'a> OperationsByLabel<'a> {
    /// Removes all labels.
    pub(super) fn clear(&mut self) {
        if self.0.capacity() > KEPT {
            *self = Self::default();
        } else {
            self.0.clear();
        }
    }

    /// Gives an operation this label, unless another operation has it already.
    pub(super) fn add(&mut self, label: &'a [u8], op: u32) {
        self.0.entry(label).or_insert(op);
    }

    /// The operation with this label.
    pub(super) fn get(&self, label: &[u8]) -> Option<u32> {
        self.0.get(label).copied()
    }
}
