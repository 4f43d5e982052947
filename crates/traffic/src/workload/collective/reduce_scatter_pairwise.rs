//! Reduce-scatter by pairs: in round k every rank gives the rank k further its part of that one's
//! block.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), the pairwise exchange of reduce-scatter for long messages.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new(
        "reduce_scatter_pairwise",
        "in every round its block to a rank further away",
    ),
    CollectiveOperation::ReduceScatter,
    |_| Ok(Box::new(PairwiseReduceScatter)),
);

struct PairwiseReduceScatter;

impl CollectiveAlgorithm for PairwiseReduceScatter {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        for round in 1..ranks {
            let (ahead, behind) = ((rank + round) % ranks, (rank + ranks - round) % ranks);
            chain.exchange(
                Some((ahead, &mut std::iter::once(u64::from(ahead)))),
                Some((behind, &mut std::iter::once(u64::from(rank)), ReceivedBlockEffect::Add)),
            );
        }
    }
}
