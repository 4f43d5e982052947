//! Whether routes wait for one another in a circle, and an order of their turns where not.

use super::order::Order;
use base::{ChannelId, Interrupted, TerminalId, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use fabric::turns::{Dependencies, LaneGraph, each_channel_turn};

/// Whether the routes of `routing` are free of deadlock where all go on one lane.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(crate) fn is_free(routing: &Routing, watch: &dyn Watch) -> Result<bool, Interrupted> {
    let graph = LaneGraph::without_turns(routing.topology(), 1);
    let insert = |from, to| graph.insert((from, 0), (to, 0));
    each_channel_turn(routing, routing.destinations(), watch, insert)?;
    Ok(graph.number(watch)?.is_ok())
}

/// The turns of all paths of `routing` to these of its destinations in an order that can take more
/// of them, those from or to a channel that `lost` names left out; `None` when they have a cycle.
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub(crate) fn order_of<'a>(
    routing: &Routing,
    destinations: impl Iterator<Item = (u32, TerminalId)>,
    dependencies: &'a Dependencies,
    lost: impl Fn(ChannelId) -> bool,
    watch: &dyn Watch,
) -> Result<Option<Order<'a>>, Interrupted> {
    let graph = LaneGraph::new(routing, destinations, watch)?;
    let (on, lanes): (&Topology, usize) = (routing.topology(), graph.lanes());
    let Ok(mut number) = graph.number(watch)? else { return Ok(None) };
    // pairs that no working channel has come last, so that no two have one place
    let mut place: Vec<u32> = (0..number.len() as u32).collect();
    let is_vertex = |v: usize| on.link_is_up(ChannelId::from(v / lanes).link());
    place.sort_by_key(|&v| (!is_vertex(v as usize), number[v as usize]));
    for (position, v) in (0..).zip(place) {
        number[v as usize] = position;
    }
    let mut order = Order::with_positions(dependencies, lanes, &number);
    for from in graph.vertices().filter(|v| !lost(v.0)) {
        for to in graph.wanted(from).filter(|to| !lost(to.0)) {
            assert!(order.take_turn(from, to), "the numbers rise along every turn");
        }
        order.settle();
    }
    Ok(Some(order))
}
