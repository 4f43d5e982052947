//! The floor: which rack and unit every switch and endpoint is in, and where the racks stand.
//!
//! Source of grid, lengths: Besta & Hoefler, "Slim Fly: a cost effective low-diameter
//! network topology", SC 2014, section VI.

use super::Device;
use super::packing::{RackLimits, RackLoad};
use super::rules::{FloorRules, ServerPlacement};
use super::seating::{SwitchRackBlock, seat};
use base::ComputationError;
use base::{ProgressWatch, SwitchId, TerminalId};
use fabric::network::Topology;
use serde::Serialize;

/// A rack and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FloorRack {
    /// Its name, `R00` first.
    pub name: String,
    /// Row of the grid, from 0.
    pub row: u32,
    /// Column of the grid, from 0.
    pub column: u32,
    /// Position of its centre along the row, metres from the first rack.
    pub x_m: f64,
    /// Position of its centre across the rows, metres from the first rack.
    pub y_m: f64,
    /// Units that are taken.
    pub units: u16,
    /// Power drawn by what is in it, watts.
    pub watts: f64,
}

/// The seat of a switch or an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct DeviceRackPosition {
    /// Index of the rack in [`RackFloor::racks`].
    pub rack: u32,
    /// Lowest unit it takes, from 1 at the bottom; `None` for what stands beside the rack.
    pub unit: Option<u16>,
    /// Whether others may be in the same unit.
    pub shared: bool,
}

/// Racks on a grid and what is in them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RackFloor {
    /// The racks, row by row.
    pub racks: Vec<FloorRack>,
    /// Seat of each switch, by switch id; the unit is always known.
    pub switches: Vec<DeviceRackPosition>,
    /// Seat of each endpoint, by endpoint id; `None` for endpoints without a rail.
    pub endpoints: Vec<Option<DeviceRackPosition>>,
}

impl RackFloor {
    /// Manhattan distance between the centres of two racks, metres.
    ///
    /// # Panics
    /// When a rack does not exist.
    pub fn distance_m(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (&self.racks[a as usize], &self.racks[b as usize]);
        (a.x_m - b.x_m).abs() + (a.y_m - b.y_m).abs()
    }

    /// Length of a cable between two seats, metres: `inside_m` between units of one rack, else the
    /// run, which is the distance of the racks and `overhead_m`, with its slack.
    ///
    /// # Panics
    /// When a rack does not exist.
    pub fn length_m(
        &self,
        a: DeviceRackPosition,
        b: DeviceRackPosition,
        rules: &FloorRules,
    ) -> f64 {
        if a.rack == b.rack && a.unit.is_some() && b.unit.is_some() {
            return rules.inside_m;
        }
        let run = self.distance_m(a.rack, b.rack) + rules.overhead_m;
        run + run * rules.slack_fraction + rules.slack_m
    }

    /// The seat of a switch or an endpoint; `None` where it has none or is unknown to this floor.
    pub fn seat(&self, device: Device) -> Option<DeviceRackPosition> {
        match device {
            Device::Switch(s) => self.switches.get(s.ix()).copied(),
            Device::Endpoint(e) => self.endpoints.get(e.ix()).copied().flatten(),
        }
    }

    /// The label of a cable end: rack, unit, port, as in `R03-U12-P07`. That of an endpoint which
    /// shares its unit has the name too, as in `R03-U12-host-0012-P01`; what stands beside the rack
    /// has the name in place of the unit, as in `R03-host-0012-P01`.
    pub fn label(&self, seat: DeviceRackPosition, device: &str, port: u16) -> String {
        let rack = &self.racks[seat.rack as usize].name;
        match seat.unit {
            Some(unit) if seat.shared => format!("{rack}-U{unit:02}-{device}-P{port:02}"),
            Some(unit) => format!("{rack}-U{unit:02}-P{port:02}"),
            None => format!("{rack}-{device}-P{port:02}"),
        }
    }
}

/// Seats the switches and the endpoints of `t`; what has no known height takes one unit, what has
/// no known power draws none ([`FloorRules::resolved`] asks a catalogue).
///
/// Which switches share a rack depends on the family:
///
/// - Slim Fly: rack i holds column i of both halves, so there are q racks and 2 q cables between
///   any two of them.
/// - Fat trees, XGFTs, k-ary n-trees and Clos networks: a rack a pod, the part below the top level;
///   of two levels, as many leaves to a rack as fit. The top level has racks of its own.
/// - Flattened butterfly, `HyperX`: the first dimension wider than 1 within a rack, the second
///   along the rows, the third across them, the fourth along the rows in blocks, and so on.
/// - Torus, ring, mesh, hypercubes: blocks of neighbours. Dimensions alternate between along and
///   across; along closed ones racks stand in folded order, neighbours at most 2 positions apart.
/// - Other families and files with groups (dragonflies, star products, ...): a rack a group.
/// - All else, and families whose groups are no neighbours: racks with few cables between them,
///   found by halving the network again and again, and placed by simulated annealing.
///
/// Servers are in the rack of their switch or in racks directly beside it: [`ServerPlacement`].
///
/// Planes of one network share racks where that leaves fewer cables between racks than planes side
/// by side; switches of all planes that serve the same endpoints always share one. What does not
/// fit in a rack is split by its own links, and its racks stand beside each other. Racks are
/// numbered row by row. An endpoint of several rails goes with the first. O(links * log(links)) by
/// group; halving takes that for each level of halves.
///
/// # Errors
/// When a rule is out of range, or one switch or one server does not fit in a rack; when `watch`
/// asks to stop.
pub fn floor(
    t: &Topology,
    rules: &FloorRules,
    watch: &dyn ProgressWatch,
) -> Result<RackFloor, ComputationError> {
    rules.check()?;
    let limits = RackLimits::new(rules)?;
    let first = first_rails(t);
    if rules.endpoints != ServerPlacement::Beside {
        limits.check_server(first.iter().flatten().count() as u64)?;
    }
    let blocks = seat(t, &first, &limits, rules, watch)?;
    Ok(filled(t, &blocks, &first, rules, &limits))
}

