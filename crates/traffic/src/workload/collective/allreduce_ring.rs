//! Allreduce around a ring: the sum of each block comes together at one rank, then goes around.
//!
//! Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
//! JPDC 69 (2009), section 4.

use super::allgather_ring::pass_on;
use super::kind::{Algorithm, Entry, Operation, Steps};
use super::reduce_scatter_ring::add_up;
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("allreduce_ring", "reduce_scatter_ring, then allgather_ring"),
    Operation::Allreduce,
    |_| Ok(Box::new(Ring)),
);

struct Ring;

impl Algorithm for Ring {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let mut chain = Chain::new(to);
        add_up(rank, ranks, &mut chain);
        pass_on(rank, ranks, rank, &mut chain);
    }
}
