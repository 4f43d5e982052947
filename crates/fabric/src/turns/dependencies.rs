//! The possible edges of the channel dependency graph, numbered.

use crate::network::Topology;
use base::ChannelId;

/// A numbering of the possible dependencies of a network: from a channel to each channel that
/// leaves the switch at its head.
///
/// Their number can reach 2^32 and more, for example in a complete graph of 1,626 switches.
pub struct ChannelDependencyNumbering {
    first: Vec<usize>,
    slot: Vec<u32>,
}

impl ChannelDependencyNumbering {
    /// The numbering for `on`. O(channels).
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
            first.push(total);
        }
        Self { first, slot }
    }

    /// The number of possible dependencies.
    pub fn count(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// The numbers of the dependencies of `from` on the channels that leave its head, in port
    /// order.
    #[inline]
    pub fn of_channel(&self, from: ChannelId) -> std::ops::Range<usize> {
        self.first[from.0 as usize]..self.first[from.0 as usize + 1]
    }

    /// The number of the dependency of `from` on `to`; `to` must leave the head of `from`.
    #[inline]
    pub fn of(&self, from: ChannelId, to: ChannelId) -> usize {
        self.first[from.0 as usize] + self.slot[to.0 as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{NetworkRecipe, Switch, TopologyBuilder};

    #[test]
    fn more_than_32_bits_number_are_numbered() {
        // two switches with N cables: each channel can be followed by N channels
        let cables = 46_341_usize;
        let mut builder = TopologyBuilder::new();
        let [a, b] = ["a", "b"].map(|name| builder.switch(Switch::new(name)));
        for _ in 0..cables {
            builder.link(a, b);
        }
        let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
        let on = builder.finish(recipe).expect("two switches");
        let all = ChannelDependencyNumbering::new(&on);
        assert_eq!(all.count(), 2 * cables * cables);
        assert!(all.count() > 1 << 32);
        let last = ChannelId::from(2 * cables - 1);
        assert_eq!(all.of_channel(last), (2 * cables - 1) * cables..2 * cables * cables);
        assert_eq!(all.of(last, ChannelId::from(2 * cables - 2)), all.count() - 1);
    }
}
