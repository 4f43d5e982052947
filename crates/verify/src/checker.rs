//! A second opinion on a proof: walks every path and sees the numbers rise. Shares no more with it
//! than how a table is read.
//!
//! Source: Dally & Seitz 1987, theorem 1: if the (channel, lane) pairs can be numbered so that
//! every packet takes them in rising order, no packets can wait for one another in a circle.

use super::deadlock::Numbering;
use base::{Interrupted, SwitchId, TerminalId, Watch};
use fabric::network::Peer;
use fabric::tables::{Routing, Starts, Walk};

/// Walks every path between endpoints and checks that it arrives and that the numbers of the
/// (channel, lane) pairs it takes rise strictly.
///
/// O(hops of all paths, those that terminals of a switch share once). The verdict is a sentence
/// naming the first path that breaks the rule.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn recheck(
    routing: &Routing,
    numbering: &Numbering,
    watch: &dyn Watch,
) -> Result<Result<(), String>, Interrupted> {
    let on = routing.topology();
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let sources = routing.sources();
    let mut starts = Starts::new(routing);
    let (mut before, mut own) = (None, Vec::new());
    for (i, (layer, t)) in routing.destinations().enumerate() {
        watch.tick("recheck", i as u64, total)?;
        let tree = routing.tree(layer, t);
        let home = on.terminals()[t.ix()].plug;
        let row = Some((layer, home.switch, routing.row(layer, t)));
        let delivers = on.peer(home.switch, tree[home.switch.ix()]) == Peer::Terminal(t);
        // the last terminal's paths are this one's, too, where they met no entry of its own
        let known = starts.are_fixed() && before == row && delivers;
        before = row;
        let all = sources.of_plane(on.plane_of(t));
        let again = if known { std::mem::take(&mut own) } else { Vec::new() };
        own.clear();
        for &(source, _) in if known { &again } else { all } {
            let mut is_own = false;
            for &(sl, start_port) in starts.of(layer, t, source) {
                match path(routing, numbering, (source, start_port, sl), (layer, t)) {
                    Ok(found) => is_own |= found,
                    Err(why) => return Ok(Err(why)),
                }
            }
            if is_own {
                own.push((source, 0));
            }
        }
    }
    Ok(Ok(()))
}

/// Whether the path met an entry that other terminals need not share, on a switch before the last.
fn path(
    routing: &Routing,
    numbering: &Numbering,
    (source, start_port, sl): (SwitchId, u16, u8),
    (layer, t): (u32, TerminalId),
) -> Result<bool, String> {
    let (on, tree) = (routing.topology(), routing.tree(layer, t));
    let lanes = usize::from(numbering.lanes);
    let mut walk = Walk::new(on, tree, source).on_lanes(routing.lanes().sl2vl(), sl, start_port);
    let (mut is_own, mut last) = (false, None);
    for (hop, lane) in walk.by_ref() {
        is_own |= tree.is_own(hop.at.ix());
        let lane = usize::from(lane);
        let number = numbering.number.get(hop.channel.0 as usize * lanes + lane).copied();
        if lane >= lanes || number.is_none() || number <= last {
            return Err(format!("the path from {source} to {t} does not rise at {}", hop.at));
        }
        last = number;
    }
    let end = walk.at();
    if on.peer(end, tree[end.ix()]) == Peer::Terminal(t) {
        return Ok(is_own);
    }
    Err(format!("a path from {source} to {t} goes astray at {end}"))
}
