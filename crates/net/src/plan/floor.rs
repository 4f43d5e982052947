//! The floor: which rack and unit every switch and endpoint is in, and where the racks stand.
//!
//! Source of grid and lengths: Besta & Hoefler, "Slim Fly: a cost effective low-diameter
//! network topology", SC 2014, section VI; of the Slim Fly racks also the cluster deployed since
//! ("A high-performance design, implementation, deployment, and evaluation of the Slim Fly
//! network", NSDI 2024).

use super::Device;
use crate::network::Topology;
use base::{Refusal, SwitchId, TerminalId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sizes and distances that a floor and its cables are planned with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FloorRules {
    /// Height of a rack in units; a common rack has 42.
    pub rack_units: u16,
    /// Height of a switch in units.
    pub switch_units: u16,
    /// Endpoints in one unit of height: 1 for common servers, more for multi-node chassis.
    pub endpoints_per_unit: u16,
    /// Distance between the centres of racks next to each other, metres (SC14: racks of 1 m x 1 m).
    pub pitch_m: f64,
    /// Added to the distance of racks for a cable that leaves its rack, metres (SC14: 2 m).
    pub overhead_m: f64,
    /// Length of a cable inside a rack, metres (SC14: 1 m).
    pub inside_m: f64,
    /// Lengths that cables are sold in, metres, ascending; beyond the last, its multiples.
    pub stock_m: Vec<f64>,
}

impl Default for FloorRules {
    fn default() -> Self {
        Self {
            rack_units: 42,
            switch_units: 1,
            endpoints_per_unit: 1,
            pitch_m: 1.0,
            overhead_m: 2.0,
            inside_m: 1.0,
            stock_m: vec![1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0],
        }
    }
}

impl FloorRules {
    fn check(&self) -> Result<(), Refusal> {
        let counts = [
            ("rack_units", self.rack_units),
            ("switch_units", self.switch_units),
            ("endpoints_per_unit", self.endpoints_per_unit),
        ];
        for (name, value) in counts {
            if value == 0 {
                return Err(Refusal::new(name, "0 is too small", "at least 1"));
            }
        }
        if self.switch_units > self.rack_units {
            let why = format!("a switch of {} units does not fit", self.switch_units);
            return Err(Refusal::new(
                "switch_units",
                why,
                format!("at most rack_units, {}", self.rack_units),
            ));
        }
        let numbers = [
            ("pitch_m", self.pitch_m),
            ("overhead_m", self.overhead_m),
            ("inside_m", self.inside_m),
        ];
        for (name, value) in numbers {
            if !value.is_finite() || value < 0.0 {
                let why = format!("{value} is no length");
                return Err(Refusal::new(name, why, "a finite number from 0 up"));
            }
        }
        let ascending = self.stock_m.windows(2).all(|w| w[0] < w[1]);
        if !ascending || self.stock_m.iter().any(|l| !l.is_finite() || *l <= 0.0) {
            let why = format!("{:?} are no stock lengths", self.stock_m);
            return Err(Refusal::new("stock_m", why, "ascending finite metres above 0"));
        }
        Ok(())
    }
}

/// A rack and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rack {
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
}

/// Where a switch or an endpoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Seat {
    /// Index of the rack in [`Floor::racks`].
    pub rack: u32,
    /// Lowest unit it takes, from 1 at the bottom; `None` for what stands beside the rack.
    pub unit: Option<u16>,
}

/// Racks on a near-square grid and what is in them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floor {
    /// The racks, row by row.
    pub racks: Vec<Rack>,
    /// Seat of each switch, by switch id; the unit is always known.
    pub switches: Vec<Seat>,
    /// Seat of each endpoint, by endpoint id; `None` for endpoints without a rail.
    pub endpoints: Vec<Option<Seat>>,
}

impl Floor {
    /// Manhattan distance between the centres of two racks, metres.
    ///
    /// # Panics
    /// When a rack does not exist.
    pub fn distance_m(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (&self.racks[a as usize], &self.racks[b as usize]);
        (a.x_m - b.x_m).abs() + (a.y_m - b.y_m).abs()
    }

    /// The seat of a switch or an endpoint; `None` where it has none or is unknown to this floor.
    pub fn seat(&self, device: Device) -> Option<Seat> {
        match device {
            Device::Switch(s) => self.switches.get(s.ix()).copied(),
            Device::Endpoint(e) => self.endpoints.get(e.ix()).copied().flatten(),
        }
    }

    /// The label of a cable end: rack, unit and port, as in `R03-U12-P07`; where the device stands
    /// beside the rack its name replaces the unit, as in `R03-host-0012-P01`.
    pub fn label(&self, seat: Seat, device: &str, port: u16) -> String {
        let rack = &self.racks[seat.rack as usize].name;
        match seat.unit {
            Some(unit) => format!("{rack}-U{unit:02}-P{port:02}"),
            None => format!("{rack}-{device}-P{port:02}"),
        }
    }
}

