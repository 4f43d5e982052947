//! Reduce-scatter by recursive halving: every round half of what is left goes to a partner.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.3.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new(
        "reduce_scatter_halving",
        "half of the blocks to a partner in every round; powers of two",
    ),
    CollectiveOperation::ReduceScatter,
    |_| Ok(Box::new(HalvingReduceScatter)),
);

struct HalvingReduceScatter;

impl CollectiveAlgorithm for HalvingReduceScatter {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn check(&self, ranks: u32) -> Result<(), String> {
        power_of_two(ranks)
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        halve(rank, ranks, &mut AlgorithmStepChain::new(to), |r| r);
    }
}

/// Refuses numbers of ranks that are not powers of two.
pub(super) fn power_of_two(ranks: u32) -> Result<(), String> {
    if ranks.is_power_of_two() { Ok(()) } else { Err("a power of two".to_owned()) }
}

/// The steps of rank number `me` of `ranks`, a power of two. Each ends with the sum of the block of
/// its own number; `named` maps these numbers to ranks.
pub(super) fn halve(
    me: u32,
    ranks: u32,
    chain: &mut AlgorithmStepChain<'_>,
    named: impl Fn(u32) -> u32,
) {
    let mut half = ranks / 2;
    while half > 0 {
        let partner = me ^ half;
        let blocks = |of: u32| (of / half * half..of / half * half + half).map(u64::from);
        chain.exchange(
            Some((named(partner), &mut blocks(partner))),
            Some((named(partner), &mut blocks(me), ReceivedBlockEffect::Add)),
        );
        half /= 2;
    }
}
