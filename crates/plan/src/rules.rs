//! The rules of a floor: heights, powers and distances, and what a catalogue knows of them.

use super::shop::PriceSource;
use base::Refusal;
use fabric::network::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where servers go: the machines that endpoints are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EndpointSeats")]
pub enum ServerPlacement {
    /// Above the switches; racks are split so that both fit. Where the servers of one switch are
    /// too many for its rack, the others are in racks directly beside it.
    #[default]
    In,
    /// In racks of their own, directly beside the rack of their switch; racks of switches are split
    /// by these alone.
    Rows,
    /// Nowhere: beside the rack of their switch without taking room or power, as in studies of
    /// switches and cables. Such a floor cannot be built as it is, and
    /// [`warnings`](super::warnings) says so.
    Beside,
}

/// Sizes and distances that a floor and its cables are planned with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FloorRules {
    /// Height of a rack in units; a common rack has 42.
    pub rack_units: u16,
    /// Height of a switch in units; that of the catalogue's switch where left out, else 1.
    pub switch_units: Option<u16>,
    /// The catalogue's server, by its id: its height, endpoints and power.
    pub server: Option<String>,
    /// Height of a server in units; 1 where left out.
    pub server_units: Option<u16>,
    /// Endpoints in a server: its nodes, or its adapters where each is an endpoint of its own; that
    /// of `server` where left out, else 1. An endpoint of several rails is one.
    pub endpoints_per_server: Option<u16>,
    /// The same for servers of one unit, in one word: endpoints in a unit.
    pub endpoints_per_unit: Option<u16>,
    /// Where servers go.
    pub endpoints: ServerPlacement,
    /// Power of a rack, kilowatts; no limit where left out.
    pub rack_kw: Option<f64>,
    /// Power of a switch, watts; that of the catalogue's switch where left out.
    pub switch_w: Option<f64>,
    /// Power of an endpoint, watts: its share of its server's. 0 is unknown, and leaves endpoints
    /// out of the racks' power.
    pub endpoint_w: f64,
    /// Distance between the centres of racks next to each other in a row, metres (SC14: racks of
    /// 1 m x 1 m).
    pub pitch_m: f64,
    /// Distance between the centres of rows, metres: by default a rack of 1.2 m depth and an aisle
    /// of 1.2 m. `pitch_m` where it is null, as in plans of earlier versions.
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
            switch_units: None,
            server: None,
            server_units: None,
            endpoints_per_server: None,
            endpoints_per_unit: None,
            endpoints: ServerPlacement::In,
            rack_kw: None,
            switch_w: None,
            endpoint_w: 0.0,
            pitch_m: 1.0,
            row_pitch_m: Some(2.4),
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

/// The most rails that an endpoint of `t` has; 1 without endpoints.
fn rails(t: &Topology) -> u16 {
    let mut of = vec![0_u16; t.endpoints().len()];
    for rail in t.terminals() {
        let count = &mut of[rail.endpoint.ix()];
        *count = count.saturating_add(1);
    }
    of.into_iter().max().unwrap_or(1).max(1)
}

/// The longest distance and slack, metres; the largest slack as a fraction.
const MOST_M: f64 = 1e6;
const MOST_FRACTION: f64 = 100.0;

impl FloorRules {
    /// The rules that the JSON object `given` sets, with defaults for the others. `endpoints` may
    /// be "fit", which was the default's name.
    ///
    /// # Errors
    /// When a key is unknown or its value of another type or out of range.
    pub fn from_value(given: &serde_json::Value) -> Result<Self, Refusal> {
        let mut given = given.clone();
        if let Some(seats) = given.get_mut("endpoints").filter(|seats| **seats == "fit") {
            *seats = "in".into();
        }
        let rules: Self = base::fields::typed(&given).map_err(|(field, why)| {
            let param = if field.is_empty() { "rules" } else { field.as_str() };
            let all = base::taken::taken::<Self>("the floor", &field);
            Refusal::new(param, why, format!("{all}; see docs/plan.md"))
        })?;
        rules.check()?;
        Ok(rules)
    }

