//! Local search: swaps that bring communicating processes near to one another, until no swap helps.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::near::NearSiteLists;
use crate::proposals::SwapProposalGenerator;
use crate::run::PreparedMappingProblem;
use base::part::PartDescription;
use base::{ComputationError, Interrupted, ProgressWatch};

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<LocalSearchMethod>();

/// The mapping method that swaps processes as long as a swap improves the mapping.
struct LocalSearchMethod;

impl MappingMethod for LocalSearchMethod {
    const PART: PartDescription =
        PartDescription::new("local", "improves: swaps while one lowers hop-bytes");
    const IMPROVES: bool = true;

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        Ok(descend(run.proposals, run.metric, at, 1000, run.watch)?)
    }
}

/// Performs such swaps until no swap helps, or for at most `sweeps` sweeps.
///
/// # Errors
/// When `watch` says stop.
pub(super) fn descend<M: SiteMetric>(
    proposals: &SwapProposalGenerator<'_>,
    metric: &M,
    at: &mut ProcessArrangement,
    sweeps: u32,
    watch: &dyn ProgressWatch,
) -> Result<(), Interrupted> {
    let problem = proposals.problem;
    for sweep in 0..sweeps {
        watch.tick("local search", u64::from(sweep), u64::from(sweeps))?;
        let mut better = false;
        for &u in proposals.movers() {
            for i in 0..problem.row(u).len() {
                let home = at.site(problem.row(u)[i].0);
                let around = proposals.near.of(home).iter().copied();
                let mut looked = 0;
                for site in std::iter::once(home).chain(around) {
                    for &slot in problem.slots.of_site(site) {
                        let v = at.process(slot);
                        let moves = site != at.site(u) && v != u && !problem.is_pinned(v);
                        if moves && at.gain(problem, metric, u, v) < 0 {
                            at.swap(u, v);
                            better = true;
                        }
                        looked += 1;
                    }
                    if looked >= NearSiteLists::MOST {
                        break;
                    }
                }
            }
        }
        if !better {
            break;
        }
    }
    Ok(())
}
