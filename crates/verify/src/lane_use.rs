//! Checks that all routes stay on the data lanes that exist.

use super::Verdict;
use base::{ChannelId, Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::tables::Routing;
use std::fmt;

/// A counterexample: a hop on a lane that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidLaneHop {
    /// The name of the switch whose SL2VL table gives the lane, and the port by which the packet
    /// leaves it.
    pub at: (String, u16),
    /// The lane, and the service level that is mapped to it.
    pub lane: (u8, u8),
    /// A route that uses this lane.
    pub route: String,
}

impl fmt::Display for InvalidLaneHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((switch, port), (lane, sl)) = (&self.at, self.lane);
        write!(f, "{switch} puts service level {sl} on lane {lane} at port {port} ({})", self.route)
    }
}

/// Checks that all routes between endpoints use lanes below `lanes`. The witness is the number of
/// lanes that they use. Tables must be complete. O(hops of all routes) where some SL2VL table names
/// a lane from `lanes` on, otherwise O(1).
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn within(
    routing: &Routing,
    lanes: u8,
    watch: &dyn ProgressWatch,
) -> Result<Verdict<u8, InvalidLaneHop>, Interrupted> {
    if routing.lanes().count() <= lanes {
        return Ok(Verdict::Holds(routing.lanes().count()));
    }
    let mut highest = 0;
    let mut excess = None;
    each_hop(routing, watch, |hop| {
        highest = highest.max(hop.lane);
        if hop.lane >= lanes && excess.is_none() {
            excess = Some(hop);
        }
    })?;
    Ok(match excess {
        None => Verdict::Holds(highest + 1),
        Some(hop) => Verdict::Fails(explain(routing, &hop)),
    })
}

/// One hop of one path, with its lane.
struct CheckedPathHop {
    channel: ChannelId,
    lane: u8,
    sl: u8,
    source: SwitchId,
    to: TerminalId,
}

fn each_hop(
    routing: &Routing,
    watch: &dyn ProgressWatch,
    mut visit: impl FnMut(CheckedPathHop),
) -> Result<(), Interrupted> {
    let (on, sources) = (routing.topology(), routing.sources());
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    for (i, (layer, to)) in routing.destinations().enumerate() {
        watch.tick("lanes", i as u64, total)?;
        for &(source, _) in sources.of_plane(on.plane_of(to)) {
            for (sl, in_port) in routing.starts(layer, to, source) {
                let walk = routing.walk(layer, to, source);
                for (hop, lane) in walk.on_lanes(routing.lanes().sl2vl(), sl, in_port) {
                    visit(CheckedPathHop { channel: hop.channel, lane, sl, source, to });
                }
            }
        }
    }
    Ok(())
}

fn explain(routing: &Routing, hop: &CheckedPathHop) -> InvalidLaneHop {
    let on = routing.topology();
    let endpoint = |t: TerminalId| &on.endpoints()[on.terminals()[t.ix()].endpoint.ix()].name;
    let first = on.terminals_on(hop.source).iter().find(|&&t| on.terminal_is_up(t));
    let from = first.map_or("?", |&t| endpoint(t));
    let tail = on.tail(hop.channel);
    InvalidLaneHop {
        at: (on.switches()[tail.switch.ix()].name.clone(), tail.port),
        lane: (hop.lane, hop.sl),
        route: format!("route {from} to {}", endpoint(hop.to)),
    }
}
