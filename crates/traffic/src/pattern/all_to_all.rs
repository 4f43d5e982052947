//! `all_to_all`: everybody sends to everybody else at once.

use super::asked::PatternRequest;
use super::kind::{MAX_MESSAGES, MessagePattern, PatternKindEntry, RankMessage};
use crate::destinations::PacketDestinations;
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, Refusal};

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("all_to_all", "everybody to everybody else at once"),
    orcs: "all_to_all",
    make,
    placed: false,
};

fn make(asked: &PatternRequest<'_>) -> Result<Box<dyn MessagePattern>, ComputationError> {
    let ranks = asked.ranks;
    if !asked.drawn && u64::from(ranks) * u64::from(ranks - 1) > MAX_MESSAGES {
        let most = MAX_MESSAGES.isqrt();
        let why = format!("all_to_all among {ranks} endpoints");
        return Err(Refusal::new("endpoints", why, format!("at most {most}")).into());
    }
    Ok(Box::new(AllToAllPattern))
}

/// The pattern with a message for every ordered pair of ranks.
#[derive(Debug)]
struct AllToAllPattern;

impl MessagePattern for AllToAllPattern {
    fn most_messages(&self, ranks: u32) -> u64 {
        u64::from(ranks) * (u64::from(ranks) - 1)
    }

    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        let to = |a| (0..ranks).filter(move |&b| b != a).map(move |b| (a, b));
        (0..ranks).flat_map(to).collect()
    }

    fn destinations(&self, ranks: u32, _: u64) -> Result<PacketDestinations, Refusal> {
        Ok(PacketDestinations::others(ranks))
    }
}
