//! Allreduce around a ring: the sum of each block comes together at one rank, then goes around.
//!
//! Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
//! JPDC 69 (2009), section 4.

use super::allgather_ring::pass_on;
use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
};
use super::reduce_scatter_ring::add_up;
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("allreduce_ring", "reduce_scatter_ring, then allgather_ring"),
    CollectiveOperation::Allreduce,
    |_| Ok(Box::new(RingAllreduce)),
);

struct RingAllreduce;

impl CollectiveAlgorithm for RingAllreduce {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        add_up(rank, ranks, &mut chain);
        pass_on(rank, ranks, rank, &mut chain);
    }
}
