//! Gather at the root alone: every rank sends it its block.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "gather_linear",
    doc: "from every rank to the root",
    operation: Operation::Gather,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Gather, Tree::Star, asked),
};