    /// The same rules with the heights and powers that they leave open: those of the switch that
    /// `t` is bought with in `shop`, and of the server that the rules name. Rules that were
    /// resolved before stay as they are, whatever the catalogue.
    ///
    /// # Errors
    /// When the catalogue has no such server, a rule contradicts it, or one is out of range.
    pub fn resolved(&self, t: &Topology, shop: PriceSource<'_>) -> Result<Self, Refusal> {
        let mut rules = self.clone();
        let switch = shop.switch(t);
        let known = switch.as_ref().and_then(|offer| offer.rack_units);
        rules.switch_units.get_or_insert(known.unwrap_or(1));
        rules.switch_w.get_or_insert(switch.and_then(|offer| offer.watts).unwrap_or(0.0));
        let full = self.server_units.is_some() && self.endpoints_per_server.is_some();
        let server = self.server.as_ref().map(|id| shop.catalog.server(id)).transpose();
        // rules that were resolved before already have the heights of their own catalogue
        if let Some(server) = if full { server.unwrap_or(None) } else { server? } {
            rules.agree("server_units", self.server_units, server.rack_units, "")?;
            let rails = rails(t);
            let each = server.endpoints_of(rails);
            let of = if rails > 1 { format!(" endpoints of {rails} rails") } else { String::new() };
            rules.agree("endpoints_per_server", self.endpoints_per_server, each, &of)?;
            rules.server_units = Some(server.rack_units);
            rules.endpoints_per_server = Some(each);
            if let (Some(watts), true) = (server.watts, rules.endpoint_w <= 0.0) {
                rules.endpoint_w = watts / f64::from(each);
            }
        }
        rules.check()?;
        rules.server_units = Some(rules.server_height() as u16);
        rules.endpoints_per_server = Some(rules.endpoints_a_server() as u16);
        if rules.server_height() == 1 {
            rules.endpoints_per_unit = rules.endpoints_per_server;
        }
        Ok(rules)
    }

    /// The same rules with the server `id` of the catalogue, where one is given.
    ///
    /// # Errors
    /// When the rules name another one.
    pub fn with_server(mut self, id: Option<&str>) -> Result<Self, Refusal> {
        let Some(id) = id else { return Ok(self) };
        if let Some(other) = self.server.as_ref().filter(|other| *other != id) {
            let why = format!("'{id}', but the rules of the floor say '{other}'");
            return Err(Refusal::new("server", why, "one of them"));
        }
        self.server = Some(id.to_owned());
        Ok(self)
    }

    /// Refuses a rule `name` that contradicts the server, which has `has` of what `of` says.
    fn agree(&self, name: &str, given: Option<u16>, has: u16, of: &str) -> Result<(), Refusal> {
        let (Some(value), Some(id)) = (given.filter(|&v| v != has), &self.server) else {
            return Ok(());
        };
        let why = format!("{value}, but the server {id} has {has}{of}");
        Err(Refusal::new(name, why, "leave it out, or leave server out"))
    }

    /// Whether endpoints count when racks are split.
    pub(super) fn counts_endpoints(&self) -> bool {
        self.endpoints == ServerPlacement::In
    }

    /// Height of a switch, units.
    pub(super) fn switch_height(&self) -> u64 {
        self.switch_units.unwrap_or(1).into()
    }

    /// Height of a server, units.
    pub(super) fn server_height(&self) -> u64 {
        self.server_units.unwrap_or(1).into()
    }

    /// Endpoints in a server.
    pub(super) fn endpoints_a_server(&self) -> u64 {
        self.endpoints_per_server.or(self.endpoints_per_unit).unwrap_or(1).into()
    }

    /// Distance between the centres of rows, metres.
    pub fn row_pitch(&self) -> f64 {
        self.row_pitch_m.unwrap_or(self.pitch_m)
    }

    /// Whether every rule is in its range, and no two contradict each other.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let counts = [
            ("rack_units", Some(self.rack_units)),
            ("switch_units", self.switch_units),
            ("server_units", self.server_units),
            ("endpoints_per_server", self.endpoints_per_server),
            ("endpoints_per_unit", self.endpoints_per_unit),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, value)| *value == Some(0)) {
            return Err(Refusal::new(name, "0 is too small", "at least 1"));
        }
        let heights = [
            ("switch_units", "switch", self.switch_height()),
            ("server_units", "server", self.server_height()),
        ];
        for (name, what, units) in heights {
            if units > self.rack_units.into() {
                let why = format!("a {what} of {units} units does not fit");
                let help = format!("at most rack_units, {}", self.rack_units);
                return Err(Refusal::new(name, why, help));
            }
        }
        self.check_servers()?;
        self.check_distances()
    }

    /// Checks that the rules for servers do not contradict each other.
    fn check_servers(&self) -> Result<(), Refusal> {
        let Some(each) = self.endpoints_per_unit else { return Ok(()) };
        if self.server_height() != 1 {
            let why = format!("{each}, but a server has {} units", self.server_height());
            let help = "endpoints_per_server; endpoints_per_unit is for servers of one unit";
            return Err(Refusal::new("endpoints_per_unit", why, help));
        }
        if let Some(other) = self.endpoints_per_server.filter(|&other| other != each) {
            let why = format!("{each}, but endpoints_per_server is {other}");
            return Err(Refusal::new("endpoints_per_unit", why, "one of them"));
        }
        Ok(())
    }

    fn check_distances(&self) -> Result<(), Refusal> {
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
