//! All-to-all by Bruck's algorithm: a block goes `2^k` ranks further in round k where bit k of its
//! distance is set.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all
//! communications in multiport message-passing systems, IEEE TPDS 8 (1997), section 3.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("alltoall_bruck", "in as many rounds as the ranks have bits, over others"),
    CollectiveOperation::Alltoall,
    |_| Ok(Box::new(BruckAlltoall)),
);

struct BruckAlltoall;

/// The blocks that rank `at` passes on in the round of `bit`: for every distance with that bit, the
/// block that the rounds of lower bits have brought here.
fn leaving(at: u32, bit: u32, ranks: u32) -> impl Iterator<Item = u64> {
    (bit..ranks).filter(move |distance| distance & bit != 0).map(move |distance| {
        let source = (at + ranks - distance % bit) % ranks;
        let target = (u64::from(source) + u64::from(distance)) % u64::from(ranks);
        u64::from(source) * u64::from(ranks) + target
    })
}

impl CollectiveAlgorithm for BruckAlltoall {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        let mut bit = 1;
        while bit < ranks {
            let (ahead, behind) = ((rank + bit) % ranks, (rank + ranks - bit) % ranks);
            chain.exchange(
                Some((ahead, &mut leaving(rank, bit, ranks))),
                Some((behind, &mut leaving(behind, bit, ranks), ReceivedBlockEffect::Store)),
            );
            bit *= 2;
        }
    }
}
