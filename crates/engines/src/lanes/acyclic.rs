//! Tests whether routes have cyclic dependencies, and gives an order of their turns where they have
//! none.

use super::order::AcyclicTurnSet;
use base::{ChannelId, Interrupted, ProgressWatch, TerminalId};
use fabric::Topology;
use fabric::tables::Routing;
use fabric::turns::{ChannelDependencyNumbering, LaneDependencyGraph, each_channel_turn};

/// Whether the routes of `routing` are free of deadlock when all use one lane.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(crate) fn is_free(routing: &Routing, watch: &dyn ProgressWatch) -> Result<bool, Interrupted> {
    let graph = LaneDependencyGraph::without_turns(routing.topology(), 1);
    let insert = |from, to| graph.insert((from, 0), (to, 0));
    each_channel_turn(routing, routing.destinations(), watch, insert)?;
    Ok(graph.number(watch)?.is_ok())
}

/// An order of the turns of all paths of `routing` to these destinations, to which further turns
/// can be added. Turns from or to a channel for which `lost` is true are left out. `None` when the
/// turns have a cycle.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(crate) fn order_of<'a>(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    dependencies: &'a ChannelDependencyNumbering,
    lost: impl Fn(ChannelId) -> bool,
    watch: &dyn ProgressWatch,
) -> Result<Option<AcyclicTurnSet<'a>>, Interrupted> {
    let graph = LaneDependencyGraph::new(routing, destinations, watch)?;
    let (on, lanes): (&Topology, usize) = (routing.topology(), graph.lanes());
    let Ok(mut number) = graph.number(watch)? else { return Ok(None) };
    // virtual channels of failed links come last, so that no two virtual channels have the same
    // place
    let mut place: Vec<u32> = (0..number.len() as u32).collect();
    let is_vertex = |v: usize| on.link_is_up(ChannelId::from(v / lanes).link());
    place.sort_by_key(|&v| (!is_vertex(v as usize), number[v as usize]));
    for (position, v) in (0..).zip(place) {
        number[v as usize] = position;
    }
    let mut order = AcyclicTurnSet::with_positions(dependencies, lanes, &number);
    for from in graph.vertices().filter(|v| !lost(v.0)) {
        for to in graph.wanted(from).filter(|to| !lost(to.0)) {
            assert!(order.take_turn(from, to), "the numbers rise along every turn");
        }
        order.settle();
    }
    Ok(Some(order))
}
