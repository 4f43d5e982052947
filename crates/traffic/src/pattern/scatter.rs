//! `scatter`: rank 0 sends to everybody.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("scatter", "rank 0 to all"),
    orcs: "scatter",
    make: |_| Ok(Box::new(ScatterPattern)),
    placed: false,
};

/// The pattern of a scatter, in one level.
#[derive(Debug)]
struct ScatterPattern;

impl MessagePattern for ScatterPattern {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        (1..ranks).map(|i| (0, i)).collect()
    }
}
