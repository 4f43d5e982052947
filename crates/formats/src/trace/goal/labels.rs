//! What the operations of one rank are called.

use base::quick::QuickHashBuilder;
use std::collections::HashMap;

/// Operations by their labels.
#[derive(Default)]
pub(super) struct OperationLabels<'a>(HashMap<&'a [u8], u32, QuickHashBuilder>);

/// Emptying a table takes as long as it is large: one that was for a large rank is given back.
const KEPT: usize = 1 << 12;

impl<'a> OperationLabels<'a> {
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
