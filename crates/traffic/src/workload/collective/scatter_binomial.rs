//! Scatter along a binomial tree: every rank gets the blocks of all below it, and hands them down.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::asked::ROOT;
use super::trees::{Chain, binomial, seen_from, under};
use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "scatter_binomial",
    doc: "down a binomial tree",
    operation: Operation::Scatter,
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
        let mut chain = Chain::new(to);
        if let Some(above) = place.above {
            chain.exchange(None, Some((turn(above), &mut blocks(seen), How::Store)));
        }
        for child in place.below {
            chain.exchange(Some((turn(child), &mut blocks(child))), None);
        }
    }
}
