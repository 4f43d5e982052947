//! The paths of a routing and their turns, one after the other in a fixed order.

use crate::network::Topology;
use crate::routing::Routing;
use base::{ChannelId, SwitchId, TerminalId};

/// The rows of a table, one a layer and working terminal, each row of routes once: those to a
/// switch's terminals are often the same. A row is `layer * terminals + terminal`.
pub(crate) struct Rows {
    /// Rows that differ from the last of these before them towards the same switch, in order.
    pub(crate) distinct: Vec<usize>,
    /// All others, each with the distinct row that it equals.
    pub(super) alike: Vec<(usize, usize)>,
}

impl Rows {
    /// Those of `routing`. O(table).
    pub(crate) fn of(routing: &Routing) -> Self {
        let on: &Topology = routing.topology();
        let (mut distinct, mut alike) = (Vec::new(), Vec::new());
        let mut last: Vec<Option<(usize, &[u16])>> = vec![None; on.switches().len()];
        for (layer, t) in routing.destinations() {
            let row = layer as usize * on.terminals().len() + t.ix();
            let (home, tree) = (on.terminals()[t.ix()].plug.switch, routing.tree(layer, t));
            let same = |of: &[u16]| {
                let h = home.ix();
                let (before, after) = (of[..h] == tree[..h], of[h + 1..] == tree[h + 1..]);
                before && after && on.hop(home, of[h]) == on.hop(home, tree[h])
            };
            match last[home.ix()] {
                Some((first, of)) if same(of) => alike.push((row, first)),
                _ => {
                    last[home.ix()] = Some((row, tree));
                    distinct.push(row);
                }
            }
        }
        Self { distinct, alike }
    }
}

/// The hops of all switches towards one terminal.
#[derive(Default)]
pub(crate) struct Hops {
    /// The channel by which each switch forwards, [`Hops::NONE`] where it delivers or drops.
    pub(crate) channel: Vec<u32>,
    /// The switch that it leads to.
    pub(crate) next: Vec<u32>,
}

impl Hops {
    /// No channel.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Recomputes for `tree`, a row of the table, reusing the memory. O(switches).
    pub(crate) fn resolve(&mut self, on: &Topology, tree: &[u16]) {
        self.channel.clear();
        self.next.clear();
        for (v, &port) in tree.iter().enumerate() {
            let hop = on.hop(SwitchId::from(v), port);
            let (channel, next) = hop.map_or((Self::NONE, 0), |(c, to)| (c.0, to.0));
            self.channel.push(channel);
            self.next.push(next);
        }
    }

    /// The turn that a path takes which comes through switch `v`, and the switch it is taken at.
    #[inline]
    pub(crate) fn turn(&self, v: usize) -> Option<(ChannelId, ChannelId, usize)> {
        let (from, at) = (self.channel[v], self.next[v] as usize);
        if from == Self::NONE || self.channel[at] == Self::NONE {
            return None;
        }
        Some((ChannelId(from), ChannelId(self.channel[at]), at))
    }

    /// The turns of the path from switch `v`.
    pub(super) fn turns(&self, v: usize) -> impl Iterator<Item = (ChannelId, ChannelId)> + Clone {
        let first = self.turn(v);
        let all = std::iter::successors(first, |&(_, _, at)| self.turn(at));
        all.map(|(from, to, _)| (from, to))
    }
}

/// Calls `visit` with every path on `lane`, in a fixed order: its place in `lane_of`, its entry
/// there and its turns.
pub(super) fn each_path(
    routing: &Routing,
    lane_of: &mut [u8],
    lane: u8,
    mut visit: impl FnMut(usize, &mut u8, Turns<'_>),
) {
    let on = routing.topology();
    let sources = routing.sources();
    let switches = on.switches().len();
    for (layer, t) in routing.destinations() {
        let row = (layer as usize * on.terminals().len() + t.ix()) * switches;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug.switch;
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            if s == home || lane_of[row + s.ix()] != lane {
                continue;
            }
            let path = row + s.ix();
            visit(path, &mut lane_of[path], Turns::of(routing, tree, s));
        }
    }
}

/// The turns of the path with entry `path`.
pub(super) fn turns_of(routing: &Routing, path: usize) -> Turns<'_> {
    let on = routing.topology();
    let (row, source) = (path / on.switches().len(), path % on.switches().len());
    let (layer, terminal) = (row / on.terminals().len(), row % on.terminals().len());
    let tree = routing.tree(layer as u32, TerminalId::from(terminal));
    Turns::of(routing, tree, SwitchId::from(source))
}

/// The turns of one path: pairs of channels held one after the other.
#[derive(Clone)]
pub(crate) struct Turns<'a> {
    routing: &'a Routing,
    tree: &'a [u16],
    held: Option<(ChannelId, SwitchId)>,
}

impl<'a> Turns<'a> {
    /// The turns of the path from `source` along `tree`.
    pub(crate) fn of(routing: &'a Routing, tree: &'a [u16], source: SwitchId) -> Self {
        Self { routing, tree, held: routing.step(tree, source) }
    }
}

impl Iterator for Turns<'_> {
    type Item = (ChannelId, ChannelId);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (from, at) = self.held?;
        self.held = self.routing.step(self.tree, at);
        self.held.map(|(to, _)| (from, to))
    }
}
