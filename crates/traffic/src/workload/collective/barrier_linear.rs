//! Barrier by rank 0 alone: it hears from every rank, then tells every rank.

use super::allreduce_tree::TreeAllreduce;
use super::kind::{AlgorithmEntry, CollectiveOperation};
use super::trees::RankTree;
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("barrier_linear", "all to rank 0, and it to all"),
    CollectiveOperation::Barrier,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Star))),
);
