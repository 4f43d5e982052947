//! A spanning tree that goes as deep as it can.
//!
//! Source: that depth first trees spread the load that has to go up and down over more switches
//! than breadth first ones is from Sancho, Robles, Duato, "A new methodology to compute
//! deadlock-free routing tables for irregular networks", CANPC 2000.

use base::ChannelId;
use fabric::network::Topology;

/// A spanning tree of every connected part.
pub(super) struct Spine {
    /// By switch, when it was found: none of those before is below it.
    pub(super) rank: Vec<u32>,
    /// The channels of the tree in both directions.
    pub(super) links: Vec<ChannelId>,
}

impl Spine {
    /// From the first switch of every part on to the neighbour with the fewest neighbours left to
    /// be found, the lowest port where there are several. O(switches * network radix).
    pub(super) fn new(on: &Topology) -> Self {
        let graph = on.graph();
        let n = graph.switches();
        let mut own = Self { rank: vec![u32::MAX; n], links: Vec::new() };
        let mut left: Vec<usize> = (0..n).map(|v| graph.degree(v)).collect();
        let mut found = 0;
        for root in 0..n {
            let mut trail = if own.rank[root] == u32::MAX { vec![root] } else { Vec::new() };
            while let Some(&v) = trail.last() {
                if own.rank[v] == u32::MAX {
                    own.rank[v] = found;
                    found += 1;
                    graph.neighbours(v).iter().for_each(|w| left[*w as usize] -= 1);
                }
                let on_ward = graph.neighbours(v).iter().zip(graph.channels(v));
                let open = on_ward.filter(|(w, _)| own.rank[**w as usize] == u32::MAX);
                match open.min_by_key(|(w, _)| left[**w as usize]) {
                    Some((&w, &channel)) => {
                        own.links.extend([channel, channel.reverse()]);
                        trail.push(w as usize);
                    }
                    None => {
                        trail.pop();
                    }
                }
            }
        }
        own
    }
}
