//! `recursive_doubling`: in level i the ranks that differ in bit i exchange; ranks beyond the last
//! power of two receive in one level more.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("recursive_doubling", "level l: i and i xor 2^l exchange"),
    orcs: "recdbl",
    make: |_| Ok(Box::new(RecursiveDoublingPattern)),
    placed: false,
};

/// The pattern with a level for each bit, and one for ranks beyond the last power of two.
#[derive(Debug)]
struct RecursiveDoublingPattern;

impl MessagePattern for RecursiveDoublingPattern {
    fn levels(&self, ranks: u32) -> u32 {
        ranks.ilog2() + u32::from(!ranks.is_power_of_two())
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        recursive_doubling(level, ranks)
    }
}

fn recursive_doubling(level: u32, ranks: u32) -> Vec<RankMessage> {
    let power = 1_u32 << ranks.ilog2();
    if level == ranks.ilog2() {
        return (0..ranks - power).map(|i| (i, i + power)).collect();
    }
    let low = (0..power).filter(|i| i & (1 << level) == 0);
    low.flat_map(|i| [(i, i | 1 << level), (i | 1 << level, i)]).collect()
}
