//! Group after group, in a random order of groups.

use super::kind::{PlacementMethodEntry, WorkingEndpoints, shuffled};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry = PlacementMethodEntry {
    part: PartDescription::new("random_groups", "group after group, these at random"),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, draw: &mut RandomStream) -> Vec<u32> {
    let mut order = seats.endpoints.clone();
    let groups = order.iter().map(|&e| seats.group(e)).max().map_or(0, |most| most + 1);
    let ranks = shuffled(groups, draw);
    order.sort_by_key(|&e| ranks[seats.group(e)]);
    order
}
