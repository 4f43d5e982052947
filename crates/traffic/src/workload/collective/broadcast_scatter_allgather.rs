//! Broadcast as a scatter along a binomial tree, then an allgather around a ring.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2, after van de Geijn.

use super::allgather_ring::pass_on;
use super::asked::ROOT;
use super::trees::{Chain, binomial, seen_from, under};
use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_scatter_allgather",
    doc: "scatter_binomial, then allgather_ring",
    operation: Operation::Broadcast,
    keys: &[ROOT],
    make: |asked| Ok(Box::new(Scattered { root: asked.root()? })),
};

#[derive(Debug)]
struct Scattered {
    root: u32,
}

impl Algorithm for Scattered {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let seen = seen_from(self.root, rank, ranks);
        let place = binomial(seen, ranks);
        let blocks = |of: u32| (of..of + under(of, ranks)).map(u64::from);
        let turn = |r: u32| (r + self.root) % ranks;
        let mut chain = Chain::new(to);
        if let Some(above) = place.above {
            chain.exchange(None, Some((turn(above), &mut blocks(seen), How::Store)));
        }
        for child in place.below {
            chain.exchange(Some((turn(child), &mut blocks(child))), None);
        }
        // block b is the part of the rank that is b after the root
        pass_on(rank, ranks, seen, &mut chain);
    }
}
