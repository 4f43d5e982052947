//! Patterns in which every rank always sends to the same rank, or is idle.

use super::kind::{MessagePattern, RankMessage};
use crate::destinations::PacketDestinations;
use base::Refusal;
use base::seed::RandomStream;

/// The destination of every rank; a rank may send to itself.
#[derive(Debug)]
pub(super) enum FixedDestinations {
    /// A function of the bits of the ranks below 2^bits; the other ranks are idle.
    Bits {
        /// The number of bits.
        bits: u32,
        /// The function, of a rank and the number of bits.
        of: fn(u32, u32) -> u32,
    },
    /// The rank's number plus this, modulo the number of ranks.
    Around(u32),
    /// The receiver of each rank; `None` if the rank is idle.
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
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        let to = |from| self.to(from, ranks).filter(|&to| to != from).map(|to| (from, to));
        (0..ranks).filter_map(to).collect()
    }

    fn destinations(&self, ranks: u32, _: u64) -> Result<PacketDestinations, Refusal> {
        let to: Vec<_> = (0..ranks).map(|rank| self.to(rank, ranks)).collect();
        Ok(PacketDestinations::fixed_to(&to))
    }
}
