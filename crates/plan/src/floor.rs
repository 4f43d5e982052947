//! The floor: which rack and unit every switch and endpoint is in, and where the racks stand.
//!
//! Source of grid, lengths: Besta & Hoefler, "Slim Fly: a cost effective low-diameter
//! network topology", SC 2014, section VI.

use super::Device;
use super::packing::{Limits, Load};
use super::seating::{Racked, seat};
use base::Stop;
use base::{Refusal, SwitchId, TerminalId, Watch};
use fabric::network::Topology;
use serde::{Deserialize, Serialize};

/// Where endpoints go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointSeats {
    /// Above the switches of their rack where all of its endpoints fit, else all beside the rack.
    /// Racks are split by their switches alone, but for the leaves of a tree of two levels, which
    /// share a rack only where all their endpoints fit too.
    #[default]
    Fit,
    /// Above the switches; racks are split so that they fit.
    In,
    /// Beside the rack, all of them; only switches take units and power.
    Beside,
}

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
    /// Where endpoints go.
    pub endpoints: EndpointSeats,
    /// Power of a rack, kilowatts; no limit where left out.
    pub rack_kw: Option<f64>,
    /// Power of a switch, watts; that of the catalogue's switch where left out.
    pub switch_w: Option<f64>,
    /// Power of an endpoint, watts; 0 leaves endpoints out of the racks' power.
    pub endpoint_w: f64,
    /// Distance between the centres of racks next to each other in a row, metres (SC14: racks of
    /// 1 m x 1 m).
    pub pitch_m: f64,
    /// Distance between the centres of rows, metres; `pitch_m` where left out.
    pub row_pitch_m: Option<f64>,
    /// Most racks in a row; where left out, the floor is near-square, or the family's own grid.
    pub racks_per_row: Option<u32>,
    /// Added to the distance of racks for a cable that leaves its rack, metres (SC14: 2 m).
    pub overhead_m: f64,
    /// Slack of a cable that leaves its rack, metres.
    pub slack_m: f64,
    /// Slack of a cable that leaves its rack, as a fraction of its run, overhead included.
    pub slack_fraction: f64,
    /// Seed of the search for racks where the family does not say which switches share one.
    pub seed: u64,
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
            endpoints: EndpointSeats::Fit,
            rack_kw: None,
            switch_w: None,
            endpoint_w: 0.0,
            pitch_m: 1.0,
            row_pitch_m: None,
            racks_per_row: None,
            overhead_m: 2.0,
            slack_m: 0.0,
            slack_fraction: 0.0,
            seed: 0,
            inside_m: 1.0,
            stock_m: vec![1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0],
        }
    }
}

/// The longest distance and slack, metres; the largest slack as a fraction.
const MOST_M: f64 = 1e6;
const MOST_FRACTION: f64 = 100.0;

impl FloorRules {
    /// The rules of an object; the defaults where it says nothing.
    ///
    /// # Errors
    /// When a key is unknown or its value of another type or out of range.
    pub fn from_value(given: &serde_json::Value) -> Result<Self, Refusal> {
        let rules: Self = base::fields::typed(given).map_err(|(field, why)| {
            let param = if field.is_empty() { "rules" } else { field.as_str() };
            Refusal::new(param, why, "see the table of rules in docs/plan.md")
        })?;
        rules.check()?;
        Ok(rules)
    }

    /// Whether endpoints count when racks are split.
    pub(super) fn counts_endpoints(&self) -> bool {
        self.endpoints == EndpointSeats::In
    }

    /// Distance between the centres of rows, metres.
    pub fn row_pitch(&self) -> f64 {
        self.row_pitch_m.unwrap_or(self.pitch_m)
    }

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
        if self.racks_per_row == Some(0) {
            let help = "at least 1; leave it out for a near-square floor";
            return Err(Refusal::new("racks_per_row", "0 is too small", help));
        }
        let lengths = [
            ("pitch_m", self.pitch_m, MOST_M),
            ("row_pitch_m", self.row_pitch(), MOST_M),
            ("overhead_m", self.overhead_m, MOST_M),
            ("inside_m", self.inside_m, MOST_M),
            ("slack_m", self.slack_m, MOST_M),
            ("slack_fraction", self.slack_fraction, MOST_FRACTION),
        ];
        for (name, value, most) in lengths {
            if !(0.0..=most).contains(&value) {
                let why = format!("{value} is out of range");
                return Err(Refusal::new(name, why, format!("0 to {most}")));
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
    /// Units that are taken.
    pub units: u16,
    /// Power drawn by what is in it, watts.
    pub watts: f64,
}

/// Where a switch or an endpoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Seat {
    /// Index of the rack in [`Floor::racks`].
    pub rack: u32,
    /// Lowest unit it takes, from 1 at the bottom; `None` for what stands beside the rack.
    pub unit: Option<u16>,
    /// Whether others may be in the same unit.
    pub shared: bool,
}

/// Racks on a grid and what is in them.
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

    /// Length of a cable between two seats, metres: `inside_m` between units of one rack, else the
    /// run, which is the distance of the racks and `overhead_m`, with its slack.
    ///
    /// # Panics
    /// When a rack does not exist.
    pub fn length_m(&self, a: Seat, b: Seat, rules: &FloorRules) -> f64 {
        if a.rack == b.rack && a.unit.is_some() && b.unit.is_some() {
            return rules.inside_m;
        }
        let run = self.distance_m(a.rack, b.rack) + rules.overhead_m;
        run + run * rules.slack_fraction + rules.slack_m
    }

