//! Barrier along a binomial tree: up to rank 0 and down again.

use super::allreduce_tree::TreeAllreduce;
use super::kind::{AlgorithmEntry, CollectiveOperation};
use super::trees::RankTree;
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("barrier_tree", "up a binomial tree, and down"),
    CollectiveOperation::Barrier,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Binomial))),
);
