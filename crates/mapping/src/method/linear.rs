//! The linear mapping: processes in the order of the slots, or as in the given start mapping.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::PreparedMappingProblem;
use base::ComputationError;
use base::part::PartDescription;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<LinearMethod>();

/// The mapping method that keeps processes in the order of slots.
struct LinearMethod;

impl MappingMethod for LinearMethod {
    const PART: PartDescription =
        PartDescription::new("linear", "processes in the order of the slots");

    fn step<M: SiteMetric>(
        _: &PreparedMappingProblem<'_, M>,
        _: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        Ok(()) // every run begins with this mapping
    }
}
