//! Hints: what a small change of a network would save on its floor.

use super::floor::RackFloor;
use super::packing::{RackLimits, RackLoad};
use super::rules::{FloorRules, ServerPlacement};
use fabric::network::Topology;

/// The least share of a switch's endpoints that a hint leaves it.
const KEPT: f64 = 0.9;

/// Hints for whoever plans `floor`, a line each; `t` and `rules` are those it was made for.
///
/// Where racks are alike, each a little more than half full, so that what is in two of them does
/// not fit in one, and somewhat fewer endpoints a switch would let it, a line says so.
/// O(switches + endpoints).
pub fn hints(t: &Topology, floor: &RackFloor, rules: &FloorRules) -> Vec<String> {
    half_empty(t, floor, rules).into_iter().collect()
}

fn half_empty(t: &Topology, floor: &RackFloor, rules: &FloorRules) -> Option<String> {
    let racks = floor.racks.len();
    if rules.endpoints != ServerPlacement::In || racks < 2 {
        return None;
    }
    let mut loads = vec![RackLoad::default(); racks];
    for seat in &floor.switches {
        loads[seat.rack as usize].switches += 1;
    }
    for seat in floor.endpoints.iter().flatten() {
        loads[seat.rack as usize].endpoints += 1;
    }
    let all = *loads.first()?;
    let each = all.endpoints.checked_div(all.switches).filter(|&each| each > 1)?;
    if loads.iter().any(|load| *load != all) || each * all.switches != all.endpoints {
        return None;
    }
    let limits = RackLimits::new(rules).ok()?;
    let two = |p: u64| RackLoad { switches: 2 * all.switches, endpoints: 2 * all.switches * p };
    let least = (KEPT * each as f64).ceil() as u64;
    if limits.hold(two(each)) {
        return None; // the family keeps them apart
    }
    let fits = (least..each).rev().find(|&p| limits.hold(two(p)))?;
    let (full, units) = (limits.units(all), rules.rack_units);
    let (endpoints, fewer) =
        (t.endpoints().len() as u64, t.switches().len() as u64 * (each - fits));
    Some(format!(
        "each rack has {full} of {units} units taken, and what two hold does not fit in one; with \
         {fits} endpoints a switch instead of {each} ({} instead of {endpoints}) it would, in {} \
         racks instead of {racks}",
        endpoints - fewer,
        racks.div_ceil(2)
    ))
}
