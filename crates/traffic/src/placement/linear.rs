//! The order of the network.

use super::kind::{Entry, Seats};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: Entry =
    Entry { part: Part::new("linear", "endpoints in the network's order"), order };

fn order(seats: &Seats<'_>, _: &mut Stream) -> Vec<u32> {
    seats.endpoints.clone()
}
