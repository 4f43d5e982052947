//! Barrier along a binomial tree: up to rank 0 and down again.

use super::allreduce_tree::TreeAllreduce;
use super::kind::{AlgorithmEntry, CollectiveOperation};
use super::trees::RankTree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("barrier_tree", "up a binomial tree, and down"),
    CollectiveOperation::Barrier,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Binomial))),
);
