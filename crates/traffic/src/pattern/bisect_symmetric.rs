//! `bisect_symmetric`: rank i of each half sends to rank i of the other.

use super::bisect::halves;
use super::kind::{MessagePattern, PatternEntry, RankMessage};
use base::part::Part;
use base::seed::Stream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new("bisect_symmetric", "i of the first half to i of the second, and back"),
    orcs: "bisect_fb_sym",
    make: |_| Ok(Box::new(SymmetricBisect)),
    placed: false,
};

/// The pattern in which both halves send.
#[derive(Debug)]
struct SymmetricBisect;

impl MessagePattern for SymmetricBisect {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<RankMessage> {
        halves(ranks).flat_map(|(a, b)| [(a, b), (b, a)]).collect()
    }
}
