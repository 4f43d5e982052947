//! The random mapping: processes are in slots in random order.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::PreparedMappingProblem;
use base::ComputationError;
use base::part::PartDescription;
use base::seed::RandomStream;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<RandomMethod>();

/// The mapping method that draws a mapping at random.
struct RandomMethod;

impl MappingMethod for RandomMethod {
    const PART: PartDescription = PartDescription::new("random", "at random");

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        let mut slots: Vec<u32> = (0..run.problem.slots.count() as u32).collect();
        RandomStream::new(run.seed, "mapping", 0).shuffle(&mut slots);
        let order: Vec<u32> = (0..run.problem.processes as u32).collect();
        *at = ProcessArrangement::in_order(run.problem, &order, &slots);
        Ok(())
    }
}
