//! Can packets wait for one another in a circle? The channel dependency graph, lane by lane.
//!
//! Source: Dally & Seitz 1987. A vertex is a (channel, lane) pair between switches; a path that
//! takes one and then another makes the first depend on the second. Endpoints sink what they get,
//! so channels to and from them cannot be on a circle and are left out.

use super::Verdict;
use base::{ChannelId, Interrupted, SwitchId, TerminalId, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use fabric::turns::{Held, LaneGraph, PathName, each_turn};
use std::collections::HashMap;
use std::fmt;

/// Witness: a number for every (channel, lane) pair that rises along every path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// Lanes counted, `0..lanes`.
    pub lanes: u8,
    /// Entry `channel * lanes + lane`.
    pub number: Vec<u32>,
    /// Distinct dependencies between pairs.
    pub dependencies: u64,
}

/// One edge of a circle of waiting packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The channel held, and its lane.
    pub held: (ChannelId, u8),
    /// Switch it leaves and port, switch it enters, by name.
    pub channel: String,
    /// A route that holds it while it wants the next channel of the circle.
    pub route: String,
}

impl Wait {
    /// That of who holds a lane of a channel, by `route`.
    pub(super) fn new(on: &Topology, held: Held, route: String) -> Self {
        let (tail, head) = (on.tail(held.0), on.head(held.0));
        let name = |s: SwitchId| &on.switches()[s.ix()].name;
        let (a, b, lane) = (name(tail.switch), name(head.switch), held.1);
        Self { held, channel: format!("{a}[{}] > {b}, lane {lane}", tail.port), route }
    }
}

/// Counterexample: channels, each held by a route that waits for the next; the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The circle.
    pub waits: Vec<Wait>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, wait) in self.waits.iter().enumerate() {
            let next = &self.waits[(i + 1) % self.waits.len()];
            if i > 0 {
                writeln!(f)?;
            }
            let (here, there) = (&wait.channel, &next.channel);
            write!(f, "{here} waits for {there} ({})", wait.route)?;
        }
        Ok(())
    }
}

/// Builds the dependency graph of all paths and numbers it, or finds a circle.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(super) fn check(
    routing: &Routing,
    watch: &dyn Watch,
) -> Result<Verdict<Numbering, Cycle>, Interrupted> {
    let graph = LaneGraph::new(routing, routing.destinations(), watch)?;
    let dependencies = graph.dependencies();
    match graph.number(watch)? {
        Ok(number) => {
            let lanes = routing.lanes().count();
            Ok(Verdict::Holds(Numbering { lanes, number, dependencies }))
        }
        Err(left) => Ok(Verdict::Fails(explain(routing, &graph.cycle(&left, watch)?, watch)?)),
    }
}

/// Puts names to a circle, and finds a route for each of its waits.
fn explain(routing: &Routing, circle: &[Held], watch: &dyn Watch) -> Result<Cycle, Interrupted> {
    let on: &Topology = routing.topology();
    let wants: HashMap<Held, (usize, Held)> =
        (0..circle.len()).map(|i| (circle[i], (i, circle[(i + 1) % circle.len()]))).collect();
    let mut routes: Vec<Option<PathName>> = vec![None; circle.len()];
    each_turn(routing, routing.destinations(), watch, |from, to, path| {
        if let Some(&(i, wanted)) = wants.get(&from)
            && wanted == to
            && routes[i].is_none()
        {
            routes[i] = Some(path);
        }
    })?;
    let endpoint = |t: TerminalId| {
        let terminal = &on.terminals()[t.ix()];
        on.endpoints()[terminal.endpoint.ix()].name.as_str()
    };
    let describe = |path: PathName| {
        let from = on.terminals_on(path.source).iter().find(|&&t| on.terminal_is_up(t));
        let from = from.map_or("?", |&t| endpoint(t));
        let layer = if path.layer > 0 { format!(", layer {}", path.layer) } else { String::new() };
        format!("route {from} to {}{layer}", endpoint(path.to))
    };
    let wait = |(&held, route): (&Held, Option<PathName>)| {
        Wait::new(on, held, route.map_or_else(String::new, describe))
    };
    Ok(Cycle { waits: circle.iter().zip(routes).map(wait).collect() })
}
