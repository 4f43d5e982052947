//! `bisect_symmetric`: rank i of each half sends to rank i of the other.

use super::bisect::halves;
use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "bisect_symmetric",
        "i of the first half to i of the second, and back",
    ),
    orcs: "bisect_fb_sym",
    make: |_| Ok(Box::new(SymmetricBisectPattern)),
    placed: false,
};

/// The pattern in which both halves send.
#[derive(Debug)]
struct SymmetricBisectPattern;

impl MessagePattern for SymmetricBisectPattern {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        halves(ranks).flat_map(|(a, b)| [(a, b), (b, a)]).collect()
    }
}
