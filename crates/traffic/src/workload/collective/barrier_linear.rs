//! Barrier by rank 0 alone: it hears from every rank, then tells every rank.

use super::allreduce_tree::TreeAllreduce;
use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use super::trees::RankTree;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("barrier_linear", "all to rank 0, and it to all"),
    CollectiveOperation::Barrier,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Star))),
);
