//! Joint mapping and routing: tables are made for the traffic of a mapping, and the mapping is
//! refined for the paths of the tables.
//!
//! Source of the idea: Hoefler, "Optimized routing and process mapping for arbitrary network
//! topologies" (talk), which names it as open. First, mappings with few hop-bytes, and some with
//! more for less congestion, are made over all shortest paths. Each gets tables for its traffic,
//! whose paths may be some hops longer. The least congested pair continues: its mapping is refined
//! under its tables, and the tables are made anew, as long as that helps.

use base::{ComputationError, ProgressWatch, Refusal};
use engines::EngineEntry;
use fabric::Topology;
use fabric::tables::Routing;
use mapping::chain;
use mapping::evaluate::{MappingFigures, evaluate, flows};
use mapping::fractional::{FractionalRouting, SwitchDemand};
use mapping::map::{MappingRequest, MappingResult, SearchEffort, map};
use mapping::paths::TrafficPathRule;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The engine that makes the tables.
pub const ENGINE: &str = "application";

/// The parts of the limit on hop-bytes within which the first mappings stay.
const PARTS: [f64; 4] = [0.15, 0.35, 0.65, 1.0];

/// The parameter that the engine refuses where its routes need too many lanes.
const LANES: &str = "max_lanes";

/// The largest number of rounds, each of which refines the mapping for the tables and makes new
/// tables.
const ROUNDS: u64 = 5;

/// A round that gains less than this part is the last one.
const LITTLE: f64 = 0.005;

/// The number of steps of the fractional routing that bounds the congestion of any tables.
const STEPS: u32 = 300;

/// The request of a joint mapping and routing; `request.paths` are the shortest ones.
pub struct JointMappingRequest<'a> {
    /// The network.
    pub on: &'a Arc<Topology>,
    /// The request of the mapping: graph, slots, limit, effort. If it has steps or a start, they
    /// make the only mapping that is tried, and this is kept.
    pub request: MappingRequest<'a>,
    /// Routes to each terminal.
    pub layers: u32,
    /// Options of the engine, without flows.
    pub options: &'a Map<String, Value>,
}

/// The result of one step.
#[derive(Debug, Clone, Serialize)]
pub struct JointMappingStepResult {
    /// The kind of step: `mapping`, `routing`, or `mapping for the tables`.
    pub step: &'static str,
    /// The part by which hop-bytes were allowed to grow in this mapping.
    pub hops_limit: f64,
    /// The seed of this mapping.
    pub seed: u64,
    /// Maximum congestion: over all shortest paths for a mapping, else by the tables.
    pub maximum_congestion: f64,
    /// Hop-bytes, over the same paths.
    pub hop_bytes: f64,
    /// Lower bound of the congestion of this mapping under any routing whose paths are not longer.
    pub bound: Option<f64>,
}

/// A mapping with tables made for it.
pub struct JointMappingResult {
    /// The mapping.
    pub mapped: MappingResult,
    /// The tables made for the mapping.
    pub routing: Routing,
    /// The result of each step.
    pub steps: Vec<JointMappingStepResult>,
    /// Lower bound of the congestion of this mapping, unless the network is too large to compute
    /// it.
    pub bound: Option<f64>,
}

/// A mapping with tables, and their figures.
#[derive(Clone)]
struct RoutedMapping {
    places: Vec<u32>,
    routing: Routing,
    figures: MappingFigures,
    bound: Option<f64>,
    limit: f64,
    seed: u64,
}

impl RoutedMapping {
    fn most(&self) -> f64 {
        self.figures.maximum_congestion
    }

    fn result(&self) -> JointMappingStepResult {
        JointMappingStepResult::of("routing", &self.figures, self.bound, self.limit, self.seed)
    }
}

impl JointMappingStepResult {
    fn of(
        step: &'static str,
        it: &MappingFigures,
        bound: Option<f64>,
        hops_limit: f64,
        seed: u64,
    ) -> Self {
        let (maximum_congestion, hop_bytes) = (it.maximum_congestion, it.hop_bytes);
        Self { step, hops_limit, seed, maximum_congestion, hop_bytes, bound }
    }
}

