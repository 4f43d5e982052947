//! Processes in the order of how much they send and receive, the heaviest in the first slot.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::PreparedMappingProblem;
use base::ComputationError;
use base::part::PartDescription;
use std::cmp::Reverse;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<HeavyFirst>();

struct HeavyFirst;

impl MappingMethod for HeavyFirst {
    const PART: PartDescription =
        PartDescription::new("heavy_first", "processes by their traffic, in the order of slots");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        let weights: Vec<i64> =
            (0..run.problem.processes as u32).map(|p| run.problem.weight(p)).collect();
        let slots: Vec<u32> = (0..run.problem.slots.count() as u32).collect();
        *at = ProcessArrangement::in_order(run.problem, &heaviest_first(&weights), &slots);
        Ok(())
    }
}

/// Processes by falling weight, then by number. O(processes log processes).
fn heaviest_first(weights: &[i64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..weights.len() as u32).collect();
    order.sort_by_key(|&process| (Reverse(weights[process as usize]), process));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_weights_keep_their_order() {
        assert_eq!(heaviest_first(&[3, 7, 3, 9]), [3, 1, 0, 2]);
        assert_eq!((ENTRY.part.name, ENTRY.improves), ("heavy_first", false));
    }
}
