//! `permutation`: everybody sends to one other and receives from one, at random.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "permutation",
        "everybody to one other, everybody receives from one; drawn, no rank to itself",
    ),
    orcs: "rand",
    make: |_| Ok(Box::new(RandomPermutationPattern)),
    placed: false,
};

/// A random permutation, which is drawn again in every run.
#[derive(Debug)]
struct RandomPermutationPattern;

impl MessagePattern for RandomPermutationPattern {
    fn messages(&self, _: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        permutation(ranks, draw)
    }
}

/// A uniformly random permutation in which no rank sends to itself; it is shuffled until that
/// holds.
fn permutation(ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
    let mut to: Vec<u32> = (0..ranks).collect();
    loop {
        draw.shuffle(&mut to);
        if (0..ranks).zip(&to).all(|(a, b)| a != *b) {
            return (0..ranks).zip(to).collect();
        }
    }
}
