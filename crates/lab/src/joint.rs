//! Mapping and routing found together: tables made for the traffic of a mapping, a mapping for the
//! ways of tables.
//!
//! Source of the idea: Hoefler, "Optimized routing and process mapping for arbitrary network
//! topologies" (talk), which names it as open. Mappings with few hop-bytes and with more, for less
//! congestion, are made over all shortest ways; each gets tables for its traffic, whose ways may be
//! longer by some hops. The least congested pair goes on: its mapping is refined under its tables,
//! and these are made anew, while that helps.

use base::{Refusal, Stop, Watch};
use engines::Entry;
use fabric::Topology;
use fabric::tables::Routing;
use mapping::chain;
use mapping::evaluate::{MappingFigures, evaluate, flows};
use mapping::fractional::{Demand, FractionalRouting};
use mapping::map::{Effort, MappingRequest, MappingResult, map};
use mapping::paths::Paths;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The engine whose tables these are.
pub const ENGINE: &str = "application";

/// Parts of the hops limit that first mappings keep to.
const PARTS: [f64; 4] = [0.15, 0.35, 0.65, 1.0];

/// What is refused where routes take too many lanes.
const LANES: &str = "max_lanes";

/// Most rounds of a mapping for the tables and tables for the mapping.
const ROUNDS: u64 = 5;

/// A round that gains less than this part is the last.
const LITTLE: f64 = 0.005;

/// Steps of the fractional routing that bounds what tables can do.
const STEPS: u32 = 300;

/// What is asked beside the mapping: `request.paths` are the shortest.
pub struct Asked<'a> {
    /// The network.
    pub on: &'a Arc<Topology>,
    /// The mapping: graph, slots, limit, effort. Its steps, or its start, where there are some,
    /// make the only mapping that is tried, and that is then kept.
    pub request: MappingRequest<'a>,
    /// Routes to each terminal.
    pub layers: u32,
    /// Options of the engine, without flows.
    pub options: &'a Map<String, Value>,
}

/// What one step brought.
#[derive(Debug, Clone, Serialize)]
pub struct Brought {
    /// `mapping`, `routing`, or `mapping for the tables`.
    pub step: &'static str,
    /// The part by which hop-bytes could grow in this mapping.
    pub hops_limit: f64,
    /// The seed of this mapping.
    pub seed: u64,
    /// Maximum congestion: of a mapping split over all shortest ways, else by the tables.
    pub maximum_congestion: f64,
    /// Hop-bytes likewise.
    pub hop_bytes: f64,
    /// No routing of this mapping, split at will over ways that are as long at most, is below.
    pub bound: Option<f64>,
}

/// A mapping and its tables.
pub struct Joint {
    /// The endpoint of each process.
    pub mapped: MappingResult,
    /// The tables.
    pub routing: Routing,
    /// What each step brought.
    pub steps: Vec<Brought>,
    /// What no routing of this mapping can be below, where the network is not too large for that.
    pub bound: Option<f64>,
}

/// A mapping with tables and what they are worth.
#[derive(Clone)]
struct State {
    places: Vec<u32>,
    routing: Routing,
    figures: MappingFigures,
    bound: Option<f64>,
    limit: f64,
    seed: u64,
}

impl State {
    fn most(&self) -> f64 {
        self.figures.maximum_congestion
    }

    fn brought(&self) -> Brought {
        Brought::of("routing", &self.figures, self.bound, self.limit, self.seed)
    }
}

impl Brought {
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

/// Finds a mapping and tables for it. The same request gives the same answer, whatever the number
/// of threads.
///
/// # Errors
/// As [`map`] and the engine; when its options have flows, or `watch` says stop before any tables
/// were there.
pub fn joint(asked: &Asked<'_>, watch: &dyn Watch) -> Result<Joint, Stop> {
    let slack = slack(asked.options)?;
    let engine = engines::engine(ENGINE)?;
    let run = Run { asked, engine, slack };
    let request = &asked.request;
    let fixed = !request.steps.is_empty() || request.start.is_some();
    let tried = run.tried(fixed);
    let (mut steps, mut states, mut interrupted) = (Vec::new(), Vec::new(), false);
    let mut refused = None;
    let all: Vec<Result<(Brought, State, bool), Stop>> =
        tried.par_iter().map(|one| run.first(one, watch)).collect();
    for one in all {
        match one {
            Ok((mapping, state, stopped)) => {
                interrupted |= stopped;
                steps.extend([mapping, state.brought()]);
                states.push(state);
            }
            Err(stop) => {
                interrupted |= matches!(stop, Stop::Interrupted(_));
                refused = refused.or(Some(stop));
            }
        }
    }
    let least = |a: &State, b: &State| a.most().total_cmp(&b.most());
    let Some(mut best) = states.into_iter().min_by(least) else {
        return Err(refused.expect("one was tried"));
    };
    if !fixed && !interrupted {
        interrupted = run.alternate(&mut best, &mut steps, watch)?;
    }
    let mapped = MappingResult { places: best.places, interrupted };
    Ok(Joint { mapped, routing: best.routing, steps, bound: best.bound })
}

/// Hops by which ways may be longer.
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

struct Run<'a> {
    asked: &'a Asked<'a>,
    engine: &'static Entry,
    slack: u32,
}

