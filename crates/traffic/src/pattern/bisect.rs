//! `bisect`: rank i of the first half sends to rank i of the second; an odd rank is left out.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "bisect",
        "i of the first half to i of the second, each pair once; an odd rank is left out",
    ),
    orcs: "bisect",
    make: |_| Ok(Box::new(BisectPattern)),
    placed: false,
};

/// The pattern in which only the first half sends.
#[derive(Debug)]
struct BisectPattern;

impl MessagePattern for BisectPattern {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        halves(ranks).collect()
    }
}

/// The pairs of rank i of the first half and rank i of the second half.
pub(super) fn halves(ranks: u32) -> impl Iterator<Item = RankMessage> {
    let half = ranks / 2;
    (0..half).map(move |i| (i, i + half))
}
