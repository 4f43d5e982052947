//! Annealing of the weighted sum of distances, by swaps that bring partners near to one another.
//!
//! Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", Science 1983; Dueck
//! & Scheuer, "Threshold accepting", J. Computational Physics 1990; gains of the sparse quadratic
//! assignment problem: Schulz & Träff, "Better process mapping and sparse quadratic assignment",
//! SEA 2017.

use super::kind::{Entry, Method};
use super::local::descend;
use crate::arrangement::Arrangement;
use crate::metric::Metric;
use crate::proposals::Proposals;
use crate::run::{LARGE, Run};
use base::part::Part;
use base::seed::{Fast, exponentials};
use base::{Interrupted, Stop, Watch};

/// Temperatures of a start that is good already, and of one that is to be forgotten.
pub(super) const WARM: (f64, f64) = (0.05, 0.01);
pub(super) const COLD: (f64, f64) = (0.2, 0.02);

pub(super) const ENTRY: Entry = Entry::of::<Anneal>();

struct Anneal;

impl Method for Anneal {
    const PART: Part = Part::new("anneal", "improves: simulated annealing of hop-bytes")
        .published("Kirkpatrick, Gelatt, Vecchi, Science 1983");
    const IMPROVES: bool = true;

    fn step<M: Metric>(run: &Run<'_, M>, at: &mut Arrangement, index: u64) -> Result<(), Stop> {
        annealed(run, at, Rule::Annealing, COLD, run.budget(), index);
        Ok(())
    }
}

/// Anneals and descends; the better of that and what it began with. Runs of one seed with other
/// numbers draw other moves.
pub(super) fn annealed<M: Metric>(
    run: &Run<'_, M>,
    at: &mut Arrangement,
    rule: Rule,
    (from, to): (f64, f64),
    budget: u64,
    number: u64,
) {
    let start = at.clone();
    let mean = 2 * run.problem.entries() / run.problem.processes.max(1);
    let cooling = Cooling { rule, from, to, moves: budget / (mean as u64 + 12) };
    let mut draw = Fast::new(run.seed, "annealing", number);
    let ended = anneal(run.proposals, run.metric, at, cooling, &mut draw, run.watch);
    run.heard(ended);
    if ended.is_ok() && run.problem.slots.count() < LARGE {
        run.heard(descend(run.proposals, run.metric, at, 50, run.watch));
    }
    if run.cost(&start) < run.cost(at) {
        *at = start;
    }
}

/// What decides whether a move that makes things worse is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// With probability exp(-worse / temperature).
    Annealing,
    /// When it is worse by less than the temperature.
    Threshold,
}

/// How an annealing goes: temperatures in units of the mean worsening of a move, and moves.
#[derive(Debug, Clone, Copy)]
struct Cooling {
    /// The rule.
    rule: Rule,
    /// Temperature at the start.
    from: f64,
    /// Temperature at the end.
    to: f64,
    /// Moves that are tried.
    moves: u64,
}

/// Moves between two looks at the watch, and between two temperatures.
const STEP: u64 = 1 << 12;

/// The mean of the worsening among some moves that are tried, not made.
fn mean_worsening<M: Metric>(
    proposals: &Proposals<'_>,
    metric: &M,
    at: &Arrangement,
    draw: &mut Fast,
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

/// Anneals an arrangement; where it is interrupted, as far as it came.
///
/// O(moves * mean degree).
///
/// # Errors
/// When `watch` says stop: the arrangement is a good one all the same.
fn anneal<M: Metric>(
    proposals: &Proposals<'_>,
    metric: &M,
    at: &mut Arrangement,
    cooling: Cooling,
    draw: &mut Fast,
    watch: &dyn Watch,
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
                Rule::Annealing => heat * quantiles[(draw.next_u64() >> 52) as usize],
                Rule::Threshold => heat,
            };
            if gain <= 0 || (gain as f32) < room {
                at.swap(u, v);
            }
        }
        done += STEP;
    }
    Ok(())
}
