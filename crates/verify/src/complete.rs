//! Checks that every route arrives: those between endpoints, and separately those from and to
//! switches.

use super::Verdict;
use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::network::{PortPeer, Topology};
use fabric::tables::{DestinationBundles, ForwardingTree, NO_ROUTE, RouteWalk, Routing};
use std::fmt;

/// Statistics of the routes of complete tables.
///
/// Hops are links between switches. Means and histogram are over ordered pairs of a source switch
/// with endpoints and a terminal on another switch, in all layers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RouteStatistics {
    /// `histogram[h]` routes take `h` hops.
    pub histogram: Vec<u64>,
    /// The number of routes checked: from every switch with endpoints to every terminal of its
    /// plane and layer.
    pub routes: u64,
}

impl RouteStatistics {
    /// The hops of the longest route between endpoints.
    pub fn max_hops(&self) -> u32 {
        self.histogram.len().saturating_sub(1) as u32
    }

    /// Counts `routes` routes of `hops` hops; `None` for those that stay on their switch.
    fn count(&mut self, hops: Option<usize>, routes: u64) {
        self.routes += routes;
        let Some(hops) = hops else { return };
        if self.histogram.len() <= hops {
            self.histogram.resize(hops + 1, 0);
        }
        self.histogram[hops] += routes;
    }

    /// Adds the counts of `other`.
    fn add(&mut self, other: &Self) {
        self.routes += other.routes - other.histogram.iter().sum::<u64>();
        for (hops, &routes) in other.histogram.iter().enumerate().filter(|(_, n)| **n > 0) {
            self.count(Some(hops), routes);
        }
    }

    /// Mean number of hops; 0 when there is no route between switches.
    pub fn mean_hops(&self) -> f64 {
        let routes: u64 = self.histogram.iter().sum();
        let hops: u64 = self.histogram.iter().enumerate().map(|(h, n)| h as u64 * n).sum();
        if routes == 0 { 0.0 } else { hops as f64 / routes as f64 }
    }
}

/// A destination of a forwarding table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableDestination {
    /// A terminal, by one of its layers.
    Terminal(u32, TerminalId),
    /// A switch itself.
    Switch(SwitchId),
}

/// The reason why a route does not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RouteFault {
    /// The last switch has no entry for the destination.
    NoRoute,
    /// The last switch forwards to a port without a working cable.
    DeadPort(u16),
    /// The last switch delivers to another terminal.
    WrongDelivery(u16),
    /// The route returns to a switch that it has visited.
    Loop,
    /// The route takes more hops than allowed.
    TooLong(u32),
}

/// A route that does not arrive: the switches that it visits, and what goes wrong at the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRoute {
    /// The destination of the route.
    pub to: TableDestination,
    /// The names of the switches that the route visits, in order.
    pub path: Vec<String>,
    /// The destination's name.
    pub destination: String,
    /// The reason why the route does not arrive.
    pub fault: RouteFault,
}

impl fmt::Display for BrokenRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.path.first().map_or("", String::as_str);
        let last = self.path.last().map_or("", String::as_str);
        write!(f, "route from {from} to {}", self.destination)?;
        match self.to {
            TableDestination::Terminal(layer, _) if layer > 0 => write!(f, " (layer {layer})")?,
            _ => {}
        }
        match self.fault {
            RouteFault::NoRoute => write!(f, ": {last} has no entry")?,
            RouteFault::DeadPort(port) => {
                write!(f, ": {last} sends it to port {port}, which is dead")?;
            }
            RouteFault::WrongDelivery(port) => {
                write!(f, ": {last} delivers it at port {port}, to somebody else")?;
            }
            RouteFault::Loop => write!(f, ": it comes back to {last}")?,
            RouteFault::TooLong(limit) => write!(f, ": it takes more than {limit} hops")?,
        }
        write!(f, " (path {})", self.path.join(" > "))
    }
}

/// The mark of a switch whose route is not followed yet.
const UNKNOWN: u32 = u32::MAX;
/// The mark of a switch on the route that is being followed.
const ON_TRAIL: u32 = u32::MAX - 1;

