//! The trait of traffic patterns, and their table.

use super::asked::PatternRequest;
use crate::destinations::PacketDestinations;
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, EndpointId, Refusal};
use std::fmt;

/// A message of a pattern: the rank that sends, and the rank that receives.
pub type RankMessage = (u32, u32);

/// Most messages that a pattern may send at once.
pub(super) const MAX_MESSAGES: u64 = 1 << 24;

/// The messages of a pattern among a number of ranks.
pub(super) trait MessagePattern: fmt::Debug + Send + Sync {
    /// How many levels it has: messages of one level are sent at once.
    fn levels(&self, _ranks: u32) -> u32 {
        1
    }

    /// An upper bound of the number of messages in any level.
    fn most_messages(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    /// The messages of a level; a rank never sends to itself.
    fn messages(&self, level: u32, ranks: u32, draw: &mut RandomStream) -> Vec<RankMessage>;

    /// The amounts that ranks send: sender, receiver, amount, each pair at most once. `None` if
    /// every message has the amount 1.
    fn amounts(&self, _ranks: u32) -> Option<Vec<(u32, u32, f64)>> {
        None
    }

    /// The distribution of destinations for a simulator. By default a rank sends to each of its
    /// receivers with the same probability, and its rate is proportional to its number of messages
    /// in all levels.
    fn destinations(&self, ranks: u32, seed: u64) -> Result<PacketDestinations, Refusal> {
        let mut draw = RandomStream::new(seed, "pattern", 0);
        let mut all = Vec::new();
        for level in 0..self.levels(ranks) {
            all.extend(self.messages(level, ranks, &mut draw));
            if all.len() as u64 > MAX_MESSAGES {
                let why = format!("more than {MAX_MESSAGES} messages");
                return Err(Refusal::new("traffic", why, "fewer endpoints, or another pattern"));
            }
        }
        let weighted: Vec<_> =
            all.iter().map(|&(a, b)| (EndpointId(a), EndpointId(b), 1.0)).collect();
        PacketDestinations::of_messages(ranks, &weighted)
    }
}

/// A row of the table of patterns.
pub(super) struct PatternKindEntry {
    /// Its name, a one-line description, and its parameters, in the order in which their values may
    /// follow the name.
    pub(super) part: PartDescription,
    /// The name of the pattern in ORCS; empty if ORCS does not have it.
    pub(super) orcs: &'static str,
    pub(super) make: fn(&PatternRequest<'_>) -> Result<Box<dyn MessagePattern>, ComputationError>,
    /// Whether the pattern depends on the switches that the ranks are on.
    pub(super) placed: bool,
}

/// The least number of factors `base` whose product is at least `ranks`.
pub(super) fn powers(base: u64, ranks: u32) -> u32 {
    let (mut levels, mut reach) = (0, 1_u64);
    while reach < u64::from(ranks) {
        (levels, reach) = (levels + 1, reach * base);
    }
    levels
}
