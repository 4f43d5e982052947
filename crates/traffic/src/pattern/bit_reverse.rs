//! `bit_reverse`: rank of bits b(n-1)...b(0) sends to b(0)...b(n-1).
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitPatternParameters, on_bits, reversed};
use super::kind::PatternKindEntry;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "bit_reverse",
        "to the rank with the bits of its number in reverse order",
    )
    .takes::<BitPatternParameters>(),
    orcs: "",
    make: |a| on_bits(a, false, reversed),
    placed: false,
};
