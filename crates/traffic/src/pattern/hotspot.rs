//! `hotspot`: every packet goes to one of a few ranks, by their weights; these send too.
//!
//! Source: Pfister, Norton, "Hot spot contention and combining in multistage interconnection
//! networks", ISCA 1985; with weights, BookSim's `hotspot`.

use super::asked::PatternRequest;
use super::kind::{MAX_MESSAGES, MessagePattern, PatternKindEntry, RankMessage};
use crate::destinations::PacketDestinations;
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "hotspot",
        "everybody to one of the ranks named, in proportion to their weights",
    )
    .takes::<HotspotPatternParameters>(),
    orcs: "",
    make,
    placed: false,
};

/// The parameter of hot spots.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "HotspotParameters")]
struct HotspotPatternParameters {
    /// The ranks that receive, as `RANK` or `RANK=WEIGHT`; a weight is 1 where it is not given.
    #[serde(default = "first")]
    at: Vec<String>,
}

fn first() -> Vec<String> {
    vec!["0".to_owned()]
}

/// The most ranks that can be hot.
const MOST_HOT: usize = 1 << 12;

/// The hot ranks with their weights, each rank once.
#[derive(Debug)]
struct HotspotPattern(Vec<(u32, u32)>);

fn make(asked: &PatternRequest<'_>) -> Result<Box<dyn MessagePattern>, ComputationError> {
    let parsed = |word: &str| -> Option<(u32, u32)> {
        let (rank, weight) = word.split_once('=').unwrap_or((word, "1"));
        Some((rank.parse().ok()?, weight.parse().ok()?))
    };
    let known =
        |&(rank, weight): &(u32, u32)| rank < asked.ranks && (1..=1 << 20).contains(&weight);
    let mut hot: Vec<(u32, u32)> = Vec::new();
    for word in asked.read::<HotspotPatternParameters>()?.at {
        let spot = parsed(&word).filter(known);
        let spot = spot.filter(|s| hot.len() < MOST_HOT && hot.iter().all(|h| h.0 != s.0));
        hot.push(spot.ok_or_else(|| {
            let last = asked.ranks - 1;
            asked.bad(format!(
                "endpoints 0 to {last}, each once and {MOST_HOT} at most, with weights 1 to \
                 1048576, such as {last}=3,0"
            ))
        })?);
    }
    if !asked.drawn && hot.len() as u64 * u64::from(asked.ranks) > MAX_MESSAGES {
        return Err(asked.bad(format!("at most {}", MAX_MESSAGES / u64::from(asked.ranks))).into());
    }
    Ok(Box::new(HotspotPattern(hot)))
}

impl MessagePattern for HotspotPattern {
    fn messages(&self, _: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        let sum: u64 = self.0.iter().map(|hot| u64::from(hot.1)).sum();
        let mut one = || {
            let mut left = draw.below(sum);
            let here = self.0.iter().find(|hot| match left.checked_sub(hot.1.into()) {
                None => true,
                Some(rest) => {
                    left = rest;
                    false
                }
            });
            here.map_or(0, |hot| hot.0)
        };
        (0..ranks).map(|from| (from, one())).filter(|(from, to)| from != to).collect()
    }

    fn amounts(&self, ranks: u32) -> Option<Vec<(u32, u32, f64)>> {
        let sum: u64 = self.0.iter().map(|hot| u64::from(hot.1)).sum();
        let from =
            |from| self.0.iter().map(move |hot| (from, hot.0, f64::from(hot.1) / sum as f64));
        Some((0..ranks).flat_map(from).filter(|(from, to, _)| from != to).collect())
    }

    fn destinations(&self, ranks: u32, _: u64) -> Result<PacketDestinations, Refusal> {
        let weighted: Vec<_> = self.0.iter().map(|hot| (hot.0, f64::from(hot.1))).collect();
        Ok(PacketDestinations::weighted(ranks, &weighted))
    }
}
