//! `bit_reverse`: rank of bits b(n-1)...b(0) sends to b(0)...b(n-1).
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitParameters, on_bits, reversed};
use super::kind::PatternEntry;
use base::part::Part;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new("bit_reverse", "to the rank with the bits of its number in reverse order")
        .takes::<BitParameters>(),
    orcs: "",
    make: |a| on_bits(a, false, reversed),
    placed: false,
};
