//! A second opinion on a proof: walks every path and sees the numbers rise. Shares no code with it.
//!
//! Source: Dally & Seitz 1987, theorem 1: if the (channel, lane) pairs can be numbered so that
//! every packet takes them in rising order, no packets can wait for one another in a circle.

use super::deadlock::Numbering;
use crate::network::Peer;
use crate::routing::Routing;

/// Walks every path between endpoints and checks that it arrives and that the numbers of the
/// (channel, lane) pairs it takes rise strictly.
///
/// O(hops of all paths).
///
/// # Errors
/// A sentence naming the first path that breaks the rule.
pub fn recheck(routing: &Routing, numbering: &Numbering) -> Result<(), String> {
    let on = routing.topology();
    let lanes = usize::from(numbering.lanes);
    let sources = routing.sources();
    for (layer, t) in routing.destinations() {
        let tree = routing.tree(layer, t);
        for &(source, _) in sources.of_plane(on.plane_of(t)) {
            for (sl, start_port) in routing.starts(layer, t, source) {
                let (mut at, mut in_port, mut last) = (source, start_port, None);
                loop {
                    let out_port = tree[at.ix()];
                    let channel = match on.peer(at, out_port) {
                        Peer::Terminal(end) if end == t => break,
                        Peer::Switch(channel) => channel,
                        _ => {
                            return Err(format!("a path from {source} to {t} goes astray at {at}"));
                        }
                    };
                    let lane = usize::from(routing.lanes().sl2vl().lane(at, in_port, out_port, sl));
                    let number = numbering.number.get(channel.0 as usize * lanes + lane).copied();
                    if lane >= lanes || number.is_none() || number <= last {
                        return Err(format!("the path from {source} to {t} does not rise at {at}"));
                    }
                    last = number;
                    let head = on.head(channel);
                    (at, in_port) = (head.switch, head.port);
                }
            }
        }
    }
    Ok(())
}
