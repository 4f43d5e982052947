//! Reduce-scatter around a ring: every round each rank adds its own to a block and passes it on.
//!
//! Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations,
//! JPDC 69 (2009), section 4.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("reduce_scatter_ring", "a block in every round, to the next rank"),
    CollectiveOperation::ReduceScatter,
    |_| Ok(Box::new(RingReduceScatter)),
);

struct RingReduceScatter;

impl CollectiveAlgorithm for RingReduceScatter {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        add_up(rank, ranks, &mut AlgorithmStepChain::new(to));
    }
}

/// The steps of a rank, which ends with the sum of the block of its own number.
pub(super) fn add_up(rank: u32, ranks: u32, chain: &mut AlgorithmStepChain<'_>) {
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for round in 1..ranks {
        let block = |back: u32| std::iter::once(u64::from((rank + 2 * ranks - back) % ranks));
        chain.exchange(
            Some((next, &mut block(round))),
            Some((before, &mut block(round + 1), ReceivedBlockEffect::Add)),
        );
    }
}