impl Run<'_> {
    /// The first mappings: hops limit and seed of each.
    fn tried(&self, fixed: bool) -> Vec<(f64, u64)> {
        let MappingRequest { hops_limit, seed, effort, .. } = self.asked.request;
        let seeds = if effort == Effort::Best { 4 } else { 1 };
        if fixed {
            return vec![(hops_limit, seed)];
        }
        let of = |i: u64| PARTS.iter().map(move |part| (part * hops_limit, seed.wrapping_add(i)));
        (0..seeds).flat_map(of).collect()
    }

    /// A first mapping and its tables.
    fn first(
        &self,
        &(limit, seed): &(f64, u64),
        watch: &dyn Watch,
    ) -> Result<(Brought, State, bool), Stop> {
        let request = &self.asked.request;
        let effort = if request.effort == Effort::Best { Effort::Normal } else { request.effort };
        // a mapping that is given is taken as it is, once it is known to fit
        let kept = request.steps.is_empty() && request.start.is_some();
        let linear = chain::parse("linear")?;
        let steps = if kept { &linear } else { request.steps };
        let mapped =
            map(&MappingRequest { steps, hops_limit: limit, seed, effort, ..*request }, watch)?;
        let it = evaluate(request.paths, request.graph, &mapped.places, watch)?.figures;
        let brought = Brought::of("mapping", &it, None, limit, seed);
        Ok((brought, self.routed(mapped.places, limit, seed, watch)?, mapped.interrupted))
    }

    /// A mapping with tables for its traffic, and a bound for them.
    fn routed(
        &self,
        places: Vec<u32>,
        limit: f64,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<State, Stop> {
        let (on, graph) = (self.asked.on, self.asked.request.graph);
        let flows = flows(on, graph, &places)?;
        let mut demand: Demand = vec![Vec::new(); on.switches().len()];
        for &(from, to, bytes) in &flows {
            demand[on.terminals()[to as usize].plug.switch.ix()].push((from, bytes));
        }
        let bound = match FractionalRouting::new(on, &demand, self.slack, STEPS, watch) {
            Ok(split) => Some(split.bound()),
            Err(Stop::Refused(_)) => None, // too large to be bounded
            Err(stop) => return Err(stop),
        };
        let mut options = self.asked.options.clone();
        options.insert("flows".to_owned(), json!(flows));
        let routing = self.tables(options, watch)?;
        let figures = self.worth(&routing, &places, watch)?;
        Ok(State { places, routing, figures, bound, limit, seed })
    }

    /// Tables of as much slack as lanes allow.
    fn tables(&self, mut options: Map<String, Value>, watch: &dyn Watch) -> Result<Routing, Stop> {
        for slack in (0..=self.slack).rev() {
            options.insert("slack".to_owned(), json!(slack));
            match self.engine.route(&options, self.asked.on, self.asked.layers, watch) {
                Err(Stop::Refused(refusal)) if slack > 0 && refusal.param.ends_with(LANES) => {}
                done => return done,
            }
        }
        unreachable!("the last slack is answered")
    }

    fn worth(
        &self,
        routing: &Routing,
        places: &[u32],
        watch: &dyn Watch,
    ) -> Result<MappingFigures, Stop> {
        let graph = self.asked.request.graph;
        Ok(evaluate(Paths::Tables(routing), graph, places, watch)?.figures)
    }

    /// Refines the mapping for its tables, and makes tables for that, while it helps; whether it
    /// was interrupted.
    fn alternate(
        &self,
        best: &mut State,
        steps: &mut Vec<Brought>,
        watch: &dyn Watch,
    ) -> Result<bool, Stop> {
        for round in 0..ROUNDS {
            let before = best.most();
            match self.round(best, round, steps, watch) {
                Ok(next) if next.most() < best.most() => *best = next,
                Ok(_) => {}
                Err(Stop::Interrupted(_)) => return Ok(true),
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
        at: &State,
        round: u64,
        steps: &mut Vec<Brought>,
        watch: &dyn Watch,
    ) -> Result<State, Stop> {
        let request = MappingRequest {
            paths: Paths::Tables(&at.routing),
            steps: &chain::parse("congestion")?,
            start: Some(&at.places),
            hops_limit: at.limit,
            seed: at.seed.wrapping_add(round),
            ..self.asked.request
        };
        let places = map(&request, watch)?.places;
        let figures = self.worth(&at.routing, &places, watch)?;
        let step = "mapping for the tables";
        steps.push(Brought::of(step, &figures, None, at.limit, request.seed));
        let refined = State { places, figures, ..at.clone() };
        let next = self.routed(refined.places.clone(), at.limit, request.seed, watch)?;
        steps.push(next.brought());
        Ok(if next.most() <= refined.most() { next } else { refined })
    }
}
