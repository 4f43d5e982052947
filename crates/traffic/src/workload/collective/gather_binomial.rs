//! Gather along a binomial tree: every rank hands up the blocks of all below it.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "gather_binomial",
    doc: "up a binomial tree",
    operation: Operation::Gather,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Gather, Tree::Binomial, asked),
};
