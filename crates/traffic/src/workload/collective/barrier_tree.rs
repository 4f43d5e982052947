//! Barrier along a binomial tree: up to rank 0 and down again.

use super::allreduce_tree::UpAndDown;
use super::kind::{Entry, Operation};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "barrier_tree",
    doc: "up a binomial tree, and down",
    operation: Operation::Barrier,
    keys: &[],
    make: |_| Ok(Box::new(UpAndDown(Tree::Binomial))),
};
