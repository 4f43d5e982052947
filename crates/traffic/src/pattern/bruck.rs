//! `bruck`: in level i every rank sends to the rank 2^i further, around the end.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage, powers};
use super::shift::around;
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("bruck", "level l: i to i + 2^l, around the end"),
    orcs: "dissemination",
    make: |_| Ok(Box::new(BruckPattern)),
    placed: false,
};

/// The pattern of Bruck's algorithm, with as many levels as a rank has bits.
#[derive(Debug)]
struct BruckPattern;

impl MessagePattern for BruckPattern {
    fn levels(&self, ranks: u32) -> u32 {
        powers(2, ranks)
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        around(ranks, 1 << level)
    }
}
