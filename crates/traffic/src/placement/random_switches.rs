//! Switch after switch, in a random order of switches.

use super::kind::{PlacementMethodEntry, WorkingEndpoints, shuffled};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry = PlacementMethodEntry {
    part: PartDescription::new("random_switches", "switch after switch, these at random"),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, draw: &mut RandomStream) -> Vec<u32> {
    let ranks = shuffled(seats.on.switches().len(), draw);
    let mut order = seats.endpoints.clone();
    order.sort_by_key(|&e| ranks[seats.switch(e)]);
    order
}