/// Finds a mapping and tables for it. The same request gives the same result, whatever the number
/// of threads.
///
/// # Errors
/// The errors of [`map`] and of the engine; when the options have flows, or `watch` says stop
/// before there are any tables.
pub fn joint(
    asked: &JointMappingRequest<'_>,
    watch: &dyn ProgressWatch,
) -> Result<JointMappingResult, ComputationError> {
    let slack = slack(asked.options)?;
    let engine = engines::engine(ENGINE)?;
    let run = JointMappingOptimizer { asked, engine, slack };
    let request = &asked.request;
    let fixed = !request.steps.is_empty() || request.start.is_some();
    let tried = run.tried(fixed);
    let (mut steps, mut states, mut interrupted) = (Vec::new(), Vec::new(), false);
    let mut refused = None;
    let all: Vec<Result<(JointMappingStepResult, RoutedMapping, bool), ComputationError>> =
        tried.par_iter().map(|one| run.first(one, watch)).collect();
    for one in all {
        match one {
            Ok((mapping, state, stopped)) => {
                interrupted |= stopped;
                steps.extend([mapping, state.result()]);
                states.push(state);
            }
            Err(stop) => {
                interrupted |= matches!(stop, ComputationError::Interrupted(_));
                refused = refused.or(Some(stop));
            }
        }
    }
    let least = |a: &RoutedMapping, b: &RoutedMapping| a.most().total_cmp(&b.most());
    let Some(mut best) = states.into_iter().min_by(least) else {
        return Err(refused.expect("one was tried"));
    };
    if !fixed && !interrupted {
        interrupted = run.alternate(&mut best, &mut steps, watch)?;
    }
    let mapped = MappingResult { places: best.places, interrupted };
    Ok(JointMappingResult { mapped, routing: best.routing, steps, bound: best.bound })
}

/// The number of hops by which paths may be longer than the shortest.
fn slack(options: &Map<String, Value>) -> Result<u32, Refusal> {
    if options.contains_key("flows") || options.contains_key("traffic") {
        let why = "flows are those of the mapping";
        return Err(Refusal::new("flows", why, "leave them out of the options"));
    }
    let given = options.get("slack").map_or(Some(1), Value::as_u64);
    given
        .and_then(|slack| u32::try_from(slack).ok())
        .ok_or_else(|| Refusal::new("slack", "this is no number of hops", "a whole number, as 1"))
}

/// A run of the joint mapping and routing: its request, its engine, and how many hops longer than
/// minimal paths may be.
struct JointMappingOptimizer<'a> {
    asked: &'a JointMappingRequest<'a>,
    engine: &'static EngineEntry,
    slack: u32,
}

