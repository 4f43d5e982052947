//! Points of a load curve: at given loads, or up to saturation.

use super::case::PreparedFlitSimulation;
use super::run::FlitRunResult;
use base::{ComputationError, ProgressWatch};
use paths::side_by_side::side_by_side;

/// The runs of the points of some loads, in order. They use all threads, one thread for each run if
/// there are enough runs.
///
/// # Errors
/// The first error of [`PreparedFlitSimulation::point`].
pub fn points(
    case: &PreparedFlitSimulation,
    loads: &[f64],
    threads: usize,
    watch: &dyn ProgressWatch,
) -> Result<Vec<Vec<FlitRunResult>>, ComputationError> {
    loads.iter().try_for_each(|&load| case.check(load))?;
    let (runs, count) = (case.runs(), loads.len() * case.runs());
    let at_once = threads.min(count).max(1);
    let each = case.wiring().paying(threads / at_once);
    let all =
        side_by_side(count, at_once, |at| case.point(loads[at / runs], at % runs, each, watch))?;
    let mut rest = all.into_iter();
    Ok(loads.iter().map(|_| rest.by_ref().take(runs).collect()).collect())
}

/// Precision of the saturation throughput, as a load.
const NEAR: f64 = 0.005;

/// Loads, each with the runs at that load.
type LoadCurve = Vec<(f64, Vec<FlitRunResult>)>;

/// Points from load 0.1 in steps of 0.1 until one is saturated, then between the last two by
/// bisection; and the saturation throughput. That is the largest load that is not saturated, at
/// most 0.005 below a saturated one; the largest load simulated if none is saturated; none if
/// nothing was sent at any load. The steps end at the largest load of the case, or before a load
/// that the traffic's process cannot produce.
///
/// # Errors
/// As [`points`]; also a refusal of the load when the traffic cannot have load 0.1.
pub fn curve(
    case: &PreparedFlitSimulation,
    threads: usize,
    watch: &dyn ProgressWatch,
) -> Result<(LoadCurve, Option<f64>), ComputationError> {
    let at = |load: f64| points(case, &[load], threads, watch).map(|mut of| of.swap_remove(0));
    let mut found: LoadCurve = Vec::new();
    for step in 1..=10 * case.largest_load() as u32 {
        let load = f64::from(step) / 10.0;
        match at(load) {
            Ok(runs) => found.push((load, runs)),
            Err(ComputationError::Refused(r)) if r.param == "load" && !found.is_empty() => break,
            Err(stop) => return Err(stop),
        }
        if found.last().is_some_and(|(_, runs)| is_too_much(runs)) {
            break;
        }
    }
    let (mut high, fails) =
        found.last().map_or((1.0, false), |(load, runs)| (*load, is_too_much(runs)));
    if !fails {
        let is_sent = found.iter().flat_map(|(_, runs)| runs).any(|run| run.all.is_sent());
        return Ok((found, is_sent.then_some(high)));
    }
    let mut low = found.len().checked_sub(2).map_or(0.0, |before| found[before].0);
    while high - low > NEAR {
        let middle = f64::midpoint(low, high);
        let runs = at(middle)?;
        if is_too_much(&runs) {
            high = middle;
        } else {
            low = middle;
        }
        found.push((middle, runs));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok((found, Some(low)))
}

/// With this number of expected packets or more, the search takes a lower accepted load as
/// saturation even if it may be chance. If it waited for certainty at every load, it would end far
/// above saturation.
const SEARCHED: f64 = 1000.0;

/// Whether the load is too high: the runs send something and on average less arrives than is
/// offered, or a run has a deadlock.
fn is_too_much(runs: &[FlitRunResult]) -> bool {
    let all = FlitRunResult::merged(runs).all;
    let is_less = all.is_saturated().unwrap_or(all.expected >= SEARCHED);
    is_less && all.is_sent() || runs.iter().any(|run| run.deadlock.is_some())
}
