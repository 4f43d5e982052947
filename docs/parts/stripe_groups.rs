//! One endpoint of every group after the other.

use super::kind::{PlacementMethodEntry, WorkingEndpoints};
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: PlacementMethodEntry = PlacementMethodEntry {
    part: PartDescription::new(
        "stripe_groups",
        "the first endpoint of every group, then the second",
    ),
    order,
};

fn order(seats: &WorkingEndpoints<'_>, _: &mut RandomStream) -> Vec<u32> {
    let groups = seats.endpoints.iter().map(|&e| seats.group(e) + 1).max().unwrap_or(0);
    let mut taken = vec![0_u32; groups];
    let mut order: Vec<(u32, usize, u32)> = Vec::with_capacity(seats.endpoints.len());
    for &e in &seats.endpoints {
        let group = seats.group(e);
        order.push((taken[group], group, e));
        taken[group] += 1;
    }
    order.sort_unstable();
    order.into_iter().map(|(_, _, e)| e).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::network;
    use super::*;

    #[test]
    fn consecutive_processes_are_in_consecutive_groups() {
        let placed = ENTRY.place(&network(), 18, 1, 0).expect("places");
        // nine groups of eight endpoints, numbered group by group
        let first: Vec<u32> = (0..9).map(|group| 8 * group).collect();
        let second: Vec<u32> = (0..9).map(|group| 8 * group + 1).collect();
        assert_eq!(placed, [first, second].concat());
    }
}
