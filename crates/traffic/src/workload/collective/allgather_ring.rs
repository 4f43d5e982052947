//! Allgather around a ring: every round each rank passes on the block that came last.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.1.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("allgather_ring", "a block in every round, to the next rank"),
    CollectiveOperation::Allgather,
    |_| Ok(Box::new(RingAllgather)),
);

struct RingAllgather;

impl CollectiveAlgorithm for RingAllgather {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        pass_on(rank, ranks, rank, &mut AlgorithmStepChain::new(to));
    }
}

/// Passes all blocks around the ring, starting with the block `first`, which the rank has.
pub(super) fn pass_on(rank: u32, ranks: u32, first: u32, chain: &mut AlgorithmStepChain<'_>) {
    let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    for round in 0..ranks - 1 {
        let block = |back: u32| std::iter::once(u64::from((first + 2 * ranks - back) % ranks));
        chain.exchange(
            Some((next, &mut block(round))),
            Some((before, &mut block(round + 1), ReceivedBlockEffect::Store)),
        );
    }
}
