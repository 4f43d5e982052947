//! Shortest-path trees towards one switch: the part that all engines share.

use crate::network::Topology;
use base::{ChannelId, SwitchId};

/// The next channel of each switch towards one destination, where it is settled beforehand.
pub type Fixed = Vec<Option<ChannelId>>;

/// All minimal next hops towards one destination switch.
///
/// `order` lists the switches that reach the destination, nearest first, the destination itself
/// left out; `hops[starts[i]..starts[i + 1]]` are the channels by which `order[i]` comes one hop
/// nearer, in port order, each with the switch it leads to.
#[derive(Debug, Default)]
pub struct MinimalTree {
    /// Switches by distance.
    pub order: Vec<u32>,
    starts: Vec<u32>,
    hops: Vec<(ChannelId, u32)>,
    distance: Vec<u32>,
}

impl MinimalTree {
    /// Recomputes for `destination`, reusing the memory. Where the next channel of a switch is
    /// `fixed` the switch has no other, and distances are those that remain. O(arcs).
    pub fn rebuild(&mut self, on: &Topology, destination: SwitchId, fixed: Option<&Fixed>) {
        let graph = on.graph();
        let may = |v: u32, c: ChannelId| match fixed.and_then(|f| f[v as usize]) {
            Some(own) => own == c,
            None => true,
        };
        self.distance.clear();
        self.distance.resize(graph.switches(), u32::MAX);
        self.order.clear();
        self.starts.clear();
        self.hops.clear();
        self.distance[destination.ix()] = 0;
        self.order.push(destination.0);
        let mut head = 0;
        while let Some(&v) = self.order.get(head) {
            head += 1;
            for (&w, c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
                if self.distance[w as usize] == u32::MAX && may(w, c.reverse()) {
                    self.distance[w as usize] = self.distance[v as usize] + 1;
                    self.order.push(w);
                }
            }
        }
        self.order.remove(0);
        self.starts.push(0);
        for &v in &self.order {
            let nearer = self.distance[v as usize] - 1;
            let row = graph.neighbours(v as usize).iter().zip(graph.channels(v as usize));
            let minimal = row.filter(|(w, c)| self.distance[**w as usize] == nearer && may(v, **c));
            self.hops.extend(minimal.map(|(&w, &c)| (c, w)));
            self.starts.push(self.hops.len() as u32);
        }
    }

    /// The minimal next hops of the `i`-th switch of the order.
    #[inline]
    pub fn hops(&self, i: usize) -> &[(ChannelId, u32)] {
        &self.hops[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}
