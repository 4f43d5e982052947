//! The order of the network.

use super::kind::{PlacementEntry, WorkingEndpoints};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: PlacementEntry =
    PlacementEntry { part: Part::new("linear", "endpoints in the network's order"), order };

fn order(seats: &WorkingEndpoints<'_>, _: &mut Stream) -> Vec<u32> {
    seats.endpoints.clone()
}
