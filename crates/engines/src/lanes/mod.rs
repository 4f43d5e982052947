//! Virtual lanes for given routes: paths are spread so that no lane's dependencies form a cycle.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers 36(5), 1987: a lane is free of deadlock when its
//! channel dependency graph has no cycle. Each method says in its file where it comes from.

use base::{Refusal, Stop, Watch};
use fabric::tables::{Lanes, Routing, ServiceLevels, Sl2Vl};
use method::{Found, MOST_LANES};
use rows::Rows;

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

pub use choice::{Choice, Usual, schema};
pub use method::{Method, Spread};

/// The data lanes of common hardware, which engines use unless told otherwise.
pub const fn common_lanes() -> u8 {
    8
}

/// The routes of `routing` on lanes without cycles: on one where that does, whatever the method.
///
/// Time by method: see [`break_cycles`] for `Online`; `Hops` O(hops of all routes); the others add
/// the turns of all routes for each lane, and the channels for each cycle found.
///
/// # Errors
/// When `max_lanes` is not 1 to 15 or not enough, when `Hops` needs more than 16 service levels, or
/// `watch` says stop.
pub fn spread(routing: Routing, how: &Spread, watch: &dyn Watch) -> Result<Routing, Stop> {
    let max_lanes = how.max_lanes;
    if !(1..=MOST_LANES).contains(&max_lanes) {
        let why = format!("{max_lanes} lanes");
        return Err(Refusal::new("max_lanes", why, "1 to 15 data lanes").into());
    }
    let routing = routing.with_lanes(Lanes::single());
    let found = if acyclic::is_free(&routing, watch)? {
        if !how.balance {
            return Ok(routing);
        }
        Found { lane_of: vec![0; routing.entries()], lanes: 1 }
    } else {
        match how.method {
            Method::Online => online::lanes(&routing, &Rows::of(&routing), max_lanes, watch)?,
            Method::Hops => return hops::lanes(routing, max_lanes, how.balance, watch),
            _ => cycles::lanes(&routing, how, watch)?,
        }
    };
    let found = if how.balance { balance::over(&routing, found, max_lanes, watch)? } else { found };
    if found.lanes == 1 {
        return Ok(routing);
    }
    let levels = ServiceLevels::BySwitch(found.lane_of);
    Ok(routing.with_lanes(Lanes::new(levels, Sl2Vl::modulo(found.lanes))))
}

/// [`spread`] path by path, over as few lanes as that finds, service level = lane.
///
/// Paths of at most two hops: O(hops of all routes). Longer ones: besides, for each turn the part
/// of its lane's order that it spans, at most once a lane.
///
/// # Errors
/// When `max_lanes` is not 1 to 15 or not enough, or `watch` says stop.
pub fn break_cycles(routing: Routing, max_lanes: u8, watch: &dyn Watch) -> Result<Routing, Stop> {
    let how = Spread { method: Method::Online, max_lanes, balance: false, seed: 0 };
    spread(routing, &how, watch)
}

/// What one method needs.
#[derive(Debug, Clone)]
pub struct Need {
    /// The method.
    pub method: Method,
    /// Data lanes and service levels that it needs, or why 15 lanes or 16 levels are not enough.
    pub lanes: Result<(u8, u8), Refusal>,
}

/// How many lanes each method needs for the routes of `routing`.
///
/// # Errors
/// [`Stop::Interrupted`] when `watch` says stop.
pub fn needed(routing: &Routing, seed: u64, watch: &dyn Watch) -> Result<Vec<Need>, Stop> {
    let mut all = Vec::new();
    for method in Method::ALL {
        let how = Spread { method, max_lanes: 15, balance: false, seed };
        let lanes = match spread(routing.clone(), &how, watch) {
            Ok(done) => Ok((done.lanes().count(), done.lanes().levels().in_use().len() as u8)),
            Err(Stop::Refused(refusal)) => Err(refusal),
            Err(stopped @ Stop::Interrupted(_)) => return Err(stopped),
        };
        all.push(Need { method, lanes });
    }
    Ok(all)
}
