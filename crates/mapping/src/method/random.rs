//! The random mapping: processes are in slots in random order.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::Arrangement;
use crate::metric::SiteMetric;
use crate::run::MappingRun;
use base::Stop;
use base::part::Part;
use base::seed::Stream;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<RandomMethod>();

struct RandomMethod;

impl MappingMethod for RandomMethod {
    const PART: Part = Part::new("random", "at random");

    fn step<M: SiteMetric>(
        run: &MappingRun<'_, M>,
        at: &mut Arrangement,
        _: u64,
    ) -> Result<(), Stop> {
        let mut slots: Vec<u32> = (0..run.problem.slots.count() as u32).collect();
        Stream::new(run.seed, "mapping", 0).shuffle(&mut slots);
        let order: Vec<u32> = (0..run.problem.processes as u32).collect();
        *at = Arrangement::in_order(run.problem, &order, &slots);
        Ok(())
    }
}
