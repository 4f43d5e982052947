//! The linear mapping: processes in the order of the slots, or as in the given start mapping.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::Arrangement;
use crate::metric::SiteMetric;
use crate::run::MappingRun;
use base::Stop;
use base::part::Part;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<LinearMethod>();

struct LinearMethod;

impl MappingMethod for LinearMethod {
    const PART: Part = Part::new("linear", "processes in the order of the slots");

    fn step<M: SiteMetric>(_: &MappingRun<'_, M>, _: &mut Arrangement, _: u64) -> Result<(), Stop> {
        Ok(()) // every run begins with this mapping
    }
}
