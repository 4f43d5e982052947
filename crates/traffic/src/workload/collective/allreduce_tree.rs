//! Allreduce along a binomial tree: a reduce to rank 0, then a broadcast.

use super::kind::{Algorithm, Entry, Operation, Steps};
use super::trees::{Tree, down, up};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "allreduce_tree",
    doc: "reduce_binomial, then broadcast_binomial",
    operation: Operation::Allreduce,
    keys: &[],
    make: |_| Ok(Box::new(UpAndDown(Tree::Binomial))),
};

/// Up a tree to rank 0, and down again.
pub(super) struct UpAndDown(pub(super) Tree);

impl Algorithm for UpAndDown {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let place = self.0.place(rank, ranks);
        let last = up(&place, 0, &[0], to);
        down(&place, 0, &[0], last, to);
    }
}
