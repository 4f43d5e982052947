//! Threshold accepting: a swap that worsens the arrangement is made if it does so by little.
//!
//! Source: Dueck & Scheuer, "Threshold accepting", J. Computational Physics 1990.

use super::anneal::{AcceptanceRule, annealed};
use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::PreparedMappingProblem;
use base::ComputationError;
use base::part::PartDescription;

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<ThresholdMethod>();

/// The mapping method that improves a mapping by threshold accepting.
struct ThresholdMethod;

impl MappingMethod for ThresholdMethod {
    const PART: PartDescription =
        PartDescription::new("threshold", "improves: threshold accepting of hop-bytes");
    const IMPROVES: bool = true;

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        index: u64,
    ) -> Result<(), ComputationError> {
        annealed(run, at, AcceptanceRule::Threshold, (0.1, 0.01), run.budget(), index);
        Ok(())
    }
}
