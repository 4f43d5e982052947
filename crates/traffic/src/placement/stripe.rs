//! One endpoint of every switch after the other.

use super::kind::{PlacementMethodEntry, WorkingEndpoints};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry = PlacementMethodEntry {
    part: PartDescription::new(
        "stripe",
        "the first endpoint of every switch, then the second, and so on",
    ),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, _: &mut RandomStream) -> Vec<u32> {
    let mut taken = vec![0_u32; seats.on.switches().len()];
    let mut order: Vec<(u32, usize, u32)> = Vec::with_capacity(seats.endpoints.len());
    for &e in &seats.endpoints {
        let switch = seats.switch(e);
        order.push((taken[switch], switch, e));
        taken[switch] += 1;
    }
    order.sort_unstable();
    order.into_iter().map(|(_, _, e)| e).collect()
}