    /// The seat of a switch or an endpoint; `None` where it has none or is unknown to this floor.
    pub fn seat(&self, device: Device) -> Option<Seat> {
        match device {
            Device::Switch(s) => self.switches.get(s.ix()).copied(),
            Device::Endpoint(e) => self.endpoints.get(e.ix()).copied().flatten(),
        }
    }

    /// The label of a cable end: rack, unit, port, as in `R03-U12-P07`. That of an endpoint which
    /// shares its unit has the name too, as in `R03-U12-host-0012-P01`; what stands beside the rack
    /// has the name in place of the unit, as in `R03-host-0012-P01`.
    pub fn label(&self, seat: Seat, device: &str, port: u16) -> String {
        let rack = &self.racks[seat.rack as usize].name;
        match seat.unit {
            Some(unit) if seat.shared => format!("{rack}-U{unit:02}-{device}-P{port:02}"),
            Some(unit) => format!("{rack}-U{unit:02}-P{port:02}"),
            None => format!("{rack}-{device}-P{port:02}"),
        }
    }
}

/// Seats the switches and the endpoints of `t`; a switch of unknown power draws none.
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
/// Planes of one network share racks, switches that serve the same endpoints always, where that
/// leaves fewer cables between racks than planes side by side. What does not fit in a rack is split
/// by its own links, and its racks stand beside each other. Racks are numbered row by row. An
/// endpoint of several rails goes with the first. O(links * log(links)) by group; halving takes
/// that a level.
///
/// # Errors
/// When a rule is out of range, or one switch, with its endpoints where these have to be in, does
/// not fit in a rack; when `watch` says stop.
pub fn floor(t: &Topology, rules: &FloorRules, watch: &dyn Watch) -> Result<Floor, Stop> {
    rules.check()?;
    let limits = Limits::new(rules)?;
    let first = first_rails(t);
    if rules.endpoints == EndpointSeats::In {
        check_each(t, &first, rules, &limits)?;
    }
    let racks = seat(t, &first, &limits, rules, watch)?;
    Ok(filled(t, &racks, &first, rules, &limits))
}

/// Refuses endpoints in the racks where those of one switch do not fit in its own.
fn check_each(
    t: &Topology,
    first: &[Option<TerminalId>],
    rules: &FloorRules,
    limits: &Limits,
) -> Result<(), Refusal> {
    for (i, s) in t.switches().iter().enumerate() {
        let endpoints = seated_at(t, first, SwitchId::from(i)).count() as u64;
        let load = Load { switches: 1, endpoints };
        if limits.hold(load) {
            continue;
        }
        let (units, watts) = (limits.units(load), limits.watts(load));
        let why = format!("{} with its {endpoints} endpoints takes {units} units", s.name);
        if units > u64::from(rules.rack_units) {
            let free = u64::from(rules.rack_units - rules.switch_units);
            let more = match endpoints.checked_div(free) {
                Some(_) => format!(", endpoints_per_unit at least {}", endpoints.div_ceil(free)),
                None => String::new(),
            };
            let help = format!("\"fit\" or \"beside\", rack_units at least {units}{more}");
            return Err(Refusal::new("endpoints", why, help));
        }
        let why = format!("{} with its {endpoints} endpoints draws {watts} W", s.name);
        return Err(Refusal::new("rack_kw", why, format!("at least {}", watts / 1000.0)));
    }
    Ok(())
}

/// The floor of these racks.
fn filled(
    t: &Topology,
    racks: &[Racked],
    first: &[Option<TerminalId>],
    rules: &FloorRules,
    limits: &Limits,
) -> Floor {
    let digits = racks.len().saturating_sub(1).to_string().len().max(2);
    let mut floor = Floor {
        racks: Vec::with_capacity(racks.len()),
        switches: vec![Seat { rack: 0, unit: None, shared: false }; t.switches().len()],
        endpoints: vec![None; t.endpoints().len()],
    };
    for (i, ((row, column), switches)) in racks.iter().enumerate() {
        let rack = i as u32;
        for (place, s) in switches.iter().enumerate() {
            let unit = Some(place as u16 * rules.switch_units + 1);
            floor.switches[s.ix()] = Seat { rack, unit, shared: false };
        }
        let endpoints: Vec<usize> = switches.iter().flat_map(|&s| seated_at(t, first, s)).collect();
        let mut load = Load { switches: switches.len() as u64, endpoints: 0 };
        let below = limits.units(load) as usize;
        let all = Load { endpoints: endpoints.len() as u64, ..load };
        let seated = rules.endpoints != EndpointSeats::Beside && limits.hold(all);
        for (place, e) in endpoints.into_iter().enumerate() {
            let unit = || (below + place / usize::from(rules.endpoints_per_unit) + 1) as u16;
            let shared = seated && rules.endpoints_per_unit > 1;
            floor.endpoints[e] = Some(Seat { rack, unit: seated.then(unit), shared });
        }
        if seated {
            load = all;
        }
        floor.racks.push(Rack {
            name: format!("R{rack:0digits$}"),
            row: *row,
            column: *column,
            x_m: f64::from(*column) * rules.pitch_m,
            y_m: f64::from(*row) * rules.row_pitch(),
            units: limits.units(load) as u16,
            watts: limits.watts(load),
        });
    }
    floor
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
