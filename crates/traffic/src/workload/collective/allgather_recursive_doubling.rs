//! Allgather by recursive doubling: in round k partners `2^k` apart exchange all that they have.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.1.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::reduce_scatter_halving::power_of_two;
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new(
        "allgather_recursive_doubling",
        "all that is there to a partner in every round; powers of two",
    ),
    CollectiveOperation::Allgather,
    |_| Ok(Box::new(DoublingAllgather)),
);

struct DoublingAllgather;

impl CollectiveAlgorithm for DoublingAllgather {
    fn check(&self, ranks: u32) -> Result<(), String> {
        power_of_two(ranks)
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        double(rank, ranks, &mut AlgorithmStepChain::new(to), |r| r);
    }
}

/// The steps of rank number `me` of `ranks`, a power of two. Each begins with the block of its own
/// number and ends with all blocks; `named` maps these numbers to ranks.
pub(super) fn double(
    me: u32,
    ranks: u32,
    chain: &mut AlgorithmStepChain<'_>,
    named: impl Fn(u32) -> u32,
) {
    let mut have = 1;
    while have < ranks {
        let partner = me ^ have;
        let blocks = |of: u32| (of / have * have..of / have * have + have).map(u64::from);
        chain.exchange(
            Some((named(partner), &mut blocks(me))),
            Some((named(partner), &mut blocks(partner), ReceivedBlockEffect::Store)),
        );
        have *= 2;
    }
}