/// The two verdicts: on routes between endpoints, and on routes that only management packets use
/// (from switches without endpoints, and to switches). The witness of the second is the number of
/// routes.
pub(super) type RouteVerdicts = (Verdict<RouteStatistics, BrokenRoute>, Verdict<u64, BrokenRoute>);

/// Checks all routes. O(layers * terminals * switches); where terminals of a switch share their
/// routes, O(layers * switches^2).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn check(
    routing: &Routing,
    hop_limit: u32,
    watch: &dyn ProgressWatch,
) -> Result<RouteVerdicts, Interrupted> {
    let on: &Topology = routing.topology();
    let mut walk = RouteArrivalChecker::new(routing, hop_limit);
    let mut reach = RouteStatistics::default();
    let mut management = Verdict::Holds(0);
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut done = 0;
    let mut bundles = DestinationBundles::new(routing, routing.destinations());
    while let Some(bundle) = bundles.next_bundle() {
        let mut shared = RouteStatistics::default();
        for (i, &t) in bundle.terminals.iter().enumerate() {
            watch.tick("completeness", done, total)?;
            done += 1;
            let home = on.terminals()[t.ix()].plug;
            let to = TableDestination::Terminal(bundle.layer, t);
            let tree = routing.tree(bundle.layer, t);
            let again = (i > 0).then_some(bundle.from);
            if let Err(broken) = walk.start(tree, home.switch, home.port, to, again) {
                return Ok((Verdict::Fails(broken), management));
            }
            for &(s, _) in if i == 0 { bundle.sources } else { bundle.differing } {
                if let Err(broken) = walk.from(tree, s, to) {
                    return Ok((Verdict::Fails(broken), management));
                }
                let hops = (s != home.switch).then(|| walk.hops[s.ix()] as usize);
                reach.count(hops, 1);
                if !bundle.differs[s.ix()] {
                    shared.count(hops, 1);
                }
            }
            if i > 0 {
                reach.add(&shared);
            }
            management = walk.manage(tree, home.switch, to, management, again);
        }
    }
    for d in (0..on.switches().len()).map(SwitchId::from).filter(|d| on.switches()[d.ix()].up) {
        watch.tick("completeness", done, total)?;
        let (tree, to) =
            (ForwardingTree::plain(routing.tree_to_switch(d)), TableDestination::Switch(d));
        match walk.start(tree, d, 0, to, None) {
            Ok(()) => management = walk.manage(tree, d, to, management, None),
            Err(broken) => return Ok((Verdict::Holds(reach), Verdict::Fails(broken))),
        }
    }
    Ok((Verdict::Holds(reach), management))
}

/// The check of all routes to one destination after the other.
struct RouteArrivalChecker<'a> {
    routing: &'a Routing,
    /// The number of hops from each switch to the current destination.
    hops: Vec<u32>,
    trail: Vec<u32>,
    hop_limit: u32,
    /// The working switches of each plane.
    by_plane: Vec<Vec<u32>>,
}

impl<'a> RouteArrivalChecker<'a> {
    fn new(routing: &'a Routing, hop_limit: u32) -> Self {
        let on = routing.topology();
        let mut by_plane = vec![Vec::new(); usize::from(on.planes())];
        for (s, switch) in (0..).zip(on.switches()).filter(|(_, switch)| switch.up) {
            by_plane[usize::from(switch.plane)].push(s);
        }
        let hops = vec![UNKNOWN; on.switches().len()];
        Self { routing, hops, trail: Vec::new(), hop_limit, by_plane }
    }

    /// Starts with a destination on switch `home`, whose own table must deliver at `port`. If
    /// `again` is given, only the routes from those switches are followed again, and the results
    /// for others are kept.
    fn start(
        &mut self,
        tree: ForwardingTree<'_>,
        home: SwitchId,
        port: u16,
        to: TableDestination,
        again: Option<&[u32]>,
    ) -> Result<(), BrokenRoute> {
        match again {
            Some(again) => again.iter().for_each(|&s| self.hops[s as usize] = UNKNOWN),
            None => self.hops.fill(UNKNOWN),
        }
        if tree[home.ix()] != port {
            let fault = match tree[home.ix()] {
                NO_ROUTE => RouteFault::NoRoute,
                other => RouteFault::WrongDelivery(other),
            };
            return Err(self.broken(tree, home.0, to, fault));
        }
        self.hops[home.ix()] = 0;
        Ok(())
    }

