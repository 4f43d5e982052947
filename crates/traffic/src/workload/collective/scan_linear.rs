//! Scan along a chain: every rank adds what the one before it has, and passes the sum on.
//!
//! Source: Open MPI, `ompi/mca/coll/base/coll_base_scan.c`, the linear algorithm.

use super::kind::{Algorithm, Entry, How, Operation, Steps};
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry =
    Entry::new(Part::new("scan_linear", "sums from rank to rank"), Operation::Scan, |_| {
        Ok(Box::new(Linear))
    });

struct Linear;

impl Algorithm for Linear {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let mut chain = Chain::new(to);
        let block = || std::iter::once(0_u64);
        if let Some(before) = rank.checked_sub(1) {
            chain.exchange(None, Some((before, &mut block(), How::Add)));
        }
        if rank + 1 < ranks {
            chain.exchange(Some((rank + 1, &mut block())), None);
        }
    }
}