impl JointMappingOptimizer<'_> {
    /// The limit on hop-bytes and the seed of each of the first mappings.
    fn tried(&self, fixed: bool) -> Vec<(f64, u64)> {
        let MappingRequest { hops_limit, seed, effort, .. } = self.asked.request;
        let seeds = if effort == SearchEffort::Best { 4 } else { 1 };
        if fixed {
            return vec![(hops_limit, seed)];
        }
        let of = |i: u64| PARTS.iter().map(move |part| (part * hops_limit, seed.wrapping_add(i)));
        (0..seeds).flat_map(of).collect()
    }

    /// Makes a first mapping and its tables; also returns whether it was interrupted.
    fn first(
        &self,
        &(limit, seed): &(f64, u64),
        watch: &dyn ProgressWatch,
    ) -> Result<(JointMappingStepResult, RoutedMapping, bool), ComputationError> {
        let request = &self.asked.request;
        let effort = if request.effort == SearchEffort::Best {
            SearchEffort::Normal
        } else {
            request.effort
        };
        // a given mapping is kept, once the linear method has checked that it fits
        let kept = request.steps.is_empty() && request.start.is_some();
        let linear = chain::parse("linear")?;
        let steps = if kept { &linear } else { request.steps };
        let mapped =
            map(&MappingRequest { steps, hops_limit: limit, seed, effort, ..*request }, watch)?;
        let it = evaluate(request.paths, request.graph, &mapped.places, watch)?.figures;
        let result = JointMappingStepResult::of("mapping", &it, None, limit, seed);
        Ok((result, self.routed(mapped.places, limit, seed, watch)?, mapped.interrupted))
    }

    /// Adds tables for its traffic to a mapping, and a lower bound of their congestion.
    fn routed(
        &self,
        places: Vec<u32>,
        limit: f64,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<RoutedMapping, ComputationError> {
        let (on, graph) = (self.asked.on, self.asked.request.graph);
        let flows = flows(on, graph, &places)?;
        let mut demand: SwitchDemand = vec![Vec::new(); on.switches().len()];
        for &(from, to, bytes) in &flows {
            demand[on.terminals()[to as usize].plug.switch.ix()].push((from, bytes));
        }
        let bound = match FractionalRouting::new(on, &demand, self.slack, STEPS, watch) {
            Ok(split) => Some(split.bound()),
            Err(ComputationError::Refused(_)) => None, // too large to be bounded
            Err(stop) => return Err(stop),
        };
        let mut options = self.asked.options.clone();
        options.insert("flows".to_owned(), json!(flows));
        let routing = self.tables(options, watch)?;
        let figures = self.worth(&routing, &places, watch)?;
        Ok(RoutedMapping { places, routing, figures, bound, limit, seed })
    }

    /// Makes tables with as much slack as the lanes allow.
    fn tables(
        &self,
        mut options: Map<String, Value>,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        for slack in (0..=self.slack).rev() {
            options.insert("slack".to_owned(), json!(slack));
            match self.engine.route(&options, self.asked.on, self.asked.layers, watch) {
                Err(ComputationError::Refused(refusal))
                    if slack > 0 && refusal.param.ends_with(LANES) => {}
                done => return done,
            }
        }
        unreachable!("the last slack is answered")
    }

    fn worth(
        &self,
        routing: &Routing,
        places: &[u32],
        watch: &dyn ProgressWatch,
    ) -> Result<MappingFigures, ComputationError> {
        let graph = self.asked.request.graph;
        Ok(evaluate(TrafficPathRule::Tables(routing), graph, places, watch)?.figures)
    }

    /// Refines the mapping for its tables and makes new tables for it, as long as that helps;
    /// returns whether it was interrupted.
    fn alternate(
        &self,
        best: &mut RoutedMapping,
        steps: &mut Vec<JointMappingStepResult>,
        watch: &dyn ProgressWatch,
    ) -> Result<bool, ComputationError> {
        for round in 0..ROUNDS {
            let before = best.most();
            match self.round(best, round, steps, watch) {
                Ok(next) if next.most() < best.most() => *best = next,
                Ok(_) => {}
                Err(ComputationError::Interrupted(_)) => return Ok(true),
                Err(stop) => return Err(stop),
            }
            if best.most() >= before * (1.0 - LITTLE) {
                break;
            }
        }
        Ok(false)
    }

    fn round(
        &self,
        at: &RoutedMapping,
        round: u64,
        steps: &mut Vec<JointMappingStepResult>,
        watch: &dyn ProgressWatch,
    ) -> Result<RoutedMapping, ComputationError> {
        let request = MappingRequest {
            paths: TrafficPathRule::Tables(&at.routing),
            steps: &chain::parse("congestion")?,
            start: Some(&at.places),
            hops_limit: at.limit,
            seed: at.seed.wrapping_add(round),
            ..self.asked.request
        };
        let places = map(&request, watch)?.places;
        let figures = self.worth(&at.routing, &places, watch)?;
        let step = "mapping for the tables";
        steps.push(JointMappingStepResult::of(step, &figures, None, at.limit, request.seed));
        let refined = RoutedMapping { places, figures, ..at.clone() };
        let next = self.routed(refined.places.clone(), at.limit, request.seed, watch)?;
        steps.push(next.result());
        Ok(if next.most() <= refined.most() { next } else { refined })
    }
}
