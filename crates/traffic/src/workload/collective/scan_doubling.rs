//! Scan by doubling: in round k every rank passes its sum to the rank `2^k` further.
//!
//! Source: Hillis, Steele: Data parallel algorithms, CACM 29 (1986), section "Sum of all partial
//! sums".

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect,
};
use super::trees::AlgorithmStepChain;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("scan_doubling", "sums to ever further ranks"),
    CollectiveOperation::Scan,
    |_| Ok(Box::new(DoublingScan)),
);

struct DoublingScan;

impl CollectiveAlgorithm for DoublingScan {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        add_before(rank, ranks, &mut AlgorithmStepChain::new(to), 0);
    }
}

/// The steps of number `me` of `ranks`, which is rank `me + first`; each ends with the sum of the
/// blocks up to its own.
pub(super) fn add_before(me: u32, ranks: u32, chain: &mut AlgorithmStepChain<'_>, first: u32) {
    let mut apart = 1;
    while apart < ranks {
        let mut blocks = [std::iter::once(0_u64), std::iter::once(0)];
        let [out, back] = &mut blocks;
        let ahead = (apart < ranks - me).then(|| (me + apart + first, out as _));
        let behind =
            me.checked_sub(apart).map(|r| (r + first, back as _, ReceivedBlockEffect::Add));
        chain.exchange(ahead, behind);
        apart = apart.saturating_mul(2);
    }
}
