//! `shift:BY`: rank i sends to rank i + BY, around the end.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "shift",
        "i to i + by, around the end; in a simulator half of the ranks where that is not given",
    )
    .takes::<ShiftPatternParameters>(),
    orcs: "shift",
    make: |a| {
        let by = a.read::<ShiftPatternParameters>()?.by;
        Ok(Box::new(ShiftPattern(a.within("by", by, 1, a.ranks - 1)?)))
    },
    placed: false,
};

/// The parameter of a shift.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ShiftParameters")]
struct ShiftPatternParameters {
    /// How many ranks further a rank's receiver is.
    #[serde(default = "one")]
    by: u32,
}

/// The default of `by`: the shift of a ring.
pub(super) const fn one() -> u32 {
    1
}

/// The distance from a rank to its receiver.
#[derive(Debug)]
pub(super) struct ShiftPattern(pub(super) u32);

impl MessagePattern for ShiftPattern {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        around(ranks, u64::from(self.0))
    }
}

/// A message from every rank to the rank `step` further, modulo the number of ranks.
pub(super) fn around(ranks: u32, step: u64) -> Vec<RankMessage> {
    let to = |i: u32| ((u64::from(i) + step) % u64::from(ranks)) as u32;
    (0..ranks).map(|i| (i, to(i))).collect()
}
