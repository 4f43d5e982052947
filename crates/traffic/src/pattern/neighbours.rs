//! `neighbours:COUNT`: everybody exchanges with COUNT others of the next ranks that have room.

use super::kind::{MAX_MESSAGES, MessagePattern, PatternKindEntry, RankMessage};
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("neighbours", "each exchanges with this number of others")
        .takes::<NeighbourPatternParameters>(),
    orcs: "neighbor",
    make: |a| {
        let few = (MAX_MESSAGES / u64::from(a.ranks)).min(u64::from(a.ranks - 1)).max(1) as u32;
        let count = a.read::<NeighbourPatternParameters>()?.count;
        Ok(Box::new(NeighbourPattern(a.within("count", count, 1, few)?)))
    },
    placed: false,
};

/// The parameter of neighbours.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NeighbourParameters")]
struct NeighbourPatternParameters {
    /// How many others a rank exchanges with.
    #[schemars(range(min = 1))]
    count: u32,
}

/// The number of neighbours that a rank sends to.
#[derive(Debug)]
struct NeighbourPattern(u32);

impl MessagePattern for NeighbourPattern {
    fn most_messages(&self, ranks: u32) -> u64 {
        u64::from(ranks) * u64::from(self.0)
    }

    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        neighbours(self.0, ranks)
    }
}

/// The messages: each rank in turn is joined to the next ranks with fewer than `k` partners, until
/// it has `k` itself.
fn neighbours(k: u32, ranks: u32) -> Vec<RankMessage> {
    let mut partners: Vec<Vec<u32>> = vec![Vec::new(); ranks as usize];
    for i in 0..ranks {
        for other in i + 1..ranks {
            if partners[i as usize].len() as u32 == k {
                break;
            }
            if (partners[other as usize].len() as u32) < k {
                partners[i as usize].push(other);
                partners[other as usize].push(i);
            }
        }
    }
    let from = (0..ranks).zip(&partners);
    from.flat_map(|(i, to)| to.iter().map(move |&other| (i, other))).collect()
}