/// Seats the switches and endpoints of `t`.
///
/// Slim Fly: rack i holds column i of both halves, so there are q racks and 2 q cables between any
/// two of them. Fat tree of 2 levels: as many leaves to a rack as fit with their endpoints; of more
/// levels: a rack a pod; the top level has racks of its own. All else: a rack a group. Groups
/// too high for a rack are split evenly. But for the fat tree's leaves only switches count for the
/// height, as in SC14: the endpoints of a rack's switches are seated above these when all fit, else
/// all stand beside the rack. An endpoint of several rails goes with the first.
///
/// Racks are numbered by column or group, and stand row by row on a grid of
/// `ceil(sqrt(racks))` columns. O(switches + terminals).
///
/// # Errors
/// When a rule is out of range.
pub fn floor(t: &Topology, rules: &FloorRules) -> Result<Floor, Refusal> {
    rules.check()?;
    let first = first_rails(t);
    let contents = racks(t, &first, rules);
    let across = (contents.len() as f64).sqrt().ceil().max(1.0) as u32;
    let digits = contents.len().saturating_sub(1).to_string().len().max(2);
    let mut floor = Floor {
        racks: Vec::with_capacity(contents.len()),
        switches: vec![Seat { rack: 0, unit: None }; t.switches().len()],
        endpoints: vec![None; t.endpoints().len()],
    };
    for (i, switches) in contents.iter().enumerate() {
        let rack = i as u32;
        let (row, column) = (rack / across, rack % across);
        floor.racks.push(Rack {
            name: format!("R{rack:0digits$}"),
            row,
            column,
            x_m: f64::from(column) * rules.pitch_m,
            y_m: f64::from(row) * rules.pitch_m,
        });
        for (place, s) in switches.iter().enumerate() {
            let unit = Some(place as u16 * rules.switch_units + 1);
            floor.switches[s.ix()] = Seat { rack, unit };
        }
        let endpoints: Vec<usize> =
            switches.iter().flat_map(|&s| seated_at(t, &first, s)).collect();
        let used = switches.len() * usize::from(rules.switch_units);
        let per_unit = usize::from(rules.endpoints_per_unit);
        let fits = used + endpoints.len().div_ceil(per_unit) <= usize::from(rules.rack_units);
        for (place, e) in endpoints.into_iter().enumerate() {
            let unit = fits.then_some((used + 1 + place / per_unit) as u16);
            floor.endpoints[e] = Some(Seat { rack, unit });
        }
    }
    Ok(floor)
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

/// The switches of every rack, from the bottom up.
fn racks(t: &Topology, first: &[Option<TerminalId>], rules: &FloorRules) -> Vec<Vec<SwitchId>> {
    let family = t.recipe().family.as_str();
    let top = t.switches().iter().map(|s| s.level).max().unwrap_or(0);
    let tree = family == "fat_tree" && top > 0;
    // the top level of a tree comes after everything else
    let mut groups: BTreeMap<(bool, u16, u32), Vec<SwitchId>> = BTreeMap::new();
    for (i, s) in t.switches().iter().enumerate() {
        let key = match (family, s.coordinates.as_slice()) {
            ("slim_fly", [_, column, _]) => (false, s.plane, *column),
            _ if tree && s.level == top => (true, s.plane, 0),
            _ if tree && top == 1 => (false, s.plane, 0),
            _ => (false, s.plane, s.group),
        };
        groups.entry(key).or_default().push(SwitchId::from(i));
    }
    let mut racks = Vec::new();
    for ((is_top, ..), group) in groups {
        if tree && top == 1 && !is_top {
            racks.extend(with_endpoints(&group, |s| seated_at(t, first, s).count(), rules));
        } else {
            let most = usize::from(rules.rack_units / rules.switch_units);
            let parts = group.len().div_ceil(most);
            racks.extend(group.chunks(group.len().div_ceil(parts)).map(<[_]>::to_vec));
        }
    }
    racks
}

/// `switches` in order, as many to a rack as fit with their endpoints, at least one.
fn with_endpoints(
    switches: &[SwitchId],
    endpoints_of: impl Fn(SwitchId) -> usize,
    rules: &FloorRules,
) -> Vec<Vec<SwitchId>> {
    let mut racks: Vec<Vec<SwitchId>> = Vec::new();
    let (per_unit, mut endpoints) = (usize::from(rules.endpoints_per_unit), 0);
    for &s in switches {
        let more = endpoints_of(s);
        let open = racks.last_mut().filter(|rack| {
            let height = (rack.len() + 1) * usize::from(rules.switch_units);
            height + (endpoints + more).div_ceil(per_unit) <= usize::from(rules.rack_units)
        });
        if let Some(rack) = open {
            rack.push(s);
            endpoints += more;
        } else {
            racks.push(vec![s]);
            endpoints = more;
        }
    }
    racks
}
