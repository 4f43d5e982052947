//! Group after group, in a random order of groups.

use super::kind::{PlacementEntry, WorkingEndpoints, shuffled};
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: PlacementEntry = PlacementEntry {
    part: Part::new("random_groups", "group after group, these at random"),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, draw: &mut Stream) -> Vec<u32> {
    let mut order = seats.endpoints.clone();
    let groups = order.iter().map(|&e| seats.group(e)).max().map_or(0, |most| most + 1);
    let ranks = shuffled(groups, draw);
    order.sort_by_key(|&e| ranks[seats.group(e)]);
    order
}
