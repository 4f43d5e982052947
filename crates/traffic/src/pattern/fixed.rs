//! Patterns in which every rank sends to one and the same other, or to nobody.

use super::kind::{MessagePattern, RankMessage};
use crate::destinations::PacketDestinations;
use base::Refusal;
use base::seed::Stream;

/// The destination of every rank, itself included.
#[derive(Debug)]
pub(super) enum FixedDestinations {
    /// What a rule makes of the bits of the ranks below 2^bits; the others are idle.
    Bits {
        /// How many bits.
        bits: u32,
        /// The rule, of a rank and the number of bits.
        of: fn(u32, u32) -> u32,
    },
    /// The rank so much further, around the end.
    Around(u32),
    /// The receiver of each rank; `None` for one that is idle.
    Table(Vec<Option<u32>>),
}

impl FixedDestinations {
    fn to(&self, rank: u32, ranks: u32) -> Option<u32> {
        match self {
            Self::Bits { bits, of } => (rank >> bits == 0).then(|| of(rank, *bits)),
            Self::Around(by) => {
                Some(((u64::from(rank) + u64::from(*by)) % u64::from(ranks)) as u32)
            }
            Self::Table(to) => to[rank as usize],
        }
    }
}

impl MessagePattern for FixedDestinations {
    fn messages(&self, _: u32, ranks: u32, _: &mut Stream) -> Vec<RankMessage> {
        let to = |from| self.to(from, ranks).filter(|&to| to != from).map(|to| (from, to));
        (0..ranks).filter_map(to).collect()
    }

    fn destinations(&self, ranks: u32, _: u64) -> Result<PacketDestinations, Refusal> {
        let to: Vec<_> = (0..ranks).map(|rank| self.to(rank, ranks)).collect();
        Ok(PacketDestinations::fixed_to(&to))
    }
}
