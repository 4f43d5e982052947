//! A random order.

use super::kind::{PlacementMethodEntry, WorkingEndpoints, shuffled};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry =
    PlacementMethodEntry { part: PartDescription::new("random", "endpoints at random"), order };

fn order(seats: &WorkingEndpoints<'_>, draw: &mut RandomStream) -> Vec<u32> {
    let places = shuffled(seats.endpoints.len(), draw);
    places.into_iter().map(|i| seats.endpoints[i as usize]).collect()
}
