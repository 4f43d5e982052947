//! Barrier along a binomial tree: up to rank 0 and down again.

use super::allreduce_tree::UpAndDown;
use super::kind::{Entry, Operation};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("barrier_tree", "up a binomial tree, and down"),
    Operation::Barrier,
    |_| Ok(Box::new(UpAndDown(Tree::Binomial))),
);
