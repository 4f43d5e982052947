//! Warnings: what a floor leaves open, or is on the edge of what can be built.

use super::floor::RackFloor;
use super::rules::{FloorRules, ServerPlacement};
use fabric::network::Topology;

/// Roughly the most kilowatts of a rack that air alone can cool; above it racks need liquid. Rooms
/// are commonly built for 10 to 20.
const AIR_KW: f64 = 40.0;

/// The warnings for whoever builds `floor`, a line each; `t` and `rules` are those it was made for.
/// O(racks).
pub fn warnings(t: &Topology, floor: &RackFloor, rules: &FloorRules) -> Vec<String> {
    let mut found = Vec::new();
    let seated = floor.endpoints.iter().flatten().count();
    let beside = rules.endpoints == ServerPlacement::Beside;
    if beside && seated > 0 {
        found.push(format!(
            "the servers of {seated} endpoints are not seated: they stand beside the racks and \
             take no room; endpoints = \"in\" or \"rows\" seats them"
        ));
    }
    if rules.rack_kw.is_some() {
        let switches = rules.switch_w.unwrap_or(0.0) <= 0.0 && !t.switches().is_empty();
        let servers = rules.endpoint_w <= 0.0 && seated > 0 && !beside;
        for (unknown, what, rule) in
            [(switches, "switches", "switch_w"), (servers, "servers", "endpoint_w or server")]
        {
            if unknown {
                found.push(format!("rack_kw is without the power of {what}: give {rule}"));
            }
        }
    }
    let hot = floor.racks.iter().filter(|r| r.watts > AIR_KW * 1000.0).count();
    let hottest = floor.racks.iter().rev().max_by(|a, b| a.watts.total_cmp(&b.watts));
    // whoever gives rack_kw says what the room can cool
    if let Some(rack) = hottest.filter(|_| hot > 0 && rules.rack_kw.is_none()) {
        let kw = rack.watts / 1000.0;
        found.push(format!(
            "{hot} of {} racks draw more than {AIR_KW} kW, the most {kw:.1} kW in {}: air alone \
             does not cool them; rack_kw splits them",
            floor.racks.len(),
            rack.name
        ));
    }
    found
}
