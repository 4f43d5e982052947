//! Path by path: each goes to the first lane in which it closes no cycle.
//!
//! Source: Skeie, Lysne, Theiss, "Layered shortest path (LASH) routing in irregular system area
//! networks", IPDPS 2002.
//!
//! Every lane keeps an order of all channels in which each of its turns goes forward. Lane 0 starts
//! from the order of channel numbers, every further lane from its predecessor's order reversed: a
//! turn that was refused there goes forward here. So two lanes always suffice when no path has more
//! than two hops, and then the orders stay as they are, which also shares the paths out evenly.

use super::order::Order;
use super::paths::each_path;
use super::{Found, too_few};
use crate::dependencies::Dependencies;
use crate::routing::{RouteError, Routing};
use base::Watch;

/// A lane for every path of `routing`.
///
/// # Errors
/// When `max_lanes` are not enough, or `watch` says stop.
pub(super) fn lanes(
    routing: &Routing,
    max_lanes: u8,
    watch: &dyn Watch,
) -> Result<Found, RouteError> {
    let on = routing.topology();
    let dependencies = Dependencies::new(on);
    let mut lane_of = vec![0_u8; routing.next().len()];
    let mut longest = 0;
    each_path(routing, &mut lane_of, 0, |_, _, turns| longest = longest.max(turns.count()));
    let mut order = Order::new(on, &dependencies, longest > 1);
    for lane in 0..max_lanes {
        let mut moved = 0_u64;
        let (mut seen, mut stopped) = (0_u64, Ok(()));
        each_path(routing, &mut lane_of, lane, |_, own, turns| {
            seen += 1;
            if seen.is_multiple_of(4096) && stopped.is_ok() {
                stopped = watch.tick("lanes", lane.into(), max_lanes.into());
            }
            if stopped.is_ok() && !order.take(turns.map(|(a, b)| ((a, 0), (b, 0)))) {
                *own = lane + 1;
                moved += 1;
            }
        });
        stopped?;
        if moved == 0 {
            return Ok(Found { lane_of, lanes: lane + 1 });
        }
        order.reverse();
    }
    Err(too_few(max_lanes).into())
}
