//! `neighbour`: to the next switch in every dimension.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::kind::PatternEntry;
use super::places::moved;
use base::part::Part;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new("neighbour", "to the next switch in every dimension of the grid"),
    orcs: "",
    make: |a| moved(a, |_| 1),
    placed: true,
};
