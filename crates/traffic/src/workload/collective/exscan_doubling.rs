//! Exclusive scan: every rank hands its block to the next one, then all but the first scan by
//! doubling what they got. Rank 0 ends with nothing, as MPI says.
//!
//! Source: Sanders, Traeff: Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006, section 2.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::scan_doubling::add_before;
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("exscan_doubling", "a shift by one rank, then scan_doubling"),
    CollectiveOperation::Exscan,
    |_| Ok(Box::new(DoublingExscan)),
);

struct DoublingExscan;

impl CollectiveAlgorithm for DoublingExscan {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        let mut blocks = [std::iter::once(0_u64), std::iter::once(0)];
        let [out, back] = &mut blocks;
        let next = (rank + 1 < ranks).then(|| (rank + 1, out as _));
        chain.exchange(
            next,
            rank.checked_sub(1).map(|r| (r, back as _, ReceivedBlockEffect::Store)),
        );
        if let Some(me) = rank.checked_sub(1) {
            add_before(me, ranks - 1, &mut chain, 1);
        }
    }
}
