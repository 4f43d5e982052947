//! `receivers_one:COUNT`: ranks 0 to COUNT - 1 receive, from one of the others each.

use super::kind::PatternEntry;
use super::receivers::{ReceiverParameters, ReceiverPattern};
use base::part::Part;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new("receivers_one", "as receivers, with one sender for each receiver")
        .takes::<ReceiverParameters>(),
    orcs: "recvs_one_src",
    make: |a| Ok(Box::new(ReceiverPattern::parse(a, true)?)),
    placed: false,
};
