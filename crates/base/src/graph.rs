//! The graph of switches: compressed rows, parallel links kept apart, neighbours in a stated order.

use crate::id::{ChannelId, LinkId, SwitchId};

/// An immutable undirected multigraph of switches, each link seen as two channels.
///
/// Row `v` lists the channels that leave switch `v` in the order in which its links were given.
/// Links that are down keep their id but appear in no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    offsets: Vec<u32>,
    targets: Vec<u32>,
    out: Vec<ChannelId>,
    links: usize,
}

impl Graph {
    /// A graph of `switches` vertices from the ends of its links; `None` is a link that is down.
    ///
    /// Rows follow the order of `links`. O(switches + links).
    ///
    /// # Panics
    /// When an end is not below `switches`.
    pub fn new(switches: usize, links: impl Iterator<Item = Option<(SwitchId, SwitchId)>>) -> Self {
        let ends: Vec<Option<(SwitchId, SwitchId)>> = links.collect();
        let mut offsets = vec![0_u32; switches + 1];
        for (a, b) in ends.iter().flatten() {
            offsets[a.ix() + 1] += 1;
            offsets[b.ix() + 1] += 1;
        }
        for v in 0..switches {
            offsets[v + 1] += offsets[v];
        }
        let arcs = offsets[switches] as usize;
        let mut targets = vec![0; arcs];
        let mut out = vec![ChannelId(0); arcs];
        let mut fill = offsets.clone();
        for (l, end) in ends.iter().enumerate() {
            let Some((a, b)) = end else { continue };
            let link = LinkId::from(l);
            for (from, to, channel) in [(a, b, link.forth()), (b, a, link.back())] {
                let at = fill[from.ix()] as usize;
                targets[at] = to.0;
                out[at] = channel;
                fill[from.ix()] += 1;
            }
        }
        Self { offsets, targets, out, links: ends.len() }
    }

    /// The same graph with every row sorted by `key` (a port number, say).
    #[must_use]
    pub fn with_rows_by(mut self, key: impl Fn(ChannelId) -> u32) -> Self {
        for v in 0..self.switches() {
            let row = self.row(v);
            let mut arcs: Vec<(u32, ChannelId, u32)> =
                row.clone().map(|i| (key(self.out[i]), self.out[i], self.targets[i])).collect();
            arcs.sort_unstable();
            for (i, (_, channel, target)) in row.zip(arcs) {
                self.out[i] = channel;
                self.targets[i] = target;
            }
        }
        self
    }

    /// Number of switches.
    #[inline]
    pub fn switches(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of link ids, links that are down included.
    #[inline]
    pub fn links(&self) -> usize {
        self.links
    }

    /// Number of channels that are up (twice the number of links that are up).
    #[inline]
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// The neighbours of `v`, one entry per channel (a parallel link repeats its neighbour).
    #[inline]
    pub fn neighbours(&self, v: usize) -> &[u32] {
        &self.targets[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// The channels that leave `v`, in the order of [`Graph::neighbours`].
    #[inline]
    pub fn channels(&self, v: usize) -> &[ChannelId] {
        &self.out[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    /// The range of row `v` in an array with one entry per arc.
    #[inline]
    pub fn row(&self, v: usize) -> std::ops::Range<usize> {
        self.offsets[v] as usize..self.offsets[v + 1] as usize
    }

    /// Number of channels that leave `v`.
    #[inline]
    pub fn degree(&self, v: usize) -> usize {
        (self.offsets[v + 1] - self.offsets[v]) as usize
    }

    /// Hop distances from `source` to every switch, `u32::MAX` where there is no path. O(arcs).
    pub fn distances_from(&self, source: usize) -> Vec<u32> {
        self.distances_from_any(&[source as u32])
    }

    /// Hop distances to every switch from the nearest of `sources`, `u32::MAX` where there is no
    /// path. O(arcs).
    pub fn distances_from_any(&self, sources: &[u32]) -> Vec<u32> {
        let mut dist = vec![u32::MAX; self.switches()];
        let mut queue = Vec::with_capacity(self.switches());
        for &source in sources {
            dist[source as usize] = 0;
            queue.push(source);
        }
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            head += 1;
            for &w in self.neighbours(v as usize) {
                if dist[w as usize] == u32::MAX {
                    dist[w as usize] = dist[v as usize] + 1;
                    queue.push(w);
                }
            }
        }
        dist
    }

    /// The connected component of each switch, and the number of components. Components are
    /// numbered in the order of their smallest switch.
    pub fn components(&self) -> (Vec<u32>, u32) {
        let mut component = vec![u32::MAX; self.switches()];
        let mut count = 0;
        let mut stack = Vec::new();
        for v in 0..self.switches() {
            if component[v] != u32::MAX {
                continue;
            }
            component[v] = count;
            stack.push(v as u32);
            while let Some(u) = stack.pop() {
                for &w in self.neighbours(u as usize) {
                    if component[w as usize] == u32::MAX {
                        component[w as usize] = count;
                        stack.push(w);
                    }
                }
            }
            count += 1;
        }
        (component, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: u32) -> Graph {
        Graph::new(n as usize, (0..n).map(|v| Some((SwitchId(v), SwitchId((v + 1) % n)))))
    }

    #[test]
    fn ring_distances_are_those_of_the_shorter_direction() {
        let g = ring(7);
        let expect: Vec<u32> = (0..7).map(|v: u32| v.min(7 - v)).collect();
        assert_eq!(g.distances_from(0), expect);
    }

    #[test]
    fn a_link_that_is_down_keeps_its_id_and_carries_nothing() {
        let ends = [(0, 1), (1, 2), (2, 0)];
        let g = Graph::new(
            3,
            ends.iter()
                .enumerate()
                .map(|(i, &(a, b))| (i != 1).then_some((SwitchId(a), SwitchId(b)))),
        );
        assert_eq!(g.links(), 3);
        assert_eq!(g.arcs(), 4);
        assert_eq!(g.channels(2), [ChannelId(4)]);
        assert_eq!(g.distances_from(1), [1, 0, 2]);
    }

    #[test]
    fn components_are_counted() {
        let g = Graph::new(5, [Some((SwitchId(3), SwitchId(1)))].into_iter());
        assert_eq!(g.components(), (vec![0, 1, 2, 1, 3], 4));
    }
}