/// The floor of these blocks.
fn filled(
    t: &Topology,
    blocks: &[SwitchRackBlock],
    first: &[Option<TerminalId>],
    rules: &FloorRules,
    limits: &RackLimits,
) -> RackFloor {
    let mut order: Vec<_> = (0..)
        .zip(blocks)
        .flat_map(|(b, block)| (0..).zip(&block.spots).map(move |(k, &spot)| (spot, b, k)))
        .collect();
    order.sort_unstable();
    let digits = order.len().saturating_sub(1).to_string().len().max(2);
    let mut of: Vec<Vec<u32>> = blocks.iter().map(|block| vec![0; block.spots.len()]).collect();
    let mut floor = RackFloor {
        racks: Vec::with_capacity(order.len()),
        switches: vec![
            DeviceRackPosition { rack: 0, unit: None, shared: false };
            t.switches().len()
        ],
        endpoints: vec![None; t.endpoints().len()],
    };
    for (rack, ((row, column), block, k)) in (0..).zip(order) {
        let block: usize = block;
        of[block][k] = rack;
        floor.racks.push(FloorRack {
            name: format!("R{rack:0digits$}"),
            row,
            column,
            x_m: f64::from(column) * rules.pitch_m,
            y_m: f64::from(row) * rules.row_pitch(),
            units: 0,
            watts: 0.0,
        });
    }
    for (block, racks) in blocks.iter().zip(&of) {
        let switches = block.switches.len() as u64;
        for (place, s) in block.switches.iter().enumerate() {
            let unit = Some((place as u64 * rules.switch_height() + 1) as u16);
            floor.switches[s.ix()] = DeviceRackPosition { rack: racks[0], unit, shared: false };
        }
        let mut left: Vec<usize> =
            block.switches.iter().flat_map(|&s| seated_at(t, first, s)).collect();
        let beside = rules.endpoints == ServerPlacement::Beside;
        let mut parts = limits.shared_out(switches, left.len() as u64, racks.len() as u64);
        if beside {
            parts = vec![left.len() as u64];
        }
        for (k, (&rack, endpoints)) in racks.iter().zip(parts).enumerate() {
            let rest = left.split_off(endpoints as usize);
            let below = RackLoad { switches: if k == 0 { switches } else { 0 }, endpoints: 0 };
            let seats = RackEndpointPositions {
                rack,
                below: (!beside).then(|| limits.units(below)),
                rules,
            };
            for (place, &e) in left.iter().enumerate() {
                floor.endpoints[e] = Some(seats.at(place as u64));
            }
            let load = RackLoad { endpoints: if beside { 0 } else { endpoints }, ..below };
            floor.racks[rack as usize].units = limits.units(load) as u16;
            floor.racks[rack as usize].watts = limits.watts(load);
            left = rest;
        }
    }
    floor
}

/// The seats of the endpoints of one rack.
struct RackEndpointPositions<'a> {
    rack: u32,
    /// Units below the servers; `None` where these stand beside the rack.
    below: Option<u64>,
    rules: &'a FloorRules,
}

impl RackEndpointPositions<'_> {
    /// The seat of the endpoint at position `place` in the rack's order.
    fn at(&self, place: u64) -> DeviceRackPosition {
        let (height, each) = (self.rules.server_height(), self.rules.endpoints_a_server());
        let unit = self.below.map(|below| (below + place / each * height + 1) as u16);
        DeviceRackPosition { rack: self.rack, unit, shared: self.below.is_some() && each > 1 }
    }
}

/// The endpoints whose first rail is on `switch`, by port; `first` has the first rail of each.
fn seated_at<'a>(
    t: &'a Topology,
    first: &'a [Option<TerminalId>],
    switch: SwitchId,
) -> impl Iterator<Item = usize> + 'a {
    let terminals = t.terminals_on(switch).iter();
    let endpoints = terminals.map(|&id| (id, t.terminals()[id.ix()].endpoint.ix()));
    endpoints.filter(|&(id, e)| first[e] == Some(id)).map(|(_, e)| e)
}

fn first_rails(t: &Topology) -> Vec<Option<TerminalId>> {
    let mut first = vec![None; t.endpoints().len()];
    for (i, terminal) in t.terminals().iter().enumerate() {
        first[terminal.endpoint.ix()].get_or_insert(TerminalId::from(i));
    }
    first
}
