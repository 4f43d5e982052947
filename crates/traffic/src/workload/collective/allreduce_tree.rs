//! Allreduce along a binomial tree: a reduce to rank 0, then a broadcast.

use super::trees::{binomial, down, up};
use super::{Algorithm, Entry, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "allreduce_tree",
    doc: "reduce_binomial, then broadcast_binomial",
    operation: Operation::Allreduce,
    keys: &[],
    make: |asked| {
        let _ = asked;
        Ok(Box::new(Tree))
    },
};

#[derive(Debug)]
struct Tree;

impl Algorithm for Tree {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let place = binomial(rank, ranks);
        let last = up(&place, 0, &[0], to);
        down(&place, 0, &[0], last, to);
    }
}
