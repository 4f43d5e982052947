//! Allreduce along a binomial tree: a reduce to rank 0, then a broadcast.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
};
use super::trees::{RankTree, down, up};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("allreduce_tree", "reduce_binomial, then broadcast_binomial"),
    CollectiveOperation::Allreduce,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Binomial))),
);

/// An allreduce that reduces along a tree to rank 0, and broadcasts along the same tree.
pub(super) struct TreeAllreduce(pub(super) RankTree);

impl CollectiveAlgorithm for TreeAllreduce {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let place = self.0.place(rank, ranks);
        let last = up(&place, 0, &[0], to);
        down(&place, 0, &[0], last, to);
    }
}
