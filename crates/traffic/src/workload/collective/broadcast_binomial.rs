//! Broadcast along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::asked::ROOT;
use super::trees::{binomial, down, seen_from};
use super::{Algorithm, Entry, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_binomial",
    doc: "along a binomial tree",
    operation: Operation::Broadcast,
    keys: &[ROOT],
    make: |asked| Ok(Box::new(Tree { root: asked.root()? })),
};

#[derive(Debug)]
struct Tree {
    root: u32,
}

impl Algorithm for Tree {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let place = binomial(seen_from(self.root, rank, ranks), ranks).turned(self.root, ranks);
        down(&place, 0, &[0], None, to);
    }
}
