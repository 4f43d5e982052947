//! Broadcast along a binary tree.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::asked::ROOT;
use super::trees::{binary, down, seen_from};
use super::{Algorithm, Entry, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_binary",
    doc: "along a binary tree",
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
        let place = binary(seen_from(self.root, rank, ranks), ranks).turned(self.root, ranks);
        down(&place, 0, &[0], None, to);
    }
}
