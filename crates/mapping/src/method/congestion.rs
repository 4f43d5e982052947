//! Refinement of the maximum congestion by swaps at busy channels; hop-bytes stay below a limit.

use super::kind::{MappingMethod, MappingMethodEntry};
use crate::arrangement::ProcessArrangement;
use crate::loads::{ChannelLoads, is_better};
use crate::metric::SiteMetric;
use crate::proposals::SwapProposalGenerator;
use crate::run::PreparedMappingProblem;
use base::part::PartDescription;
use base::seed::{FastRandomStream, exponentials};
use base::{ComputationError, Interrupted, ProgressWatch};

/// Start and end temperatures of refinements; runs of the largest effort use them one after the
/// other.
pub(super) const HEATS: [(f64, f64); 4] =
    [(0.005, 0.0007), (0.01, 0.001), (0.003, 0.0004), (0.03, 0.002)];

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<CongestionMethod>();

/// The mapping method that lowers the largest congestion by swaps at busy channels.
struct CongestionMethod;

impl MappingMethod for CongestionMethod {
    const PART: PartDescription =
        PartDescription::new("congestion", "improves: maximum congestion within the hops limit");
    const IMPROVES: bool = true;

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        index: u64,
    ) -> Result<(), ComputationError> {
        let least = run.cost(at);
        refined(run, at, least, HEATS[0], run.budget(), index);
        Ok(())
    }
}

/// Refines congestion; hop-bytes stay within the limit, which is relative to `least`. Runs of one
/// seed with different `number`s draw different swaps.
pub(super) fn refined<M: SiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    at: &mut ProcessArrangement,
    least: i64,
    (from, to): (f64, f64),
    budget: u64,
    number: u64,
) {
    let mut loads = ChannelLoads::new(run.paths, run.proposals, run.graph);
    let mean = loads.mean_work(at);
    let most_hops = (least as f64 * (1.0 + run.hops_limit)).floor() as i64;
    let schedule = RefinementSchedule { moves: budget / (mean + 30), from, to, most_hops };
    let mut draw = FastRandomStream::new(run.seed, "congestion", number);
    let ended = refine(&mut loads, run.proposals, run.metric, at, schedule, &mut draw, run.watch);
    run.note_stop(ended);
}

/// The schedule of a refinement: temperatures, the number of swaps, and the limit on hop-bytes.
#[derive(Debug, Clone, Copy)]
struct RefinementSchedule {
    /// The number of swaps that are tried.
    moves: u64,
    /// Temperature at the start, as a fraction of the potential divided by its exponent.
    from: f64,
    /// Temperature at the end.
    to: f64,
    /// Upper bound of hop-bytes, in the unit of [`ProcessArrangement::cost`].
    most_hops: i64,
}

/// Swaps between two checks of the maximum and of the watch.
const STEP: u64 = 256;

/// Refines an arrangement; an interruption leaves it as far as it came. The result is never worse.
///
/// O(moves * channels of the traffic of two processes).
///
/// # Errors
/// When `watch` says stop; the arrangement is valid nevertheless.
fn refine<M: SiteMetric>(
    loads: &mut ChannelLoads<'_>,
    proposals: &SwapProposalGenerator<'_>,
    metric: &M,
    at: &mut ProcessArrangement,
    schedule: RefinementSchedule,
    draw: &mut FastRandomStream,
    watch: &dyn ProgressWatch,
) -> Result<(), Interrupted> {
    if proposals.is_empty() || loads.is_empty() {
        return Ok(());
    }
    let problem = proposals.problem;
    let mut hops = at.cost(problem, metric);
    loads.count(at);
    let merit = |loads: &ChannelLoads<'_>, hops: i64| {
        let (most, count) = loads.worst();
        (most, count, hops)
    };
    let mut best = (merit(loads, hops), at.clone());
    let quantiles = exponentials();
    let mut done = 0;
    let mut ended = Ok(());
    while done < schedule.moves && ended.is_ok() {
        ended = watch.tick("congestion", done, schedule.moves);
        let part = done as f64 / schedule.moves as f64;
        let squarings = 3 + (3.0 * part) as u32;
        loads.sharpen(squarings);
        let heat = schedule.from
            * (schedule.to / schedule.from).powf(part)
            * f64::from(1_u32 << squarings);
        for i in 0..STEP.min(schedule.moves - done) {
            let u = match i % 2 {
                0 => loads.at_busy(proposals, at, draw).unwrap_or_else(|| proposals.mover(draw)),
                _ => proposals.mover(draw),
            };
            let Some(v) = proposals.other(at, u, draw) else { continue };
            let longer = 2 * i64::from(at.gain(problem, metric, u, v));
            if hops + longer > schedule.most_hops && longer > 0 {
                continue;
            }
            let gain = loads.gain(at, u, v);
            let room =
                heat * loads.potential() * f64::from(quantiles[(draw.next_u64() >> 52) as usize]);
            if gain <= room {
                loads.commit(gain);
                at.swap(u, v);
                hops += longer;
            }
        }
        done += STEP;
        let now = merit(loads, hops);
        if is_better(now, best.0) {
            best = (now, at.clone());
        }
    }
    *at = best.1;
    ended
}
