//! Tests for deadlock: builds the channel dependency graph, lane by lane, and looks for a cycle.
//!
//! Source: Dally & Seitz 1987. A vertex is a virtual channel, a (channel, lane) pair between
//! switches. A path that takes one and then another makes the first depend on the second. Endpoints
//! consume what they receive, so channels to and from endpoints are on no cycle and are left out.

use super::Verdict;
use base::{ChannelId, Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::Topology;
use fabric::tables::Routing;
use fabric::turns::{HeldLane, LaneDependencyGraph, PathEnds, each_turn};
use std::collections::HashMap;
use std::fmt;

/// The witness of deadlock freedom: a number for every (channel, lane) pair that rises along every
/// path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelNumbering {
    /// The number of lanes.
    pub lanes: u8,
    /// The number of each virtual channel; entry `channel * lanes + lane`.
    pub number: Vec<u32>,
    /// The number of distinct dependencies between virtual channels.
    pub dependencies: u64,
}

/// One edge of a dependency cycle: a held channel whose holder waits for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyCycleEdge {
    /// The channel held, and its lane.
    pub held: (ChannelId, u8),
    /// The channel in words: the switch and port it leaves by, the switch it enters, and the lane.
    pub channel: String,
    /// A route that holds the channel while it waits for the next one of the cycle.
    pub route: String,
}

impl DependencyCycleEdge {
    /// The edge of a held channel, with the route that holds it.
    pub(super) fn new(on: &Topology, held: HeldLane, route: String) -> Self {
        let (tail, head) = (on.tail(held.0), on.head(held.0));
        let name = |s: SwitchId| &on.switches()[s.ix()].name;
        let (a, b, lane) = (name(tail.switch), name(head.switch), held.1);
        Self { held, channel: format!("{a}[{}] > {b}, lane {lane}", tail.port), route }
    }
}

/// A counterexample: a cycle of channels, each held by a route that waits for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyCycle {
    /// The edges of the cycle.
    pub waits: Vec<DependencyCycleEdge>,
}

impl fmt::Display for DependencyCycle {
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

/// Builds the dependency graph of all paths, and numbers it or finds a cycle.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn check(
    routing: &Routing,
    watch: &dyn ProgressWatch,
) -> Result<Verdict<ChannelNumbering, DependencyCycle>, Interrupted> {
    let graph = LaneDependencyGraph::new(routing, routing.destinations(), watch)?;
    let dependencies = graph.dependencies();
    match graph.number(watch)? {
        Ok(number) => {
            let lanes = routing.lanes().count();
            Ok(Verdict::Holds(ChannelNumbering { lanes, number, dependencies }))
        }
        Err(left) => Ok(Verdict::Fails(explain(routing, &graph.cycle(&left, watch)?, watch)?)),
    }
}

/// Describes a cycle by the names of its switches, and finds a route for each of its edges.
fn explain(
    routing: &Routing,
    cycle: &[HeldLane],
    watch: &dyn ProgressWatch,
) -> Result<DependencyCycle, Interrupted> {
    let on: &Topology = routing.topology();
    let wants: HashMap<HeldLane, (usize, HeldLane)> =
        (0..cycle.len()).map(|i| (cycle[i], (i, cycle[(i + 1) % cycle.len()]))).collect();
    let mut routes: Vec<Option<PathEnds>> = vec![None; cycle.len()];
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
    let describe = |path: PathEnds| {
        let from = on.terminals_on(path.source).iter().find(|&&t| on.terminal_is_up(t));
        let from = from.map_or("?", |&t| endpoint(t));
        let layer = if path.layer > 0 { format!(", layer {}", path.layer) } else { String::new() };
        format!("route {from} to {}{layer}", endpoint(path.to))
    };
    let wait = |(&held, route): (&HeldLane, Option<PathEnds>)| {
        DependencyCycleEdge::new(on, held, route.map_or_else(String::new, describe))
    };
    Ok(DependencyCycle { waits: cycle.iter().zip(routes).map(wait).collect() })
}
