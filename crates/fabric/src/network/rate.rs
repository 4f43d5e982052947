//! The rate of a network: what `gbps` in its recipe says of all cables, and where rates come from.

use super::{Cable, InfinibandLaneSpeed, NetworkRecipe, Topology, parse_inline};
use base::stage::{BetterDirection, ColumnType};
use base::{RecordColumn, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The parameter that every family has besides its own: the rate of the cables.
pub const GBPS: &str = "gbps";

/// Where the rate of links comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// A parameter of what is computed, such as `link.rate_gbps` of a simulator, or the `--gbps`
    /// of a bill.
    Parameters,
    /// `gbps` of the network: its fastest cables have this rate.
    Network,
    /// The cables of a network file, each with its own rate.
    Cables,
    /// Neither the user nor the network says a rate: the default of the simulator or of the
    /// catalogue.
    Default,
}

/// The rates of the links of a network as they are used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Rates")]
pub struct LinkRateRange {
    /// The lowest rate, Gbit/s.
    pub lowest_gbps: f64,
    /// The highest rate, Gbit/s.
    pub highest_gbps: f64,
    /// Where they come from.
    pub source: RateSource,
}

/// The columns of a simulator whose record has a [`LinkRateRange`], or more, under `rates`.
pub const RATE_GBPS: RecordColumn = RecordColumn::new(
    "rate_gbps",
    "/rates/highest_gbps",
    ColumnType::Real,
    "Gbit/s",
    "rate of the fastest link of the network",
    BetterDirection::Neither,
);
/// See [`RATE_GBPS`].
pub const RATE_SOURCE: RecordColumn = RecordColumn::new(
    "rate_source",
    "/rates/source",
    ColumnType::Text,
    "",
    "where that rate comes from",
    BetterDirection::Neither,
);

impl NetworkRecipe {
    /// The rate of the fastest cables that the recipe says, Gbit/s: its own, or of planes that of
    /// the network in `of`. `None` where it says none.
    pub fn gbps(&self) -> Option<f64> {
        let own = self.params.get(GBPS).and_then(Value::as_f64);
        own.or_else(|| parse_inline(self.asked("of")?).ok()?.gbps())
    }
}

/// Takes the rate from the parameters of a family; `None` where they have none.
///
/// # Errors
/// When it is not a number, or no cable has this rate.
pub fn take_gbps(params: &mut Map<String, Value>) -> Result<Option<f64>, Refusal> {
    let Some(given) = params.remove(GBPS).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let Some(gbps) = given.as_f64() else {
        return Err(Refusal::new(GBPS, format!("{given} is not a number"), "Gbit/s, as in 400"));
    };
    if Cable::default().at_gbps(gbps).is_none() {
        return Err(no_such_rate(gbps));
    }
    Ok(Some(gbps))
}

/// The refusal of a rate that no cable has.
fn no_such_rate(gbps: f64) -> Refusal {
    let speeds = InfinibandLaneSpeed::ALL.map(InfinibandLaneSpeed::lane_gbps);
    let mut known: Vec<f64> =
        speeds.iter().flat_map(|lane| WIDTHS.map(|width| lane * f64::from(width))).collect();
    known.sort_by(f64::total_cmp);
    let below = known.iter().rev().find(|rate| **rate < gbps);
    let above = known.iter().find(|rate| **rate > gbps);
    let words = |rate: &f64| ((rate * 1000.0).round() / 1000.0).to_string();
    let near: Vec<String> = below.into_iter().chain(above).map(words).collect();
    Refusal::new(
        GBPS,
        format!("no cable has {gbps} Gbit/s"),
        format!("nearest: {}; a multiple of a lane's rate, as 25, 100, 200, 400, 800", {
            near.join(", ")
        }),
    )
}

/// The numbers of lanes of a cable, in the order in which they are tried.
const WIDTHS: [u8; 5] = [4, 1, 2, 8, 12];
/// How far a rate may be from that of a cable, as a part of it: rates are written with few digits.
const TOLERANCE: f64 = 1e-4;

