//! `token_ring`: one message goes around; in level i rank i sends to the next.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("token_ring", "level i: i to i + 1, one after the other"),
    orcs: "token_ring",
    make: |_| Ok(Box::new(TokenRingPattern)),
    placed: false,
};

/// The pattern with one message in each level.
#[derive(Debug)]
struct TokenRingPattern;

impl MessagePattern for TokenRingPattern {
    fn levels(&self, ranks: u32) -> u32 {
        ranks
    }

    fn most_messages(&self, _: u32) -> u64 {
        1
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        vec![(level, (level + 1) % ranks)]
    }
}
