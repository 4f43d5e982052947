//! Barrier along a binomial tree: up to rank 0 and down again.

use super::allreduce_tree::TreeAllreduce;
use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use super::trees::RankTree;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("barrier_tree", "up a binomial tree, and down"),
    CollectiveOperation::Barrier,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Binomial))),
);
