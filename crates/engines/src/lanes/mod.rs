//! Virtual lanes for given routes: paths are distributed over lanes so that no lane's dependencies
//! form a cycle.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers 36(5), 1987: a lane is free of deadlock when its
//! channel dependency graph has no cycle. The file of each method names its own source.

use base::{ComputationError, ProgressWatch, Refusal};
use fabric::tables::{LaneAssignment, Routing, ServiceLevels, Sl2VlMapping};
use method::{MOST_LANES, PathLanes};
use rows::DistinctTableRows;

pub(crate) mod acyclic;
mod balance;
mod choice;
mod colouring;
mod cycles;
mod hops;
mod method;
pub mod needed;
mod online;
pub(crate) mod order;
pub(crate) mod paths;
mod rows;

pub use choice::{DefaultLaneMethod, LaneMethodParameters, schema};
pub use method::{LaneAssignmentMethod, LaneAssignmentRules};

/// The number of data lanes of common hardware, which engines use by default.
pub const fn common_lanes() -> u8 {
    8
}

/// Assigns lanes to the routes of `routing` so that no lane has a cycle. Where one lane has none,
/// the routes stay on it, whatever the method.
///
/// Time by method: see [`break_cycles`] for `Online`; `Hops` takes O(hops of all routes); the
/// others take O(turns of all routes) for each lane, and O(channels) for each cycle found.
///
/// # Errors
/// When `max_lanes` is not 1 to 15 or not enough, when `Hops` needs more than 16 service levels, or
/// when `watch` asks to stop.
pub fn spread(
    routing: Routing,
    rules: &LaneAssignmentRules,
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    let max_lanes = rules.max_lanes;
    if !(1..=MOST_LANES).contains(&max_lanes) {
        let why = format!("{max_lanes} lanes");
        return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
    }
    let routing = routing.with_lanes(LaneAssignment::single());
    let found = if acyclic::is_free(&routing, watch)? {
        if !rules.balance {
            return Ok(routing);
        }
        PathLanes { lane_of: vec![0; routing.entries()], lanes: 1 }
    } else {
        match rules.method {
            LaneAssignmentMethod::Online => {
                online::lanes(&routing, &DistinctTableRows::of(&routing), max_lanes, watch)?
            }
            LaneAssignmentMethod::Hops => {
                return hops::lanes(routing, max_lanes, rules.balance, watch);
            }
            _ => cycles::lanes(&routing, rules, watch)?,
        }
    };
    let found =
        if rules.balance { balance::over(&routing, found, max_lanes, watch)? } else { found };
    if found.lanes == 1 {
        return Ok(routing);
    }
    let levels = ServiceLevels::BySwitch(found.lane_of);
    Ok(routing.with_lanes(LaneAssignment::new(levels, Sl2VlMapping::modulo(found.lanes))))
}

/// [`spread`] with the method `Online`, which assigns lanes path by path and takes as few as it
/// finds. The service level is the lane.
///
/// Paths of at most two hops take O(hops of all routes). For longer paths, each turn also costs, at
/// most once per lane, the part of the lane's order between the two channels of the turn.
///
/// # Errors
/// When `max_lanes` is not 1 to 15 or not enough, or `watch` asks to stop.
pub fn break_cycles(
    routing: Routing,
    max_lanes: u8,
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    let rules = LaneAssignmentRules {
        method: LaneAssignmentMethod::Online,
        max_lanes,
        balance: false,
        seed: 0,
    };
    spread(routing, &rules, watch)
}

/// The number of lanes that one method needs.
#[derive(Debug, Clone)]
pub struct MethodLaneCount {
    /// The method.
    pub method: LaneAssignmentMethod,
    /// Data lanes and service levels, or why 15 lanes or 16 levels are not enough.
    pub lanes: Result<(u8, u8), Refusal>,
}

/// Counts the lanes that each method needs for the routes of `routing`.
///
/// # Errors
/// [`ComputationError::Interrupted`] when `watch` asks to stop.
pub fn needed(
    routing: &Routing,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<MethodLaneCount>, ComputationError> {
    let mut all = Vec::new();
    for method in LaneAssignmentMethod::ALL {
        let rules = LaneAssignmentRules { method, max_lanes: 15, balance: false, seed };
        let lanes = match spread(routing.clone(), &rules, watch) {
            Ok(done) => Ok((done.lanes().count(), done.lanes().levels().in_use().len() as u8)),
            Err(ComputationError::Refused(refusal)) => Err(refusal),
            Err(stopped @ ComputationError::Interrupted(_)) => return Err(stopped),
        };
        all.push(MethodLaneCount { method, lanes });
    }
    Ok(all)
}
