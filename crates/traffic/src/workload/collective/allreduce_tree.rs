//! Allreduce along a binomial tree: a reduce to rank 0, then a broadcast.

use super::kind::{AlgorithmEntry, CollectiveAlgorithm, CollectiveOperation, StepReceiver};
use super::trees::{RankTree, down, up};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("allreduce_tree", "reduce_binomial, then broadcast_binomial"),
    CollectiveOperation::Allreduce,
    |_| Ok(Box::new(TreeAllreduce(RankTree::Binomial))),
);

/// An allreduce up a tree to rank 0, and down again.
pub(super) struct TreeAllreduce(pub(super) RankTree);

impl CollectiveAlgorithm for TreeAllreduce {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn StepReceiver) {
        let place = self.0.place(rank, ranks);
        let last = up(&place, 0, &[0], to);
        down(&place, 0, &[0], last, to);
    }
}
