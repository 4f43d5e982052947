//! Reduce-scatter around a ring: every round each rank adds its own to a block and passes it on.
//!
//! Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
//! JPDC 69 (2009), section 4.

use super::kind::{Algorithm, Entry, How, Operation, Steps};
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("reduce_scatter_ring", "a block in every round, to the next rank"),
    Operation::ReduceScatter,
    |_| Ok(Box::new(Ring)),
);

struct Ring;

impl Algorithm for Ring {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        add_up(rank, ranks, &mut Chain::new(to));
    }
}

/// Every rank ends with the sum of the block of its own number.
pub(super) fn add_up(rank: u32, ranks: u32, chain: &mut Chain<'_>) {
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for round in 1..ranks {
        let block = |back: u32| std::iter::once(u64::from((rank + 2 * ranks - back) % ranks));
        chain.exchange(
            Some((next, &mut block(round))),
            Some((before, &mut block(round + 1), How::Add)),
        );
    }
}
