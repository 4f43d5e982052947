//! Allgather by Bruck's algorithm: in round k a rank hands on the `2^k` blocks that it has.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all
//! communications in multiport message-passing systems, IEEE TPDS 8 (1997), section 4.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("allgather_bruck", "twice as many blocks in every round"),
    CollectiveOperation::Allgather,
    |_| Ok(Box::new(BruckAllgather)),
);

struct BruckAllgather;

impl CollectiveAlgorithm for BruckAllgather {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        let mut have = 1;
        while have < ranks {
            let count = have.min(ranks - have);
            let (back, ahead) = ((rank + ranks - have) % ranks, (rank + have) % ranks);
            let blocks = |from: u32| (0..count).map(move |i| u64::from((from + i) % ranks));
            chain.exchange(
                Some((back, &mut blocks(rank))),
                Some((ahead, &mut blocks(ahead), ReceivedBlockEffect::Store)),
            );
            have += count;
        }
    }
}
