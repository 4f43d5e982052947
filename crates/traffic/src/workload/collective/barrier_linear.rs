//! Barrier by rank 0 alone: it hears from every rank, then tells every rank.

use super::allreduce_tree::UpAndDown;
use super::kind::{Entry, Operation};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "barrier_linear",
    doc: "all to rank 0, and it to all",
    operation: Operation::Barrier,
    keys: &[],
    make: |_| Ok(Box::new(UpAndDown(Tree::Star))),
};
