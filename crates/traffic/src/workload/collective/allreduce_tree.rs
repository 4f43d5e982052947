//! Allreduce along a binomial tree: a reduce to rank 0, then a broadcast.

use super::kind::{Algorithm, Entry, Operation, Steps};
use super::trees::{Tree, down, up};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("allreduce_tree", "reduce_binomial, then broadcast_binomial"),
    Operation::Allreduce,
    |_| Ok(Box::new(UpAndDown(Tree::Binomial))),
);

/// Up a tree to rank 0, and down again.
pub(super) struct UpAndDown(pub(super) Tree);

impl Algorithm for UpAndDown {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let place = self.0.place(rank, ranks);
        let last = up(&place, 0, &[0], to);
        down(&place, 0, &[0], last, to);
    }
}
