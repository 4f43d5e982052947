//! A depth-first spanning tree, as deep as it can be.
//!
//! Source: Sancho, Robles, Duato, "A new methodology to compute deadlock-free routing tables for
//! irregular networks", CANPC 2000, which shows that depth-first trees spread up*/down* traffic
//! over more switches than breadth-first trees do.

use base::ChannelId;
use fabric::network::Topology;

/// A depth-first spanning tree of every connected part of a network.
pub(super) struct SpanningTree {
    /// The order in which the search found each switch: no switch stands below one that was found
    /// later.
    pub(super) rank: Vec<u32>,
    /// The channels of the tree, both directions of each link.
    pub(super) links: Vec<ChannelId>,
}

impl SpanningTree {
    /// Builds the trees. The search starts at the first switch of every connected part and goes on
    /// to the neighbour with the fewest neighbours not yet found, over the lowest port where there
    /// are several. O(switches * network radix).
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
