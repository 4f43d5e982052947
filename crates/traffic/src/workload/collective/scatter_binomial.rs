//! Scatter along a binomial tree: every rank gets the blocks of all below it, and hands them down.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "scatter_binomial",
    doc: "down a binomial tree",
    operation: Operation::Scatter,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Scatter, Tree::Binomial, asked),
};
