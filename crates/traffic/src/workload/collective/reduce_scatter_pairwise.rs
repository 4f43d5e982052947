//! Reduce-scatter by pairs: in round k every rank gives the rank k further its part of that one's
//! block.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), the pairwise exchange of reduce-scatter for long messages.

use super::kind::{Algorithm, Entry, How, Operation, Steps};
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("reduce_scatter_pairwise", "in every round its block to a rank further away"),
    Operation::ReduceScatter,
    |_| Ok(Box::new(Pairwise)),
);

struct Pairwise;

impl Algorithm for Pairwise {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let mut chain = Chain::new(to);
        for round in 1..ranks {
            let (ahead, behind) = ((rank + round) % ranks, (rank + ranks - round) % ranks);
            chain.exchange(
                Some((ahead, &mut std::iter::once(u64::from(ahead)))),
                Some((behind, &mut std::iter::once(u64::from(rank)), How::Add)),
            );
        }
    }
}
