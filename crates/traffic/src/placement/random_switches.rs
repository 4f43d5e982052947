//! Switch after switch, in a random order of switches.

use super::kind::{PlacementEntry, WorkingEndpoints, shuffled};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: PlacementEntry = PlacementEntry {
    part: Part::new("random_switches", "switch after switch, these at random"),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, draw: &mut Stream) -> Vec<u32> {
    let ranks = shuffled(seats.on.switches().len(), draw);
    let mut order = seats.endpoints.clone();
    order.sort_by_key(|&e| ranks[seats.switch(e)]);
    order
}
