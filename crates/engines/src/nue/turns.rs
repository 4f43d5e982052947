//! The turns that shortest routes take, and how much traffic takes each.
//!
//! Source: Domke, Hoefler, Matsuoka, as in [`super`]. The traffic is one route from every endpoint
//! to every endpoint, split evenly over the minimal next hops of each switch.

use crate::trees::NextHopTree;
use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use fabric::turns::ChannelDependencyNumbering;

/// Sums the traffic of turns, destination by destination.
pub(super) struct TurnTrafficCounter<'a> {
    on: &'a Topology,
    dependencies: &'a ChannelDependencyNumbering,
    endpoints: &'a [u32],
    /// The traffic of each dependency; `used` lists the dependencies with traffic.
    traffic: Vec<f64>,
    used: Vec<(ChannelId, ChannelId)>,
    tree: NextHopTree,
    through: Vec<f64>,
    /// By switch, its index in the order of `tree`.
    place: Vec<u32>,
}

impl<'a> TurnTrafficCounter<'a> {
    pub(super) fn new(
        on: &'a Topology,
        dependencies: &'a ChannelDependencyNumbering,
        endpoints: &'a [u32],
    ) -> Self {
        Self {
            on,
            dependencies,
            endpoints,
            traffic: vec![0.0; dependencies.count()],
            used: Vec::new(),
            tree: NextHopTree::default(),
            through: vec![0.0; on.switches().len()],
            place: vec![0; on.switches().len()],
        }
    }

    /// Adds the traffic to the endpoints of switch `to`. O(arcs + turns).
    pub(super) fn add(&mut self, to: SwitchId) {
        self.tree.rebuild(self.on, to, None);
        for (i, &v) in (0..).zip(&self.tree.order) {
            self.place[v as usize] = i;
        }
        for &v in &self.tree.order {
            let (from, there) = (self.endpoints[v as usize], self.endpoints[to.ix()]);
            self.through[v as usize] = f64::from(from) * f64::from(there);
        }
        // from the farthest switch on, so that the traffic through a switch is complete when the
        // switch is reached
        for i in (0..self.tree.order.len()).rev() {
            let hops = self.tree.hops(i);
            let each = self.through[self.tree.order[i] as usize] / hops.len() as f64;
            if each == 0.0 {
                continue;
            }
            for &(channel, next) in hops.iter().filter(|(_, next)| *next != to.0) {
                self.through[next as usize] += each;
                let onward = self.tree.hops(self.place[next as usize] as usize);
                for &(then, _) in onward {
                    let turn = &mut self.traffic[self.dependencies.of(channel, then)];
                    if *turn == 0.0 {
                        self.used.push((channel, then));
                    }
                    *turn += each / onward.len() as f64;
                }
            }
        }
    }

    /// Resets the counter, and returns the turns that had traffic.
    pub(super) fn drain(&mut self) -> Vec<(ChannelId, ChannelId)> {
        for &(from, to) in &self.used {
            self.traffic[self.dependencies.of(from, to)] = 0.0;
        }
        std::mem::take(&mut self.used)
    }

    /// The traffic of the turns counted since the last call. It resets the counter.
    pub(super) fn take(&mut self) -> TurnTraffic {
        let channels = self.on.graph().links() * 2;
        let one = |&(from, to): &(ChannelId, ChannelId)| {
            (from.0, to.0, self.traffic[self.dependencies.of(from, to)])
        };
        let turns: Vec<(u32, u32, f64)> = self.used.iter().map(one).collect();
        self.drain();
        TurnTraffic {
            into: TurnTrafficLists::new(channels, turns.iter().map(|&(a, b, t)| (b, a, t))),
            out_of: TurnTrafficLists::new(channels, turns.iter().copied()),
        }
    }
}

/// The traffic of all turns that have any.
pub(super) struct TurnTraffic {
    /// By the channel that a turn leads to: the channel it comes from, and the traffic.
    pub(super) into: TurnTrafficLists,
    /// By the channel that a turn comes from: the channel it leads to, and the traffic.
    pub(super) out_of: TurnTrafficLists,
}

/// For each channel, a list of other channels with the traffic of the turn.
pub(super) struct TurnTrafficLists {
    first: Vec<u32>,
    entries: Vec<(u32, f64)>,
}

impl TurnTrafficLists {
    fn new(channels: usize, all: impl Iterator<Item = (u32, u32, f64)> + Clone) -> Self {
        let mut first = vec![0; channels + 1];
        for (row, _, _) in all.clone() {
            first[row as usize + 1] += 1;
        }
        for c in 0..channels {
            first[c + 1] += first[c];
        }
        let mut entries = vec![(0, 0.0); first[channels] as usize];
        let mut free = first.clone();
        for (row, other, traffic) in all {
            let at = &mut free[row as usize];
            entries[*at as usize] = (other, traffic);
            *at += 1;
        }
        Self { first, entries }
    }

    #[inline]
    pub(super) fn of(&self, channel: usize) -> &[(u32, f64)] {
        &self.entries[self.first[channel] as usize..self.first[channel + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sssp::endpoints_per_switch;
    use fabric::network::parse_inline;
    use families::family;

    /// Traffic of every turn, by walking all shortest routes of all pairs one after the other.
    fn walked(on: &Topology) -> Vec<(u32, u32, f64)> {
        let mut found = std::collections::BTreeMap::new();
        for d in 0..on.switches().len() {
            let distance = on.graph().distances_from(d);
            for s in (0..on.switches().len()).filter(|&s| s != d) {
                let mut open = vec![(s, None::<ChannelId>, 1.0)];
                while let Some((at, last, share)) = open.pop() {
                    let nearer: Vec<ChannelId> = on
                        .graph()
                        .channels(at)
                        .iter()
                        .copied()
                        .filter(|c| distance[on.head(*c).switch.ix()] + 1 == distance[at])
                        .collect();
                    for &c in &nearer {
                        let own = share / nearer.len() as f64;
                        if let Some(last) = last {
                            *found.entry((last.0, c.0)).or_insert(0.0) += own;
                        }
                        open.push((on.head(c).switch.ix(), Some(c), own));
                    }
                }
            }
        }
        found.into_iter().map(|((a, b), t)| (a, b, t)).collect()
    }

    #[test]
    fn traffic_is_that_of_all_routes_walked() {
        for inline in ["torus:shape=4x3,p=1", "slim_fly:q=3,p=1"] {
            let recipe = parse_inline(inline).unwrap();
            let on = family(&recipe.family).unwrap().build(&recipe.params).unwrap();
            let (dependencies, endpoints) =
                (ChannelDependencyNumbering::new(&on), endpoints_per_switch(&on));
            let mut counter = TurnTrafficCounter::new(&on, &dependencies, &endpoints);
            (0..on.switches().len()).for_each(|d| counter.add(SwitchId::from(d)));
            let turns = counter.take();
            let mut seen: Vec<(u32, u32, f64)> = (0..on.links().len() as u32 * 2)
                .flat_map(|c| turns.out_of.of(c as usize).iter().map(move |&(to, t)| (c, to, t)))
                .collect();
            seen.sort_unstable_by_key(|turn| (turn.0, turn.1));
            let expected = walked(&on);
            assert_eq!(seen.len(), expected.len());
            for (a, b) in seen.iter().zip(&expected) {
                assert!((a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() < 1e-9, "{a:?} {b:?}");
                assert!(turns.into.of(b.1 as usize).iter().any(|(from, _)| *from == b.0));
            }
        }
    }
}
