//! Scan along a chain: every rank adds what the one before it has, and passes the sum on.
//!
//! Source: Open MPI, `ompi/mca/coll/base/coll_base_scan.c`, the linear algorithm.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("scan_linear", "sums from rank to rank"),
    CollectiveOperation::Scan,
    |_| Ok(Box::new(LinearScan)),
);

struct LinearScan;

impl CollectiveAlgorithm for LinearScan {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let mut chain = AlgorithmStepChain::new(to);
        let block = || std::iter::once(0_u64);
        if let Some(before) = rank.checked_sub(1) {
            chain.exchange(None, Some((before, &mut block(), ReceivedBlockEffect::Add)));
        }
        if rank + 1 < ranks {
            chain.exchange(Some((rank + 1, &mut block())), None);
        }
    }
}
