//! `bit_complement`: every rank sends to the one that differs in all bits.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitPatternParameters, complement, on_bits};
use super::kind::PatternKindEntry;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("bit_complement", "to the rank that differs in all bits")
        .takes::<BitPatternParameters>(),
    orcs: "",
    make: |a| on_bits(a, false, complement),
    placed: false,
};
