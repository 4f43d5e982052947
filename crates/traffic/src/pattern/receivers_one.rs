//! `receivers_one:COUNT`: ranks 0 to COUNT - 1 receive, from one of the others each.

use super::kind::PatternKindEntry;
use super::receivers::{ReceiverPattern, ReceiverPatternParameters};
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("receivers_one", "as receivers, with one sender for each receiver")
        .takes::<ReceiverPatternParameters>(),
    orcs: "recvs_one_src",
    make: |a| Ok(Box::new(ReceiverPattern::parse(a, true)?)),
    placed: false,
};
