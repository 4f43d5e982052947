//! Counts the routes that do not arrive, by kind of fault. All routes are judged, whereas the
//! verdict stops at the first fault.

use super::complete::{BrokenRoute, Destination, RouteFault, describe};
use base::{Interrupted, SwitchId, Watch};
use fabric::network::{PortPeer, Topology};
use fabric::tables::{ForwardingTree, NO_ROUTE, RouteWalk, Routing};

/// The kinds of fault, in the order of [`FaultCounts::of`].
pub const KINDS: [&str; 5] =
    ["missing_entry", "dead_port", "wrong_delivery", "loop", "over_the_hop_limit"];

/// The number of faulty routes between endpoints, by kind of fault.
#[derive(Debug, Clone, Default)]
pub struct FaultCounts {
    /// The routes that were judged: from every switch with endpoints to every terminal of its plane
    /// and layer.
    pub routes: u64,
    /// For each kind of [`KINDS`]: the number of such routes, and the first of them.
    pub of: [(u64, Option<BrokenRoute>); 5],
}

/// The result of following the route from one switch to the current destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RouteState {
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
    watch: &dyn Watch,
) -> Result<FaultCounts, Interrupted> {
    let on: &Topology = routing.topology();
    let sources = routing.sources();
    let mut faults = FaultCounts::default();
    let mut state = Vec::new();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("faults", i as u64, total)?;
        let (tree, home) = (routing.tree(layer, t), on.terminals()[t.ix()].plug);
        state.clear();
        state.resize(on.switches().len(), RouteState::New);
        state[home.switch.ix()] = match tree[home.switch.ix()] {
            port if port == home.port => RouteState::Arrives(0),
            NO_ROUTE => RouteState::Ends(0),
            _ => RouteState::Ends(2),
        };
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            faults.routes += 1;
            let kind = match follow(on, tree, s.ix(), &mut state) {
                RouteState::Arrives(hops) if hops > hop_limit => 4,
                RouteState::Ends(kind) => kind,
                _ => continue,
            };
            let (count, first) = &mut faults.of[kind];
            *count += 1;
            if first.is_none() {
                let to = Destination::Terminal(layer, t);
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
    state: &mut [RouteState],
) -> RouteState {
    let mut trail = Vec::new();
    let mut walk = RouteWalk::new(on, tree, SwitchId::from(source));
    let mut at = source;
    while state[at] == RouteState::New {
        state[at] = RouteState::OnTrail;
        trail.push(at);
        if walk.next().is_some_and(|hop| on.link_is_up(hop.channel.link())) {
            at = walk.at().ix();
        } else {
            state[at] = RouteState::Ends(match on.peer(SwitchId::from(at), tree[at]) {
                PortPeer::Terminal(_) => 2,
                _ if tree[at] == NO_ROUTE => 0,
                _ => 1,
            });
        }
    }
    let mut end = if state[at] == RouteState::OnTrail { RouteState::Ends(3) } else { state[at] };
    for &v in trail.iter().rev() {
        if v != at || state[v] == RouteState::OnTrail {
            if let RouteState::Arrives(hops) = &mut end {
                *hops += 1;
            }
            state[v] = end;
        }
    }
    state[source]
}
