//! `tornado`: to the switch just short of halfway around, in every dimension.
//!
//! Source: Singh, Dally, Gupta, Towles, "GOAL: a load-balanced adaptive routing algorithm for torus
//! networks", ISCA 2003; ceil(side / 2) - 1 as BookSim has it.

use super::kind::PatternKindEntry;
use super::places::moved;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "tornado",
        "to the switch nearly half of the side further in every dimension of the grid",
    ),
    orcs: "",
    make: |a| moved(a, |side| side.div_ceil(2) - 1),
    placed: true,
};
