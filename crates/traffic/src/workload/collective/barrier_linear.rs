//! Barrier by rank 0 alone: it hears from every rank, then tells every rank.

use super::allreduce_tree::UpAndDown;
use super::kind::{Entry, Operation};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("barrier_linear", "all to rank 0, and it to all"),
    Operation::Barrier,
    |_| Ok(Box::new(UpAndDown(Tree::Star))),
);
