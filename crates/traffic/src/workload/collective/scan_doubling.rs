//! Scan by doubling: in round k every rank passes its sum to the rank `2^k` further.
//!
//! Source: Hillis, Steele: Data parallel algorithms, CACM 29 (1986), section "Sum of all partial
//! sums".

use super::kind::{Algorithm, Entry, How, Operation, Steps};
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry =
    Entry::new(Part::new("scan_doubling", "sums to ever further ranks"), Operation::Scan, |_| {
        Ok(Box::new(Doubling))
    });

struct Doubling;

impl Algorithm for Doubling {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        add_before(rank, ranks, &mut Chain::new(to), 0);
    }
}

/// Of `ranks` each ends with the sum of those up to itself; rank `me` of them is rank `me + first`.
pub(super) fn add_before(me: u32, ranks: u32, chain: &mut Chain<'_>, first: u32) {
    let mut apart = 1;
    while apart < ranks {
        let mut blocks = [std::iter::once(0_u64), std::iter::once(0)];
        let [out, back] = &mut blocks;
        let ahead = (apart < ranks - me).then(|| (me + apart + first, out as _));
        let behind = me.checked_sub(apart).map(|r| (r + first, back as _, How::Add));
        chain.exchange(ahead, behind);
        apart = apart.saturating_mul(2);
    }
}
