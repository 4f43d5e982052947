//! `ring`: rank i sends to rank i + 1, around the end, all at once.

use super::kind::PatternKindEntry;
use super::shift::ShiftPattern;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("ring", "i to i + 1, around the end, all at once"),
    orcs: "ring",
    make: |_| Ok(Box::new(ShiftPattern(1))),
    placed: false,
};
