//! Reduce at the root alone: it adds what every rank sends.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "reduce_linear",
    doc: "from every rank to the root",
    operation: Operation::Reduce,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Reduce, Tree::Star, asked),
};
