//! Gather along a binomial tree: every rank hands up the blocks of all below it.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.

use super::asked::ROOT;
use super::trees::{binomial, seen_from, under};
use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "gather_binomial",
    doc: "up a binomial tree",
    operation: Operation::Gather,
    keys: &[ROOT],
    make: |asked| Ok(Box::new(Tree { root: asked.root()? })),
};

#[derive(Debug)]
struct Tree {
    root: u32,
}

impl Algorithm for Tree {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let seen = seen_from(self.root, rank, ranks);
        let place = binomial(seen, ranks);
        let turn = |r: u32| (r + self.root) % ranks;
        let blocks = |of: u32| (of..of + under(of, ranks)).map(move |b| u64::from(turn(b)));
        let mut came = Vec::new();
        for &child in place.below.iter().rev() {
            came.push(to.recv(turn(child), 0, &mut blocks(child), How::Store));
        }
        if let Some(above) = place.above {
            let step = to.send(turn(above), 0, &mut blocks(seen));
            for before in came {
                to.after(step, before);
            }
        }
    }
}
