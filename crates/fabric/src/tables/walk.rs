//! A walk along a route, hop by hop. All code that follows tables uses it.

use super::{ForwardingTree, Sl2VlMapping};
use crate::Topology;
use base::{ChannelId, SwitchId};

/// The port by which each switch forwards to one destination, from a row of a table or a function.
pub trait ForwardingEntries {
    /// The port by which `at` forwards. The walk ends at a port that leads to no switch.
    fn port(&mut self, at: SwitchId) -> u16;
}

impl ForwardingEntries for ForwardingTree<'_> {
    #[inline]
    fn port(&mut self, at: SwitchId) -> u16 {
        ForwardingTree::port(*self, at.ix())
    }
}

impl<F: FnMut(SwitchId) -> u16> ForwardingEntries for F {
    #[inline]
    fn port(&mut self, at: SwitchId) -> u16 {
        self(at)
    }
}

/// One hop of a route: over a link, from switch to switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The switch that the hop leaves.
    pub at: SwitchId,
    /// The port by which the hop leaves.
    pub port: u16,
    /// The channel that the hop takes.
    pub channel: ChannelId,
    /// The switch that the hop leads to.
    pub to: SwitchId,
}

/// The hops of a route, from a switch to the one that delivers or drops.
///
/// The walk uses every cable, whether or not it works, and does not end where the route has a loop.
/// A caller that does not know that the tables have no loop must limit the number of hops.
#[derive(Debug, Clone)]
pub struct RouteWalk<'a, E> {
    on: &'a Topology,
    entries: E,
    at: SwitchId,
}

impl<'a, E: ForwardingEntries> RouteWalk<'a, E> {
    /// The walk along the route from switch `from` by these entries.
    #[inline]
    pub fn new(on: &'a Topology, entries: E, from: SwitchId) -> Self {
        Self { on, entries, at: from }
    }

    /// The switch that the walk has reached: after the last hop the one that delivers or drops.
    #[inline]
    pub fn at(&self) -> SwitchId {
        self.at
    }

    /// The hops of a packet of service level `sl` that arrives at `in_port`, each with its lane.
    #[inline]
    pub fn on_lanes(
        self,
        sl2vl: &'a Sl2VlMapping,
        sl: u8,
        in_port: u16,
    ) -> RouteWalkWithLanes<'a, E> {
        RouteWalkWithLanes { walk: self, sl2vl, sl, in_port }
    }
}

impl<'a> RouteWalk<'a, ForwardingTree<'a>> {
    /// The turns of the rest of the route: pairs of channels that it takes one after the other.
    #[inline]
    pub fn turns(mut self) -> RouteTurns<'a> {
        let held = self.next();
        RouteTurns { walk: self, held: held.map(|hop| hop.channel) }
    }
}

impl<E: ForwardingEntries> Iterator for RouteWalk<'_, E> {
    type Item = Hop;

    #[inline]
    fn next(&mut self) -> Option<Hop> {
        let (at, port) = (self.at, self.entries.port(self.at));
        let (channel, to) = self.on.hop(at, port)?;
        self.at = to;
        Some(Hop { at, port, channel, to })
    }
}

/// The hops of a route, each with the lane that a packet takes.
#[derive(Debug, Clone)]
pub struct RouteWalkWithLanes<'a, E> {
    walk: RouteWalk<'a, E>,
    sl2vl: &'a Sl2VlMapping,
    sl: u8,
    /// The port by which the packet arrived, where lanes depend on it.
    in_port: u16,
}

impl<E: ForwardingEntries> RouteWalkWithLanes<'_, E> {
    /// As [`RouteWalk::at`].
    #[inline]
    pub fn at(&self) -> SwitchId {
        self.walk.at
    }
}

