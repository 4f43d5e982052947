//! Barrier along a binomial tree: up to rank 0 and down again.

use super::trees::{binomial, down, up};
use super::{Algorithm, Entry, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "barrier_tree",
    doc: "up a binomial tree, and down",
    operation: Operation::Barrier,
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
