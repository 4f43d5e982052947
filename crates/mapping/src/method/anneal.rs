//! Simulated annealing of the weighted sum of distances, by swaps that bring communicating
//! processes near to one another.
//!
//! Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", Science 1983; Dueck
//! & Scheuer, "Threshold accepting", J. Computational Physics 1990; gains of the sparse quadratic
//! assignment problem: Schulz & Träff, "Better process mapping and sparse quadratic assignment",
//! SEA 2017.

use super::kind::{MappingMethod, MappingMethodEntry};
use super::local::descend;
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::proposals::SwapProposalGenerator;
use crate::run::{LARGE, PreparedMappingProblem};
use base::part::PartDescription;
use base::seed::{FastRandomStream, exponentials};
use base::{ComputationError, Interrupted, ProgressWatch};

/// Start and end temperature for a start that is already good.
pub(super) const WARM: (f64, f64) = (0.05, 0.01);
/// Start and end temperature for a start whose structure need not be kept.
pub(super) const COLD: (f64, f64) = (0.2, 0.02);

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<AnnealingMethod>();

/// The mapping method that improves a mapping by simulated annealing.
struct AnnealingMethod;

impl MappingMethod for AnnealingMethod {
    const PART: PartDescription =
        PartDescription::new("anneal", "improves: simulated annealing of hop-bytes");
    const IMPROVES: bool = true;

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        index: u64,
    ) -> Result<(), ComputationError> {
        annealed(run, at, AcceptanceRule::Annealing, COLD, run.budget(), index);
        Ok(())
    }
}

/// Anneals, then performs a local search; keeps the initial arrangement if that is better. Runs of
/// one seed with different `number`s draw different swaps.
pub(super) fn annealed<M: SiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    at: &mut ProcessArrangement,
    rule: AcceptanceRule,
    (from, to): (f64, f64),
    budget: u64,
    number: u64,
) {
    let start = at.clone();
    let mean = 2 * run.problem.entries() / run.problem.processes.max(1);
    let cooling = CoolingSchedule { rule, from, to, moves: budget / (mean as u64 + 12) };
    let mut draw = FastRandomStream::new(run.seed, "annealing", number);
    let ended = anneal(run.proposals, run.metric, at, cooling, &mut draw, run.watch);
    run.note_stop(ended);
    if ended.is_ok() && run.problem.slots.count() < LARGE {
        run.note_stop(descend(run.proposals, run.metric, at, 50, run.watch));
    }
    if run.cost(&start) < run.cost(at) {
        *at = start;
    }
}

/// The rule that decides whether a swap that worsens the arrangement is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AcceptanceRule {
    /// Accepted with probability exp(-worsening / temperature).
    Annealing,
    /// Accepted when the worsening is less than the temperature.
    Threshold,
}

/// The schedule of an annealing: temperatures in units of the mean worsening of a swap, and the
/// number of swaps.
#[derive(Debug, Clone, Copy)]
struct CoolingSchedule {
    /// The rule of acceptance.
    rule: AcceptanceRule,
    /// Temperature at the start.
    from: f64,
    /// Temperature at the end.
    to: f64,
    /// The number of swaps that are tried.
    moves: u64,
}

/// Swaps between two checks of the watch, and between two temperatures.
const STEP: u64 = 1 << 12;

/// The mean worsening of some swaps, which are tried but not made.
fn mean_worsening<M: SiteMetric>(
    proposals: &SwapProposalGenerator<'_>,
    metric: &M,
    at: &ProcessArrangement,
    draw: &mut FastRandomStream,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for _ in 0..2000 {
        let u = proposals.mover(draw);
        if let Some(v) = proposals.other(at, u, draw) {
            let gain = at.gain(proposals.problem, metric, u, v);
            if gain > 0 {
                sum += f64::from(gain);
                count += 1.0;
            }
        }
    }
    if count > 0.0 { sum / count } else { 1.0 }
}

/// Anneals an arrangement; an interruption leaves it as far as it came.
///
/// O(moves * mean degree).
///
/// # Errors
/// When `watch` says stop; the arrangement is valid nevertheless.
fn anneal<M: SiteMetric>(
    proposals: &SwapProposalGenerator<'_>,
    metric: &M,
    at: &mut ProcessArrangement,
    cooling: CoolingSchedule,
    draw: &mut FastRandomStream,
    watch: &dyn ProgressWatch,
) -> Result<(), Interrupted> {
    if proposals.is_empty() {
        return Ok(());
    }
    let scale = mean_worsening(proposals, metric, at, draw);
    let quantiles = exponentials();
    let mut done = 0;
    while done < cooling.moves {
        watch.tick("annealing", done, cooling.moves)?;
        let part = done as f64 / cooling.moves as f64;
        let heat = (scale * cooling.from * (cooling.to / cooling.from).powf(part)) as f32;
        for _ in 0..STEP.min(cooling.moves - done) {
            let u = proposals.mover(draw);
            let Some(v) = proposals.other(at, u, draw) else { continue };
            let gain = at.gain(proposals.problem, metric, u, v);
            let room = match cooling.rule {
                AcceptanceRule::Annealing => heat * quantiles[(draw.next_u64() >> 52) as usize],
                AcceptanceRule::Threshold => heat,
            };
            if gain <= 0 || (gain as f32) < room {
                at.swap(u, v);
            }
        }
        done += STEP;
    }
    Ok(())
}
