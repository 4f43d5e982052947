//! Broadcast along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_binomial",
    doc: "along a binomial tree",
    operation: Operation::Broadcast,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Broadcast, Tree::Binomial, asked),
};
