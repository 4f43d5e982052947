//! `tree:ARITY`: who has the message sends it to ARITY - 1 more in each level.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage, powers};
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "tree",
        "level l: each of the first A^l ranks i to i + j A^l, j = 1 to A - 1, where A is the arity",
    )
    .takes::<TreePatternParameters>(),
    orcs: "ntree",
    make: |a| {
        let arity = a.read::<TreePatternParameters>()?.arity;
        Ok(Box::new(TreePattern(a.within("arity", arity, 2, a.ranks)?)))
    },
    placed: false,
};

/// The parameter of a tree.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TreeParameters")]
struct TreePatternParameters {
    /// How many ranks have the message after a level, for each that had it before.
    #[serde(default = "two")]
    arity: u32,
}

const fn two() -> u32 {
    2
}

/// The pattern of a tree of this arity.
#[derive(Debug)]
pub(super) struct TreePattern(pub(super) u32);

impl MessagePattern for TreePattern {
    fn levels(&self, ranks: u32) -> u32 {
        powers(u64::from(self.0), ranks)
    }

    fn messages(&self, level: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        tree(u64::from(self.0), level, ranks)
    }
}

fn tree(arity: u64, level: u32, ranks: u32) -> Vec<RankMessage> {
    let reach = arity.pow(level);
    let children = |i: u64| (1..arity).map(move |j| (i, i + j * reach));
    let within = |(_, to): &(u64, u64)| *to < u64::from(ranks);
    (0..reach.min(u64::from(ranks)))
        .flat_map(|i| children(i).take_while(within))
        .map(|(from, to)| (from as u32, to as u32))
        .collect()
}
