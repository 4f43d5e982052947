//! The entry point of mapping, which runs the requested methods, or a portfolio of all methods with
//! a limited number of swaps.

use crate::arrangement::ProcessArrangement;
use crate::chain;
pub use crate::effort::{MappingObjective, SearchEffort};
use crate::evaluate::evaluate;
use crate::method::{CompiledSiteMetric, MappingMethodEntry, auto, pack};
use crate::metric::{SiteDistances, distances};
use crate::near::NearSiteLists;
use crate::paths::TrafficPathRule;
use crate::problem::{MappingProblem, PinnedProcess};
use crate::proposals::SwapProposalGenerator;
use crate::run::PreparedMappingProblem;
use crate::slots::ProcessSlots;
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal};
use std::sync::atomic::AtomicBool;
use traffic::communication::CommunicationGraph;

/// The problem and the settings of a mapping.
#[derive(Clone, Copy)]
pub struct MappingRequest<'a> {
    /// The traffic between processes.
    pub graph: &'a CommunicationGraph,
    /// The paths that traffic takes.
    pub paths: TrafficPathRule<'a>,
    /// The slots that processes can be put in.
    pub slots: &'a ProcessSlots,
    /// Processes that are fixed to an endpoint.
    pub pins: &'a [PinnedProcess],
    /// The steps of a method; empty for the portfolio.
    pub steps: &'a [&'static MappingMethodEntry],
    /// The mapping to start from, an endpoint for each process; by default the linear mapping.
    pub start: Option<&'a [u32]>,
    /// The quantity to minimise.
    pub objective: MappingObjective,
    /// The fraction by which hop-bytes may exceed the least found, in exchange for less congestion.
    /// The linear mapping replaces the portfolio's result if it has less congestion, whatever its
    /// hop-bytes.
    pub hops_limit: f64,
    /// The effort to spend.
    pub effort: SearchEffort,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// A mapping that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MappingResult {
    /// The endpoint of each process.
    pub places: Vec<u32>,
    /// Whether the search was stopped before its end; the mapping is then the best one so far.
    pub interrupted: bool,
}

/// Finds a mapping. The same request gives the same mapping, whatever the number of threads. An
/// interruption after the distances are known gives the best mapping so far.
///
/// # Errors
/// When processes do not fit the slots, pins cannot be held, `hops_limit` is negative or not
/// finite, no path connects two sites, or `watch` stops the search before anything was found.
pub fn map(
    request: &MappingRequest<'_>,
    watch: &dyn ProgressWatch,
) -> Result<MappingResult, ComputationError> {
    if !(request.hops_limit >= 0.0 && request.hops_limit.is_finite()) {
        let why = format!("{} is no part of hop-bytes", request.hops_limit);
        return Err(Refusal::new("hops_limit", why, "0 or more, as 0.05").into());
    }
    let (distances, _) = {
        let (few, many) = (request.graph.processes() as usize, request.slots.count());
        if few > many {
            return Err(MappingProblem::new(request.graph, request.slots, request.pins, 1)
                .err()
                .expect("more processes than slots are refused")
                .into());
        }
        distances(request.paths, request.slots, watch)?
    };
    match &distances {
        SiteDistances::Bytes(table) => with(request, table, watch),
        SiteDistances::Words(table) => with(request, table, watch),
        SiteDistances::Grid(grid) => with(request, grid, watch),
    }
}

fn with<M: CompiledSiteMetric>(
    request: &MappingRequest<'_>,
    metric: &M,
    watch: &dyn ProgressWatch,
) -> Result<MappingResult, ComputationError> {
    let slots = request.slots;
    let near = NearSiteLists::new(request.paths.topology(), slots);
    let longest = longest(metric, slots);
    let problem = MappingProblem::new(request.graph, slots, request.pins, longest)?;
    let proposals = SwapProposalGenerator::new(&problem, &near);
    let run = PreparedMappingProblem {
        graph: request.graph,
        paths: request.paths,
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
        if let TrafficPathRule::Shortest(_) = request.paths {
            pack(&problem, &mut found);
        }
        found = not_worse(request, &problem, found)?;
    }
    let interrupted = run.stopped.into_inner();
    Ok(MappingResult { places: found.places(&problem), interrupted })
}

/// Upper bound of all distances: twice the largest distance from one site.
fn longest<M: CompiledSiteMetric>(metric: &M, slots: &ProcessSlots) -> i32 {
    let from_first = (0..slots.sites() as u32).map(|b| metric.hops(0, b));
    2 * from_first.max().unwrap_or(0).max(1)
}

/// The mapping, or the linear one if that has less congestion by exact evaluation, whatever its
/// hop-bytes: a requested mapping should never cause more congestion than no mapping.
fn not_worse(
    request: &MappingRequest<'_>,
    problem: &MappingProblem<'_>,
    found: ProcessArrangement,
) -> Result<ProcessArrangement, ComputationError> {
    let linear = ProcessArrangement::linear(problem);
    let of = |at: &ProcessArrangement| -> Result<f64, ComputationError> {
        let it = evaluate(request.paths, request.graph, &at.places(problem), &QuietWatch)?.figures;
        Ok(if request.objective == MappingObjective::Hops {
            it.hop_bytes
        } else {
            it.maximum_congestion
        })
    };
    Ok(if of(&linear)? < of(&found)? { linear } else { found })
}
