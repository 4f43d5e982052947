//! The channel dependency graph's possible edges, numbered.

use crate::network::Topology;
use base::ChannelId;

/// Numbers the possible dependencies of a network: from a channel to each channel that leaves the
/// switch at its head.
pub struct Dependencies {
    first: Vec<u32>,
    slot: Vec<u32>,
}

impl Dependencies {
    /// The numbering for `on`. O(channels).
    ///
    /// # Panics
    /// When there are 2^32 possible dependencies or more.
    pub fn new(on: &Topology) -> Self {
        let graph = on.graph();
        let channels = graph.links() * 2;
        let mut slot = vec![u32::MAX; channels];
        for s in 0..graph.switches() {
            for (i, c) in graph.channels(s).iter().enumerate() {
                slot[c.0 as usize] = i as u32;
            }
        }
        let mut first = Vec::with_capacity(channels + 1);
        let mut total = 0_usize;
        first.push(0);
        for c in 0..channels {
            if slot[c] != u32::MAX {
                total += graph.degree(on.head(ChannelId::from(c)).switch.ix());
            }
            first.push(u32::try_from(total).expect("fewer than 2^32 dependencies"));
        }
        Self { first, slot }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.first[self.first.len() - 1] as usize
    }

    /// The numbers of the dependencies of `from`: on the channels that leave its head, in port
    /// order.
    #[inline]
    pub fn of_channel(&self, from: ChannelId) -> std::ops::Range<usize> {
        self.first[from.0 as usize] as usize..self.first[from.0 as usize + 1] as usize
    }

    /// The number of the dependency of `from` on `to`; `to` must leave the head of `from`.
    #[inline]
    pub fn of(&self, from: ChannelId, to: ChannelId) -> usize {
        (self.first[from.0 as usize] + self.slot[to.0 as usize]) as usize
    }
}