impl Cable {
    /// The same cable with lanes that have together this rate, in Gbit/s: as many lanes as before
    /// where that can be, else 4, else another number. `None` where no lanes have this rate.
    #[must_use]
    pub fn at_gbps(self, gbps: f64) -> Option<Self> {
        let fits = |width: u8| {
            let lane = |speed: &InfinibandLaneSpeed| {
                (speed.lane_gbps() * f64::from(width) / gbps - 1.0).abs() < TOLERANCE
            };
            let speed = InfinibandLaneSpeed::ALL.into_iter().find(lane)?;
            Some(Self { speed, width, ..self })
        };
        std::iter::once(self.width).chain(WIDTHS).find_map(fits)
    }
}

impl Topology {
    /// Where the rates of the cables come from: the recipe, or a file that says some (a file of a
    /// fabric, whose switches have GUIDs, and one in which some cable has not the default rate).
    /// O(links) without `gbps`.
    pub fn rate_source(&self) -> RateSource {
        if self.recipe.gbps().is_some() {
            return RateSource::Network;
        }
        let usual = Cable::default().rate_gbps();
        let said = |cable: &Cable| cable.rate_gbps().to_bits() != usual.to_bits();
        if self.switches.iter().any(|switch| switch.guid.is_some()) || self.cables().any(said) {
            RateSource::Cables
        } else {
            RateSource::Default
        }
    }

    /// The cables of links, then those of terminals.
    pub fn cables(&self) -> impl Iterator<Item = &Cable> {
        let links = self.links.iter().map(|link| &link.cable);
        links.chain(self.terminals.iter().map(|terminal| &terminal.cable))
    }

    /// The rate that a user gives for a network besides its own, if it does not contradict that.
    ///
    /// # Errors
    /// When the recipe says another rate.
    pub fn agreed_gbps(&self, given: Option<f64>) -> Result<Option<f64>, Refusal> {
        match (given, self.recipe.gbps()) {
            (Some(given), Some(own)) if given.to_bits() != own.to_bits() => {
                let why = format!("{given} Gbit/s, and the network says gbps={own}");
                Err(Refusal::new(GBPS, why, "say it once, or twice the same"))
            }
            (given, _) => Ok(given),
        }
    }

    /// The same network with cables of this rate, in Gbit/s: the fastest have it, and slower ones
    /// keep their part of it. The recipe says it too. O(network).
    ///
    /// # Errors
    /// When no cable has this rate or a slower one's part of it, or the recipe says another rate.
    pub fn with_gbps(mut self, gbps: f64) -> Result<Self, Refusal> {
        self.agreed_gbps(Some(gbps))?;
        if Cable::default().at_gbps(gbps).is_none() {
            return Err(no_such_rate(gbps));
        }
        if self.recipe.gbps().is_none() {
            let fastest = self.cables().map(Cable::rate_gbps).fold(0.0, f64::max);
            let links = self.links.iter_mut().map(|link| &mut link.cable);
            for cable in links.chain(self.terminals.iter_mut().map(|t| &mut t.cable)) {
                let part = cable.rate_gbps() / fastest;
                *cable = cable.at_gbps(gbps * part).ok_or_else(|| {
                    let why = format!("a cable has {part:.4} of the rate of the fastest");
                    Refusal::new(GBPS, why, "a rate of which a cable has this part")
                })?;
            }
            let whole = gbps.fract() == 0.0;
            let said = if whole { Value::from(gbps as u64) } else { Value::from(gbps) };
            self.recipe.params.insert(GBPS.to_owned(), said);
        }
        self.digest = OnceLock::new();
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Switch, TopologyBuilder};

