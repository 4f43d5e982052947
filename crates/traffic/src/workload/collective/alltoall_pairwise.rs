//! All-to-all in rounds: in round i to the rank i further, from the rank i before.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::trees::Chain;
use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "alltoall_pairwise",
    doc: "a partner in every round",
    operation: Operation::Alltoall,
    keys: &[],
    make: |asked| {
        let _ = asked;
        Ok(Box::new(Pairwise))
    },
};

#[derive(Debug)]
struct Pairwise;

impl Algorithm for Pairwise {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let block = |from: u32, to: u32| {
            std::iter::once(u64::from(from) * u64::from(ranks) + u64::from(to))
        };
        let mut chain = Chain::new(to);
        for i in 1..ranks {
            let (ahead, behind) = ((rank + i) % ranks, (rank + ranks - i) % ranks);
            chain.exchange(
                Some((ahead, &mut block(rank, ahead))),
                Some((behind, &mut block(behind, rank), How::Store)),
            );
        }
    }
}
