//! `transpose`: every rank sends to the one with the halves of its bits exchanged.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitPatternParameters, on_bits, transposed};
use super::kind::PatternKindEntry;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "transpose",
        "to the rank with the upper and the lower half of the bits exchanged",
    )
    .takes::<BitPatternParameters>(),
    orcs: "",
    make: |a| on_bits(a, true, transposed),
    placed: false,
};
