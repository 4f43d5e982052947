//! Bundles of destinations that share a row of the tables, so that their common hops are walked
//! once.

use super::{RouteWalk, Routing, TrafficSourceSwitches};
use base::{SwitchId, TerminalId};

/// A bundle of destinations: working ones that follow one another and share a row of the tables.
pub struct DestinationBundle<'b> {
    /// The layer of the destinations.
    pub layer: u32,
    /// The terminals, at least one.
    pub terminals: &'b [TerminalId],
    /// The switches at which traffic for the terminals starts, with the working terminals on each.
    pub sources: &'b [(SwitchId, u32)],
    /// The sources from which the routes to the terminals differ in some hop. From every other
    /// switch of the plane, the routes to all terminals take the same hops.
    pub differing: &'b [(SwitchId, u32)],
    /// For each switch, whether its routes to the terminals of the bundle are not all the same: two
    /// of them part at some hop.
    pub differs: &'b [bool],
    /// The switches for which `differs` is true.
    pub from: &'b [u32],
    /// The switches that forward to different next hops for different terminals.
    pub open: &'b [u32],
}

/// The bundles of a routing, one after the other.
pub struct DestinationBundles<'a, D: Iterator> {
    routing: &'a Routing,
    sources: TrafficSourceSwitches,
    destinations: std::iter::Peekable<D>,
    terminals: Vec<TerminalId>,
    differing: Vec<(SwitchId, u32)>,
    differs: Vec<bool>,
    from: Vec<u32>,
    open: Vec<u32>,
    /// Scratch: the knowledge about each switch, and the switches of the walk so far.
    state: Vec<RouteEquality>,
    trail: Vec<usize>,
}

/// The knowledge about the routes from a switch to the destinations of a bundle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RouteEquality {
    Unknown,
    Same,
    Differs,
}

impl<'a, D: Iterator<Item = (u32, TerminalId)>> DestinationBundles<'a, D> {
    /// The bundles of these destinations.
    pub fn new(routing: &'a Routing, destinations: D) -> Self {
        let switches = routing.topology().switches().len();
        Self {
            routing,
            sources: routing.sources(),
            destinations: destinations.peekable(),
            terminals: Vec::new(),
            differing: Vec::new(),
            differs: vec![false; switches],
            from: Vec::new(),
            open: Vec::new(),
            state: vec![RouteEquality::Unknown; switches],
            trail: Vec::new(),
        }
    }

    /// The next bundle. O(switches + terminals * own entries).
    pub fn next_bundle(&mut self) -> Option<DestinationBundle<'_>> {
        let (layer, first) = self.destinations.next()?;
        let row = self.routing.row(layer, first);
        let home = |t: TerminalId| self.routing.topology().terminals()[t.ix()].plug.switch;
        let shares = |d: &(u32, TerminalId)| {
            d.0 == layer && self.routing.row(layer, d.1) == row && home(d.1) == home(first)
        };
        self.terminals.clear();
        self.terminals.push(first);
        while let Some((_, more)) = self.destinations.next_if(shares) {
            self.terminals.push(more);
        }
        if !self.open.is_empty() || self.terminals.len() > 1 {
            self.compare(layer);
        }
        let sources = self.sources.of_plane(self.routing.topology().plane_of(first));
        let Self { terminals, differing, differs, from, open, .. } = self;
        Some(DestinationBundle { layer, terminals, sources, differing, differs, from, open })
    }

    /// Finds the switches from which routes meet an entry that gives the terminals different next
    /// hops.
    fn compare(&mut self, layer: u32) {
        let on = self.routing.topology();
        let tree = self.routing.tree(layer, self.terminals[0]);
        let others = &self.terminals[1..];
        self.state.fill(RouteEquality::Unknown);
        self.open.clear();
        for v in (0..self.state.len()).filter(|&v| tree.is_own(v)) {
            let hop = |port: u16| on.hop(SwitchId::from(v), port);
            let own = tree.port(v);
            let leads_away = |t: &TerminalId| {
                let other = self.routing.tree(layer, *t).port(v);
                other != own && hop(other) != hop(own)
            };
            if others.iter().any(leads_away) {
                self.state[v] = RouteEquality::Differs;
                self.open.push(v as u32);
            }
        }
        self.differs.fill(false);
        self.differing.clear();
        self.from.clear();
        if self.open.is_empty() {
            return;
        }
        for v in 0..self.state.len() {
            let mut walk = RouteWalk::new(on, tree, SwitchId::from(v));
            self.trail.clear();
            while self.state[walk.at().ix()] == RouteEquality::Unknown {
                self.trail.push(walk.at().ix());
                // a route that returns to this switch has met no difference
                self.state[walk.at().ix()] = RouteEquality::Same;
                if walk.next().is_none() {
                    break;
                }
            }
            let found = self.state[walk.at().ix()];
            self.trail.iter().for_each(|&w| self.state[w] = found);
            if found == RouteEquality::Differs {
                self.differs[v] = true;
                self.from.push(v as u32);
            }
        }
        let plane = on.plane_of(self.terminals[0]);
        let all = self.sources.of_plane(plane).iter();
        self.differing.extend(all.filter(|(s, _)| self.differs[s.ix()]));
    }
}
