//! How many routes do not arrive, and why: all are judged, where the verdict stops at the first.

use super::complete::{Break, Destination, Fault, tell};
use base::{Interrupted, SwitchId, Watch};
use fabric::network::{Peer, Topology};
use fabric::tables::{NO_ROUTE, Routing, Tree, Walk};

/// The kinds of fault, in the order of [`Faults::of`].
pub const KINDS: [&str; 5] =
    ["missing_entry", "dead_port", "wrong_delivery", "loop", "over_the_hop_limit"];

/// What routes between endpoints come to.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// Routes judged: from every switch with endpoints to every terminal of its plane and layer.
    pub routes: u64,
    /// By kind, as in [`KINDS`]: how many routes end so, and the first of them.
    pub of: [(u64, Option<Break>); 5],
}

/// A switch as seen from one destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnTrail,
    Arrives(u32),
    Ends(usize),
}

/// Judges every route between endpoints. O(layers * terminals * switches).
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn count(routing: &Routing, hop_limit: u32, watch: &dyn Watch) -> Result<Faults, Interrupted> {
    let on: &Topology = routing.topology();
    let sources = routing.sources();
    let mut faults = Faults::default();
    let mut state = Vec::new();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("faults", i as u64, total)?;
        let (tree, home) = (routing.tree(layer, t), on.terminals()[t.ix()].plug);
        state.clear();
        state.resize(on.switches().len(), State::New);
        state[home.switch.ix()] = match tree[home.switch.ix()] {
            port if port == home.port => State::Arrives(0),
            NO_ROUTE => State::Ends(0),
            _ => State::Ends(2),
        };
        for &(s, _) in sources.of_plane(on.plane_of(t)) {
            faults.routes += 1;
            let kind = match follow(on, tree, s.ix(), &mut state) {
                State::Arrives(hops) if hops > hop_limit => 4,
                State::Ends(kind) => kind,
                _ => continue,
            };
            let (count, first) = &mut faults.of[kind];
            *count += 1;
            if first.is_none() {
                let to = Destination::Terminal(layer, t);
                *first = Some(tell(on, tree, s.0, to, |port| fault(kind, port, hop_limit)));
            }
        }
    }
    Ok(faults)
}

fn fault(kind: usize, port: u16, hop_limit: u32) -> Fault {
    match kind {
        0 => Fault::NoRoute,
        1 => Fault::DeadPort(port),
        2 => Fault::WrongDelivery(port),
        3 => Fault::Loop,
        _ => Fault::TooLong(hop_limit),
    }
}

/// What the route from `source` comes to; remembered for every switch on it.
fn follow(on: &Topology, tree: Tree<'_>, source: usize, state: &mut [State]) -> State {
    let mut trail = Vec::new();
    let mut walk = Walk::new(on, tree, SwitchId::from(source));
    let mut at = source;
    while state[at] == State::New {
        state[at] = State::OnTrail;
        trail.push(at);
        if walk.next().is_some_and(|hop| on.link_is_up(hop.channel.link())) {
            at = walk.at().ix();
        } else {
            state[at] = State::Ends(match on.peer(SwitchId::from(at), tree[at]) {
                Peer::Terminal(_) => 2,
                _ if tree[at] == NO_ROUTE => 0,
                _ => 1,
            });
        }
    }
    let mut end = if state[at] == State::OnTrail { State::Ends(3) } else { state[at] };
    for &v in trail.iter().rev() {
        if v != at || state[v] == State::OnTrail {
            if let State::Arrives(hops) = &mut end {
                *hops += 1;
            }
            state[v] = end;
        }
    }
    state[source]
}
