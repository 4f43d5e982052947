//! A mapping is found: the methods asked for, or a portfolio of all within a budget of moves.

use crate::arrangement::Arrangement;
use crate::chain;
pub use crate::effort::{Effort, Objective};
use crate::evaluate::evaluate;
use crate::method::{Compiled, Entry, auto, pack};
use crate::metric::{Distances, distances};
use crate::near::Near;
use crate::problem::{Pin, Problem};
use crate::proposals::Proposals;
use crate::run::Run;
use crate::slots::Slots;
use crate::ways::Ways;
use base::{Quiet, Refusal, Stop, Watch};
use std::sync::atomic::AtomicBool;
use traffic::communication::Communication;

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Who sends how much to whom.
    pub graph: &'a Communication,
    /// How traffic goes.
    pub ways: Ways<'a>,
    /// Where processes can be.
    pub slots: &'a Slots,
    /// Processes that have a place.
    pub pins: &'a [Pin],
    /// The steps of a method; none for the portfolio.
    pub steps: &'a [&'static Entry],
    /// The mapping to begin with, a place for each process; the linear one where there is none.
    pub start: Option<&'a [u32]>,
    /// What is to be small.
    pub objective: Objective,
    /// Hop-bytes may be more than the least found by this part, for less congestion. The linear
    /// mapping takes the place of what the portfolio finds where it has less congestion, whatever
    /// its hop-bytes.
    pub hops_limit: f64,
    /// How much is tried.
    pub effort: Effort,
    /// The seed of all that is random.
    pub seed: u64,
}

/// A mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped {
    /// The endpoint of each process.
    pub places: Vec<u32>,
    /// Whether it was stopped before its end: the best so far.
    pub interrupted: bool,
}

/// Finds a mapping. The same request gives the same mapping, whatever the number of threads; once
/// distances are known, an interruption gives the best so far.
///
/// # Errors
/// When processes do not fit the slots, pins cannot be held, the limit is no number from 0, there
/// is no way between two sites, or `watch` stops it before anything was found.
pub fn map(request: &Request<'_>, watch: &dyn Watch) -> Result<Mapped, Stop> {
    if !(request.hops_limit >= 0.0 && request.hops_limit.is_finite()) {
        let why = format!("{} is no part of hop-bytes", request.hops_limit);
        return Err(Refusal::new("hops_limit", why, "0 or more, as 0.05").into());
    }
    let (distances, _) = {
        let (few, many) = (request.graph.processes() as usize, request.slots.count());
        if few > many {
            return Err(Problem::new(request.graph, request.slots, request.pins, 1)
                .err()
                .expect("more processes than slots are refused")
                .into());
        }
        distances(request.ways, request.slots, watch)?
    };
    match &distances {
        Distances::Bytes(table) => with(request, table, watch),
        Distances::Words(table) => with(request, table, watch),
        Distances::Grid(grid) => with(request, grid, watch),
    }
}

fn with<M: Compiled>(request: &Request<'_>, metric: &M, watch: &dyn Watch) -> Result<Mapped, Stop> {
    let slots = request.slots;
    let near = Near::new(request.ways.topology(), slots);
    let longest = longest(metric, slots);
    let problem = Problem::new(request.graph, slots, request.pins, longest)?;
    let proposals = Proposals::new(&problem, &near);
    let run = Run {
        graph: request.graph,
        ways: request.ways,
        objective: request.objective,
        hops_limit: request.hops_limit,
        effort: request.effort,
        seed: request.seed,
        metric,
        problem: &problem,
        near: &near,
        proposals: &proposals,
        watch,
        stopped: AtomicBool::new(false),
    };
    let mut found = if request.steps.is_empty() {
        auto(&run)
    } else {
        chain::follow(&run, request.steps, request.start)?
    };
    if request.steps.is_empty() {
        if let Ways::Shortest(_) = request.ways {
            pack(&problem, &mut found);
        }
        found = not_worse(request, &problem, found)?;
    }
    let interrupted = run.stopped.into_inner();
    Ok(Mapped { places: found.places(&problem), interrupted })
}

/// An upper bound of distances: twice the farthest from one site.
fn longest<M: Compiled>(metric: &M, slots: &Slots) -> i32 {
    let from_first = (0..slots.sites() as u32).map(|b| metric.hops(0, b));
    2 * from_first.max().unwrap_or(0).max(1)
}

/// The mapping, or the linear one where that is better by the exact figures. Its hop-bytes have no
/// limit: whoever asks for a mapping does not get more congestion than without one.
fn not_worse(
    request: &Request<'_>,
    problem: &Problem<'_>,
    found: Arrangement,
) -> Result<Arrangement, Stop> {
    let linear = Arrangement::linear(problem);
    let of = |at: &Arrangement| -> Result<f64, Stop> {
        let it = evaluate(request.ways, request.graph, &at.places(problem), &Quiet)?.figures;
        Ok(if request.objective == Objective::Hops { it.hop_bytes } else { it.maximum_congestion })
    };
    Ok(if of(&linear)? < of(&found)? { linear } else { found })
}
