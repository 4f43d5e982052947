//! A random order.

use super::kind::{PlacementEntry, WorkingEndpoints, shuffled};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: PlacementEntry =
    PlacementEntry { part: Part::new("random", "endpoints at random"), order };

fn order(seats: &WorkingEndpoints<'_>, draw: &mut Stream) -> Vec<u32> {
    let places = shuffled(seats.endpoints.len(), draw);
    places.into_iter().map(|i| seats.endpoints[i as usize]).collect()
}
