//! `gather`: everybody sends to rank 0.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("gather", "all to rank 0"),
    orcs: "gather",
    make: |_| Ok(Box::new(GatherPattern)),
    placed: false,
};

/// The pattern of a gather, in one level.
#[derive(Debug)]
struct GatherPattern;

impl MessagePattern for GatherPattern {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        (1..ranks).map(|i| (i, 0)).collect()
    }
}