impl<E: ForwardingEntries> Iterator for RouteWalkWithLanes<'_, E> {
    type Item = (Hop, u8);

    #[inline]
    fn next(&mut self) -> Option<(Hop, u8)> {
        let hop = self.walk.next()?;
        let lane = self.sl2vl.lane(hop.at, self.in_port, hop.port, self.sl);
        if let Sl2VlMapping::PerPort(_) = self.sl2vl {
            self.in_port = self.walk.on.head(hop.channel).port;
        }
        Some((hop, lane))
    }
}

/// The turns of a route.
#[derive(Debug, Clone)]
pub struct RouteTurns<'a> {
    walk: RouteWalk<'a, ForwardingTree<'a>>,
    held: Option<ChannelId>,
}

impl Iterator for RouteTurns<'_> {
    type Item = (ChannelId, ChannelId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let from = self.held?;
        self.held = self.walk.next().map(|hop| hop.channel);
        self.held.map(|to| (from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{CablePlug, NetworkRecipe, Switch, TopologyBuilder};
    use crate::tables::{NO_ROUTE, Sl2VlPortTables};
    use serde_json::Map;

    /// Switches a, b, c in a row: port 1 leads left, port 2 right, port 3 to an endpoint.
    fn row() -> Topology {
        let mut b = TopologyBuilder::new();
        let s: Vec<SwitchId> = ["a", "b", "c"].map(|n| b.switch(Switch::new(n))).to_vec();
        for pair in s.windows(2) {
            let (x, y) =
                (CablePlug { switch: pair[0], port: 2 }, CablePlug { switch: pair[1], port: 1 });
            b.link_at(x, y, crate::network::Cable::default());
        }
        for (i, s) in s.iter().enumerate() {
            let e = b.endpoint(format!("e{i}"), None);
            b.attach(e, *s, 3, crate::network::Cable::default());
        }
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    #[test]
    fn it_takes_every_hop_and_stands_at_the_last_switch() {
        let on = row();
        let mut walk = RouteWalk::new(&on, ForwardingTree::plain(&[2, 2, 3]), SwitchId(0));
        let hops: Vec<(u32, u16, u32, u32)> =
            walk.by_ref().map(|h| (h.at.0, h.port, h.channel.0, h.to.0)).collect();
        assert_eq!(hops, [(0, 2, 0, 1), (1, 2, 2, 2)]);
        assert_eq!(walk.at(), SwitchId(2));
        let turns: Vec<_> =
            RouteWalk::new(&on, ForwardingTree::plain(&[2, 2, 3]), SwitchId(0)).turns().collect();
        assert_eq!(turns, [(ChannelId(0), ChannelId(2))]);
        let mut drops = RouteWalk::new(&on, |s: SwitchId| [2, NO_ROUTE, 1][s.ix()], SwitchId(0));
        assert_eq!((drops.by_ref().count(), drops.at()), (1, SwitchId(1)));
        let loops = RouteWalk::new(&on, ForwardingTree::plain(&[2, 1, 1]), SwitchId(0));
        assert_eq!(loops.take(7).count(), 7);
    }

    #[test]
    fn the_lane_is_that_of_level_and_both_ports() {
        let on = row();
        let walk = || RouteWalk::new(&on, ForwardingTree::plain(&[2, 2, 3]), SwitchId(0));
        let lanes = |sl2vl: &Sl2VlMapping, sl| -> Vec<u8> {
            walk().on_lanes(sl2vl, sl, 3).map(|(_, lane)| lane).collect()
        };
        let levels = Sl2VlMapping::Uniform(std::array::from_fn(|sl| sl as u8 + 1));
        assert_eq!(lanes(&levels, 4), [5, 5]);
        let mut tables = Sl2VlPortTables::new(&on, [0; 16]);
        tables.set(SwitchId(0), 3, 2, [6; 16]);
        tables.set(SwitchId(1), 1, 2, [7; 16]);
        tables.set(SwitchId(1), 3, 2, [8; 16]);
        assert_eq!(lanes(&Sl2VlMapping::PerPort(tables), 0), [6, 7]);
    }
}
