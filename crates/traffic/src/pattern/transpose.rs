//! `transpose`: every rank sends to the one with the halves of its bits exchanged.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{BitParameters, on_bits, transposed};
use super::kind::PatternEntry;
use base::part::Part;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new(
        "transpose",
        "to the rank with the upper and the lower half of the bits exchanged",
    )
    .takes::<BitParameters>(),
    orcs: "",
    make: |a| on_bits(a, true, transposed),
    placed: false,
};
