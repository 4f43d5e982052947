//! Allreduce by recursive doubling: in round k partners `2^k` apart exchange their sums.
//!
//! Ranks above the largest power of two give their vector to a neighbour first, and get the sum
//! from it at the end.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.5.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new(
        "allreduce_recursive_doubling",
        "the whole sum to a partner in every round",
    ),
    CollectiveOperation::Allreduce,
    |_| Ok(Box::new(DoublingAllreduce)),
);

struct DoublingAllreduce;

impl CollectiveAlgorithm for DoublingAllreduce {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        folded(rank, ranks, 1, to, |me, power, chain, named| {
            let mut apart = 1;
            while apart < power {
                let partner = named(me ^ apart);
                let mut blocks = [std::iter::once(0), std::iter::once(0)];
                let [out, back] = &mut blocks;
                chain.exchange(
                    Some((partner, out)),
                    Some((partner, back, ReceivedBlockEffect::Add)),
                );
                apart *= 2;
            }
        });
    }
}

/// Extends an algorithm `among` a power of two of ranks to any number of ranks. If there are `r`
/// ranks more than the largest power of two, the even ones of the first `2 r` ranks send their
/// vector to the next rank and get the result back.
///
/// `among` is called with the number of a rank among the power of two, that power, and a function
/// that maps these numbers to ranks.
pub(super) fn folded(
    rank: u32,
    ranks: u32,
    blocks: u64,
    to: &mut dyn AlgorithmStepSink,
    among: impl FnOnce(u32, u32, &mut AlgorithmStepChain<'_>, &dyn Fn(u32) -> u32),
) {
    let power = 1 << ranks.ilog2();
    let extra = ranks - power;
    let mut chain = AlgorithmStepChain::new(to);
    if rank < 2 * extra && rank.is_multiple_of(2) {
        chain.exchange(Some((rank + 1, &mut (0..blocks))), None);
        chain.exchange(None, Some((rank + 1, &mut (0..blocks), ReceivedBlockEffect::Store)));
        return;
    }
    let is_paired = rank < 2 * extra;
    if is_paired {
        chain.exchange(None, Some((rank - 1, &mut (0..blocks), ReceivedBlockEffect::Add)));
    }
    let me = if is_paired { rank / 2 } else { rank - extra };
    let named = |number: u32| if number < extra { 2 * number + 1 } else { number + extra };
    among(me, power, &mut chain, &named);
    if is_paired {
        chain.exchange(Some((rank - 1, &mut (0..blocks))), None);
    }
}
