//! A random order.

use super::kind::{Entry, Seats, shuffled};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: Entry = Entry { part: Part::new("random", "endpoints at random"), order };

fn order(seats: &Seats<'_>, draw: &mut Stream) -> Vec<u32> {
    let places = shuffled(seats.endpoints.len(), draw);
    places.into_iter().map(|i| seats.endpoints[i as usize]).collect()
}