    /// Follows the route from `source` until it reaches a switch whose route is known to arrive.
    fn from(
        &mut self,
        tree: ForwardingTree<'_>,
        source: SwitchId,
        to: TableDestination,
    ) -> Result<(), BrokenRoute> {
        let on: &Topology = self.routing.topology();
        let mut walk = RouteWalk::new(on, tree, source);
        self.trail.clear();
        while self.hops[walk.at().ix()] == UNKNOWN {
            let at = walk.at();
            self.trail.push(at.0);
            self.hops[at.ix()] = ON_TRAIL; // meeting this mark again closes a loop
            if !walk.next().is_some_and(|hop| on.link_is_up(hop.channel.link())) {
                let fault = dead_end(on, at, tree[at.ix()]);
                return Err(self.broken(tree, source.0, to, fault));
            }
        }
        let mut hops = self.hops[walk.at().ix()];
        if hops == ON_TRAIL {
            return Err(self.broken(tree, source.0, to, RouteFault::Loop));
        }
        for &v in self.trail.iter().rev() {
            hops += 1;
            self.hops[v as usize] = hops;
        }
        if self.hops[source.ix()] > self.hop_limit {
            return Err(self.broken(tree, source.0, to, RouteFault::TooLong(self.hop_limit)));
        }
        Ok(())
    }

    /// Checks the routes of management packets, unless one has failed already, and counts them. If
    /// `again` is given, only the routes from those switches are followed again.
    fn manage(
        &mut self,
        tree: ForwardingTree<'_>,
        home: SwitchId,
        to: TableDestination,
        so_far: Verdict<u64, BrokenRoute>,
        again: Option<&[u32]>,
    ) -> Verdict<u64, BrokenRoute> {
        let Verdict::Holds(mut routes) = so_far else { return so_far };
        let plane = usize::from(self.routing.topology().switches()[home.ix()].plane);
        let all = std::mem::take(&mut self.by_plane[plane]);
        let belongs = |s: &&u32| again.is_none() || all.binary_search(s).is_ok();
        let mut broken =
            again.unwrap_or(&all).iter().filter(belongs).map(|&s| self.from(tree, SwitchId(s), to));
        let broken = broken.find_map(Result::err);
        routes += all.len() as u64;
        self.by_plane[plane] = all;
        broken.map_or(Verdict::Holds(routes), Verdict::Fails)
    }

    fn broken(
        &self,
        tree: ForwardingTree<'_>,
        source: u32,
        to: TableDestination,
        fault: RouteFault,
    ) -> BrokenRoute {
        describe(self.routing.topology(), tree, source, to, |_| fault)
    }
}

/// Describes the route from `source`. `fault` makes the fault from the port at the last switch.
pub(super) fn describe(
    on: &Topology,
    tree: ForwardingTree<'_>,
    source: u32,
    to: TableDestination,
    fault: impl FnOnce(u16) -> RouteFault,
) -> BrokenRoute {
    let name = |s: usize| on.switches()[s].name.clone();
    let mut at = source as usize;
    let mut seen = vec![false; on.switches().len()];
    let mut path = vec![name(at)];
    let walk = RouteWalk::new(on, tree, SwitchId(source));
    for hop in walk.take_while(|hop| on.link_is_up(hop.channel.link())) {
        if std::mem::replace(&mut seen[hop.at.ix()], true) {
            break;
        }
        at = hop.to.ix();
        path.push(name(at));
    }
    let destination = match to {
        TableDestination::Switch(s) => name(s.ix()),
        TableDestination::Terminal(_, t) => {
            let terminal = &on.terminals()[t.ix()];
            on.endpoints()[terminal.endpoint.ix()].name.clone()
        }
    };
    BrokenRoute { to, path, destination, fault: fault(tree[at]) }
}

fn dead_end(on: &Topology, at: SwitchId, port: u16) -> RouteFault {
    match (port, on.peer(at, port)) {
        (NO_ROUTE, _) => RouteFault::NoRoute,
        (port, PortPeer::Terminal(_)) => RouteFault::WrongDelivery(port),
        (port, _) => RouteFault::DeadPort(port),
    }
}
