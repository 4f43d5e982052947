//! Counts the routes that do not arrive, by kind of fault. All routes are judged, whereas the
//! verdict stops at the first fault.

use super::complete::{BrokenRoute, RouteFault, TableDestination, describe};
use base::{Interrupted, ProgressWatch, SwitchId};
use fabric::network::{PortPeer, Topology};
use fabric::tables::{ForwardingTree, NO_ROUTE, RouteWalk, Routing};

/// The kinds of fault, in the order of [`RouteFaultCounts::of`].
pub const KINDS: [&str; 5] =
    ["missing_entry", "dead_port", "wrong_delivery", "loop", "over_the_hop_limit"];

/// The number of faulty routes between endpoints, by kind of fault.
#[derive(Debug, Clone, Default)]
pub struct RouteFaultCounts {
    /// The routes that were judged: from every switch with endpoints to every terminal of its plane
    /// and layer.
    pub routes: u64,
    /// For each kind of [`KINDS`]: the number of such routes, and the first of them.
    pub of: [(u64, Option<BrokenRoute>); 5],
}

/// The result of following the route from one switch to the current destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FollowedRouteResult {
    New,
    OnTrail,
    Arrives(u32),
    Ends(usize),
}

/// Judges every route between endpoints. O(layers * terminals * switches).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn count(
    routing: &Routing,
    hop_limit: u32,
    watch: &dyn ProgressWatch,
) -> Result<RouteFaultCounts, Interrupted> {
    let on: &Topology = routing.topology();
    let sources = routing.sources();
    let mut faults = RouteFaultCounts::default();
    let mut state = Vec::new();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("faults", i as u64, total)?;
        let (tree, home) = (routing.tree(layer, t), on.terminals()[t.ix()].plug);
        state.clear();
        state.resize(on.switches().len(), FollowedRouteResult::New);
        state[home.switch.ix()] = match tree[home.switch.ix()] {
            port if port == home.port => FollowedRouteResult::Arrives(0),
            NO_ROUTE => FollowedRouteResult::Ends(0),
            _ => FollowedRouteResult::Ends(2),
        };
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            faults.routes += 1;
            let kind = match follow(on, tree, s.ix(), &mut state) {
                FollowedRouteResult::Arrives(hops) if hops > hop_limit => 4,
                FollowedRouteResult::Ends(kind) => kind,
                _ => continue,
            };
            let (count, first) = &mut faults.of[kind];
            *count += 1;
            if first.is_none() {
                let to = TableDestination::Terminal(layer, t);
                *first = Some(describe(on, tree, s.0, to, |port| fault(kind, port, hop_limit)));
            }
        }
    }
    Ok(faults)
}

fn fault(kind: usize, port: u16, hop_limit: u32) -> RouteFault {
    match kind {
        0 => RouteFault::NoRoute,
        1 => RouteFault::DeadPort(port),
        2 => RouteFault::WrongDelivery(port),
        3 => RouteFault::Loop,
        _ => RouteFault::TooLong(hop_limit),
    }
}

/// Follows the route from `source` to its end, and stores the result for every switch on it.
fn follow(
    on: &Topology,
    tree: ForwardingTree<'_>,
    source: usize,
    state: &mut [FollowedRouteResult],
) -> FollowedRouteResult {
    let mut trail = Vec::new();
    let mut walk = RouteWalk::new(on, tree, SwitchId::from(source));
    let mut at = source;
    while state[at] == FollowedRouteResult::New {
        state[at] = FollowedRouteResult::OnTrail;
        trail.push(at);
        if walk.next().is_some_and(|hop| on.link_is_up(hop.channel.link())) {
            at = walk.at().ix();
        } else {
            state[at] = FollowedRouteResult::Ends(match on.peer(SwitchId::from(at), tree[at]) {
                PortPeer::Terminal(_) => 2,
                _ if tree[at] == NO_ROUTE => 0,
                _ => 1,
            });
        }
    }
    let mut end = if state[at] == FollowedRouteResult::OnTrail {
        FollowedRouteResult::Ends(3)
    } else {
        state[at]
    };
    for &v in trail.iter().rev() {
        if v != at || state[v] == FollowedRouteResult::OnTrail {
            if let FollowedRouteResult::Arrives(hops) = &mut end {
                *hops += 1;
            }
            state[v] = end;
        }
    }
    state[source]
}
