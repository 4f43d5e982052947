//! `neighbour`: to the next switch in every dimension.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::kind::PatternKindEntry;
use super::places::moved;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("neighbour", "to the next switch in every dimension of the grid"),
    orcs: "",
    make: |a| moved(a, |_| 1),
    placed: true,
};
