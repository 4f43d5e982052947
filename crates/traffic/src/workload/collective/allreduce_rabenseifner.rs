//! Allreduce as Rabenseifner's: a reduce-scatter by halving, then an allgather by doubling.
//!
//! Ranks above the largest power of two give their vector to a neighbour first, and get the sum
//! from it at the end.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.5.

use super::allgather_recursive_doubling::double;
use super::allreduce_recursive_doubling::folded;
use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
};
use super::reduce_scatter_halving::halve;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new(
        "allreduce_rabenseifner",
        "reduce_scatter_halving, then an allgather by doubling",
    ),
    CollectiveOperation::Allreduce,
    |_| Ok(Box::new(RabenseifnerAllreduce)),
);

struct RabenseifnerAllreduce;

impl CollectiveAlgorithm for RabenseifnerAllreduce {
    fn blocks(&self, ranks: u32) -> u64 {
        1 << ranks.ilog2()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        folded(rank, ranks, self.blocks(ranks), to, |me, power, chain, named| {
            halve(me, power, chain, named);
            double(me, power, chain, named);
        });
    }
}