    /// The rates by which cables of four lanes, one lane and others are sold.
    #[test]
    fn a_rate_is_lanes_times_speed() {
        use InfinibandLaneSpeed::{EDR, FDR, FDR10, HDR, NDR, XDR};
        let of = |gbps| Cable::default().at_gbps(gbps).map(|c| (c.speed, c.width));
        for (gbps, speed, width) in [
            (40.0, FDR10, 4),
            (54.55, FDR, 4),
            (100.0, EDR, 4),
            (200.0, HDR, 4),
            (400.0, NDR, 4),
            (800.0, XDR, 4),
            (25.0, EDR, 1),
            (50.0, HDR, 1),
            (10.0, FDR10, 1),
            (1600.0, XDR, 8),
            (2400.0, XDR, 12),
        ] {
            assert_eq!(of(gbps), Some((speed, width)), "{gbps}");
        }
        for gbps in [0.0, -400.0, 1.0, 56.0, 401.0, 2500.0, f64::NAN, f64::INFINITY] {
            assert_eq!(of(gbps), None, "{gbps}");
        }
    }

    fn network(narrow: u8) -> Topology {
        let mut b = TopologyBuilder::new();
        let [x, y] = ["x", "y"].map(|name| b.switch(Switch::new(name)));
        b.link(x, y);
        b.link(x, y);
        b.endpoints_on([x, y].into_iter(), 1);
        b.links[1].cable.width = narrow;
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    #[test]
    fn slower_cables_keep_their_part() {
        for (width, part) in [(4, 1.0), (2, 0.5), (1, 0.25)] {
            for gbps in [100.0, 400.0, 800.0] {
                let t = network(width).with_gbps(gbps).expect("a rate of a cable");
                let rates: Vec<f64> = t.cables().map(Cable::rate_gbps).collect();
                assert_eq!(rates, [gbps, part * gbps, gbps, gbps]);
                assert_eq!(t.rate_source(), RateSource::Network);
                assert_eq!(t.recipe().to_string(), format!("test:gbps={gbps}"));
                assert_ne!(t.digest(), network(width).digest());
            }
        }
        let refusal = network(1).with_gbps(25.0).expect_err("6.25 Gbit/s");
        assert!(refusal.to_string().contains("0.2500"), "{refusal}");
    }

    #[test]
    fn a_network_says_one_rate() {
        let t = network(4).with_gbps(400.0).expect("a rate of a cable");
        assert_eq!(t.agreed_gbps(Some(400.0)), Ok(Some(400.0)));
        assert_eq!(t.agreed_gbps(None), Ok(None));
        let refusal = t.agreed_gbps(Some(200.0)).expect_err("two rates").to_string();
        assert!(refusal.contains("200 Gbit/s, and the network says gbps=400"), "{refusal}");
        assert!(t.clone().with_gbps(200.0).is_err());
        assert!(t.clone().with_gbps(400.0).is_ok_and(|same| same == t));
        assert_eq!(network(4).agreed_gbps(Some(200.0)), Ok(Some(200.0)));
        assert_eq!(network(4).rate_source(), RateSource::Default);
        assert_eq!(network(1).rate_source(), RateSource::Cables);
    }

    #[test]
    fn planes_have_the_rate_of_the_network_in_them() {
        let of = |text: &str| parse_inline(text).expect("an inline form").gbps();
        assert_eq!(of("multi_plane:planes=2,of=slim_fly:q=5,gbps=400"), Some(400.0));
        assert_eq!(of("multi_plane:planes=2,gbps=100,of=slim_fly:q=5"), Some(100.0));
        assert_eq!(of("multi_plane:planes=2,of=slim_fly:q=5"), None);
    }

    #[test]
    fn what_is_no_rate_is_refused_with_the_nearest() {
        let take = |value: Value| take_gbps(&mut Map::from_iter([(GBPS.to_owned(), value)]));
        assert_eq!(take(400.into()), Ok(Some(400.0)));
        assert_eq!(take(Value::Null), Ok(None));
        assert_eq!(take_gbps(&mut Map::new()), Ok(None));
        let refusal = take(56.into()).expect_err("no such cable").to_string();
        assert!(refusal.contains("nearest: 54.545, 64"), "{refusal}");
        assert!(take(2401.into()).expect_err("too fast").to_string().contains("nearest: 2400;"));
        assert!(take("fast".into()).is_err() && take(0.into()).is_err());
    }
}
