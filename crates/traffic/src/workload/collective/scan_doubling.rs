//! Scan by doubling: in round k every rank passes its sum to the rank `2^k` further.
//!
//! Source: Hillis, Steele: Data parallel algorithms, CACM 29 (1986), section "Sum of all partial
//! sums".

use super::trees::Chain;
use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "scan_doubling",
    doc: "sums to ever further ranks",
    operation: Operation::Scan,
    keys: &[],
    make: |asked| {
        let _ = asked;
        Ok(Box::new(Doubling))
    },
};

#[derive(Debug)]
struct Doubling;

impl Algorithm for Doubling {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let mut chain = Chain::new(to);
        let mut apart = 1;
        while apart < ranks {
            let mut blocks = [std::iter::once(0_u64), std::iter::once(0)];
            let [out, back] = &mut blocks;
            let ahead = (apart < ranks - rank).then(|| (rank + apart, out as _));
            let behind = rank.checked_sub(apart).map(|r| (r, back as _, How::Add));
            chain.exchange(ahead, behind);
            apart = apart.saturating_mul(2);
        }
    }
}
