//! `uniform`: every packet goes to any rank, the sender included, all as likely.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2; that the sender is one of them is BookSim's rule, so that 1 in N packets stays at home.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use crate::destinations::PacketDestinations;
use base::Refusal;
use base::part::PartDescription;
use base::seed::RandomStream;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("uniform", "everybody to any endpoint, all equally likely"),
    orcs: "",
    make: |_| Ok(Box::new(UniformPattern)),
    placed: false,
};

/// The pattern: as messages, each rank sends one to a random rank; messages to itself are left out.
#[derive(Debug)]
struct UniformPattern;

impl MessagePattern for UniformPattern {
    fn messages(&self, _: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage> {
        let drawn = (0..ranks).map(|from| (from, draw.below(ranks.into()) as u32));
        drawn.filter(|(from, to)| from != to).collect()
    }

    fn destinations(&self, ranks: u32, _: u64) -> Result<PacketDestinations, Refusal> {
        Ok(PacketDestinations::uniform(ranks))
    }
}
