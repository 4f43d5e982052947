//! The order of the network.

use super::kind::{PlacementMethodEntry, WorkingEndpoints};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry = PlacementMethodEntry {
    part: PartDescription::new("linear", "endpoints in the network's order"),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, _: &mut RandomStream) -> Vec<u32> {
    seats.endpoints.clone()
}
