//! `shuffle`: rank of bits b(n-1)b(n-2)...b(0) sends to b(n-2)...b(0)b(n-1).
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitPatternParameters, on_bits, rotated};
use super::kind::PatternKindEntry;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "shuffle",
        "to the rank with the bits of its number rotated left by one",
    )
    .takes::<BitPatternParameters>(),
    orcs: "",
    make: |a| on_bits(a, false, rotated),
    placed: false,
};
