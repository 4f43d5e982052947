//! Catalogues: what switches, cables, transceivers and adapters cost and draw, by source and date.
//!
//! A catalogue is a TOML file with products, regression models, or both; those that come with
//! flyloom are in `data/catalogs`. Prices are in the catalogue's currency, and of its year.
//! [`Catalog`] is checked when it is read: behind it every figure is finite and every name unique.

use super::protocol::{NetworkProtocol, SwitchFit};
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

// gen:begin
/// The catalogues of `data/catalogs`, name and text; written by `cargo xtask gen`.
#[rustfmt::skip]
const BUILT_IN: &[(&str, &str)] = &[
    ("edr36-2024", include_str!("../../../data/catalogs/edr36-2024.toml")),
    ("fdr10-2014", include_str!("../../../data/catalogs/fdr10-2014.toml")),
    ("galaxyfly-2016", include_str!("../../../data/catalogs/galaxyfly-2016.toml")),
    ("hdr40-2024", include_str!("../../../data/catalogs/hdr40-2024.toml")),
    ("ndr64-2024", include_str!("../../../data/catalogs/ndr64-2024.toml")),
    ("products-2026", include_str!("../../../data/catalogs/products-2026.toml")),
];
// gen:end

/// How well a figure is known.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Confidence")]
pub enum FigureConfidence {
    /// Printed in the source.
    A,
    /// Several sources agree within a factor of 2.
    B,
    /// One second-hand source, or an estimate.
    C,
    /// A place holder: edit before use.
    D,
}

/// A part of the bill.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Part")]
#[serde(rename_all = "snake_case")]
pub enum BillSection {
    /// The switches.
    Switches,
    /// Cables between switches, with their transceivers.
    SwitchCables,
    /// Cables from endpoints to switches, with their transceivers.
    EndpointCables,
    /// Adapters, one a rail.
    Nics,
    /// Spare parts of what is counted.
    Spares,
    /// Energy of a year, or of the years asked for, of all that is counted.
    Energy,
}

impl BillSection {
    /// All parts, in the order of a bill.
    pub const ALL: [Self; 6] = [
        Self::Switches,
        Self::SwitchCables,
        Self::EndpointCables,
        Self::Nics,
        Self::Spares,
        Self::Energy,
    ];
}

impl fmt::Display for BillSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Switches => "switches",
            Self::SwitchCables => "switch_cables",
            Self::EndpointCables => "endpoint_cables",
            Self::Nics => "nics",
            Self::Spares => "spares",
            Self::Energy => "energy",
        })
    }
}

/// What carries the signal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum CableKind {
    /// Copper, passive or active.
    Electric,
    /// Fibre with its transceivers.
    Optical,
}

impl fmt::Display for CableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Electric { "electric" } else { "optical" })
    }
}

/// What a cable is for, where its price depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CableUse {
    /// From an endpoint to a switch.
    Endpoint,
    /// Between switches.
    Switch,
}

/// Where a figure comes from, when it held, how well it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureOrigin {
    /// Where it is printed or quoted.
    pub source: String,
    /// When it held: a year, a month, a day, or a span.
    pub date: String,
    /// How well it is known.
    pub confidence: FigureConfidence,
}

/// A price, and the lowest and highest that were found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What is reckoned with.
    pub typical: f64,
    /// The lowest found; `typical` when left out.
    pub low: Option<f64>,
    /// The highest found; `typical` when left out.
    pub high: Option<f64>,
}

/// `fixed + per_port * ports`, at least 0: the price of a switch of any number of ports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortPriceFormula {
    /// Price of a port.
    pub per_port: f64,
    /// Price of no port at all; may be negative, as intercepts of regressions are.
    pub fixed: f64,
}

/// `gbps * (per_gbps_m * length_m + per_gbps)`: the price of a cable of any length and rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LengthPriceFormula {
    /// Price of a Gbit/s and metre.
    pub per_gbps_m: f64,
    /// Price of a Gbit/s at no length.
    pub per_gbps: f64,
}

/// A switch on sale, or with `linear` a model of all switches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogSwitch {
    /// Its name in the bill.
    pub id: String,
    /// What it is called on sale.
    pub title: Option<String>,
    /// Number of ports; left out in a model.
    pub ports: Option<u32>,
    /// Rate of a port, Gbit/s; left out in a model.
    pub gbps: Option<f64>,
    /// Price of a product; one without a price is never chosen.
    pub price: Option<Price>,
    /// Price of a model.
    pub linear: Option<PortPriceFormula>,
    /// Power of a product without transceivers, watts.
    pub watts: Option<f64>,
    /// Power of a port of a model, watts.
    pub watts_per_port: Option<f64>,
    /// Height in rack units.
    pub rack_units: Option<u16>,
    /// What it speaks; either when left out.
    pub protocol: Option<NetworkProtocol>,
    /// The form of its ports, as OSFP or QSFP-DD; any when left out.
    pub connector: Option<String>,
    /// Where the figures come from.
    pub origin: FigureOrigin,
    /// Anything else.
    pub note: Option<String>,
}

/// A cable on sale with its plugs, or with `linear` a model of all cables of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogCable {
    /// Its name in the bill.
    pub id: String,
    /// Electric or optical.
    pub kind: CableKind,
    /// What it is for; either when left out.
    #[serde(rename = "use")]
    pub for_use: Option<CableUse>,
    /// The protocol that it is made for; either when left out.
    pub protocol: Option<NetworkProtocol>,
    /// The form of its plug at a switch, as OSFP or QSFP-DD; any when left out.
    pub connector: Option<String>,
    /// Rate, Gbit/s; left out in a model.
    pub gbps: Option<f64>,
    /// Longest run it serves, metres.
    pub reach_m: f64,
    /// Price of a product; one without a price is never chosen.
    pub price: Option<Price>,
    /// Price of a model.
    pub linear: Option<LengthPriceFormula>,
    /// Power of both ends together, watts.
    pub watts: Option<f64>,
    /// Where the figures come from.
    pub origin: FigureOrigin,
    /// Anything else.
    pub note: Option<String>,
}

/// A transceiver, a fibre or an adapter of one port. An optical link that is no [`CatalogCable`]
/// takes two transceivers and a fibre.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogComponent {
    /// Its name in the bill.
    pub id: String,
    /// What it is called on sale.
    pub title: Option<String>,
    /// What a transceiver is for; either when left out.
    #[serde(rename = "use")]
    pub for_use: Option<CableUse>,
    /// The protocol that it is made for; either when left out.
    pub protocol: Option<NetworkProtocol>,
    /// The form of a transceiver's plug, as OSFP or QSFP-DD; any when left out.
    pub connector: Option<String>,
    /// Rate, Gbit/s; left out for a fibre.
    pub gbps: Option<f64>,
    /// Longest run it serves, metres; left out for an adapter.
    pub reach_m: Option<f64>,
    /// Price; a piece without one is never chosen.
    pub price: Option<Price>,
    /// Power, watts.
    pub watts: Option<f64>,
    /// Where the figures come from.
    pub origin: FigureOrigin,
    /// Anything else.
    pub note: Option<String>,
}

/// A server: what takes room in a rack, and how many endpoints it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogServer {
    /// Its name, which the rule `server` of a floor gives.
    pub id: String,
    /// What it is called on sale.
    pub title: Option<String>,
    /// Height in rack units.
    pub rack_units: u16,
    /// Adapters in it, one a rail: its endpoints where each of these has one rail.
    pub endpoints: u16,
    /// Nodes of a chassis, each an endpoint whatever its number of rails; 1 when left out.
    pub nodes: Option<u16>,
    /// Power of the whole server, watts.
    pub watts: Option<f64>,
    /// Where the figures come from.
    pub origin: FigureOrigin,
    /// Anything else.
    pub note: Option<String>,
}

impl CatalogServer {
    /// Number of endpoints in it where an endpoint has this number of `rails`: its adapters are
    /// shared out among them, and each of its nodes is one at least.
    pub fn endpoints_of(&self, rails: u16) -> u16 {
        (self.endpoints / rails.max(1)).max(self.nodes.unwrap_or(1))
    }
}

/// The price of energy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyPrice {
    /// Price of a kilowatt-hour.
    pub price_per_kwh: f64,
    /// Power usage effectiveness: power of the whole room over that of the machines, at least 1.
    pub pue: f64,
    /// Where the figures come from.
    pub origin: FigureOrigin,
}

/// Prices and powers to reckon with; see the file's own comments in `data/catalogs`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Catalog {
    /// Its name.
    pub name: String,
    /// What it has, in a line.
    pub title: String,
    /// Currency of its prices (ISO 4217).
    pub currency: String,
    /// US dollars for one unit of the currency.
    pub usd_per_unit: f64,
    /// Year of its prices.
    pub year: u16,
    /// Rate of a link where nothing else is said, Gbit/s.
    pub link_gbps: f64,
    /// What power costs, where that is known.
    pub energy: Option<EnergyPrice>,
    /// Switches.
    pub switches: Vec<CatalogSwitch>,
    /// Cables with their plugs.
    pub cables: Vec<CatalogCable>,
    /// Transceivers.
    pub transceivers: Vec<CatalogComponent>,
    /// Fibres for them.
    pub fibres: Vec<CatalogComponent>,
    /// Adapters.
    pub nics: Vec<CatalogComponent>,
    /// Servers, which have no price here: how much room and power they take.
    pub servers: Vec<CatalogServer>,
    /// What all of the above fits, where it was chosen by that.
    #[serde(skip)]
    pub(super) fits: Option<SwitchFit>,
    /// The quotation that the prices are of, where they are.
    #[serde(skip)]
    pub(super) quoted: Option<Box<QuotedParts>>,
}

/// What a quotation says beside prices, and the catalogue that its parts are of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuotedParts {
    /// How many pieces are quoted, by name in the bill; links, of what serves several.
    pub(super) quantities: BTreeMap<String, u64>,
    /// Lines that have no effect, and why, a sentence each.
    pub(super) left_out: Vec<String>,
    /// The catalogue with its own prices.
    pub(super) base: Catalog,
}

/// An offer of a catalogue: the price and the power of one piece.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogOffer {
    /// Name in the bill; parts joined by `+`.
    pub id: String,
    /// Price, US dollars: typical, lowest, highest.
    pub usd: [f64; 3],
    /// Power, watts; `None` where the catalogue does not say.
    pub watts: Option<f64>,
    /// Height of a switch in rack units; `None` where the catalogue does not say.
    pub rack_units: Option<u16>,
    /// The least of its parts' grades.
    pub confidence: FigureConfidence,
    /// What it is made of: names of the catalogue, and how many of each.
    pub pieces: Vec<(String, u64)>,
}

impl Catalog {
    /// The names of the catalogues that come with flyloom.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of the catalogue `name` that comes with flyloom.
    ///
    /// # Errors
    /// When there is none.
    pub fn text_of(name: &str) -> Result<&'static str, Refusal> {
        BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text).ok_or_else(|| {
            let known: Vec<&str> = Self::built_in().collect();
            let why = format!("there is no catalogue '{name}'");
            let near = base::words::did_you_mean(name, Self::built_in());
            Refusal::new("catalog", why, format!("{near}{}, or a TOML file", known.join(", ")))
        })
    }

    /// The switch for `ports` ports at `gbps`: the cheapest product of that rate with enough ports,
    /// or the model where that is cheaper.
    ///
    /// # Errors
    /// When there is none with a price.
    pub fn switch(&self, ports: u32, gbps: f64) -> Result<CatalogOffer, Refusal> {
        self.switch_entry(ports, gbps).map(|(_, offer)| offer)
    }

    /// The same with its entry.
    pub(super) fn switch_entry(
        &self,
        ports: u32,
        gbps: f64,
    ) -> Result<(&CatalogSwitch, CatalogOffer), Refusal> {
        let offers = self.switches.iter().filter_map(|s| {
            let (price, watts) = match (s.linear, s.ports) {
                (Some(model), _) => {
                    let price = (model.fixed + model.per_port * f64::from(ports)).max(0.0);
                    (exactly(price), s.watts_per_port.map(|w| w * f64::from(ports)))
                }
                (None, Some(has)) if has >= ports && s.gbps == Some(gbps) => (s.price?, s.watts),
                _ => return None,
            };
            let id = if s.linear.is_some() {
                format!("{} of {ports} ports", s.id)
            } else {
                s.id.clone()
            };
            let offer = self.offer(id, price, watts, s.origin.confidence);
            Some((s, CatalogOffer { rack_units: s.rack_units, ..offer }))
        });
        let best = offers.reduce(|a, b| if b.1.usd[0] < a.1.usd[0] { b } else { a });
        best.ok_or_else(|| {
            let sold = self.switches.iter().filter(|s| s.price.is_some() || s.linear.is_some());
            let sold: Vec<String> = sold
                .map(|s| match (s.ports, s.gbps) {
                    (Some(ports), Some(gbps)) => format!("{ports} x {gbps}"),
                    _ => "any".to_owned(),
                })
                .collect();
            self.lacks(format!("no switch of {ports} ports at {gbps} Gbit/s"), &sold)
        })
    }

    /// The cable for a run of `length_m` at `gbps`: the cheapest electric one that reaches, else
    /// the cheapest optical one, ready made or of two transceivers and a fibre.
    ///
    /// # Errors
    /// When nothing with a price reaches so far at this rate.
    pub fn cable(
        &self,
        for_use: CableUse,
        length_m: f64,
        gbps: f64,
    ) -> Result<(CableKind, CatalogOffer), Refusal> {
        for kind in [CableKind::Electric, CableKind::Optical] {
            let made = self.ready_made(kind, for_use, length_m, gbps);
            let built =
                (kind == CableKind::Optical).then(|| self.of_fibre(for_use, length_m, gbps));
            if let Some(offer) = cheapest(made.chain(built.flatten())) {
                return Ok((kind, offer));
            }
        }
        let reach = |of: CableKind| {
            let fits = |c: &&CatalogCable| {
                c.kind == of && (c.linear.is_some() || c.gbps == Some(gbps) && c.price.is_some())
            };
            self.cables.iter().filter(fits).map(|c| c.reach_m).fold(0.0, f64::max)
        };
        let fibre = self.fibres.iter().filter_map(|f| f.reach_m).fold(0.0, f64::max);
        let ends = self.transceivers.iter().filter(|x| x.gbps == Some(gbps) && x.price.is_some());
        let ends = ends.filter_map(|x| x.reach_m).fold(0.0, f64::max);
        let optical = reach(CableKind::Optical).max(fibre.min(ends));
        let sold = [
            format!("electric to {} m", reach(CableKind::Electric)),
            format!("optical to {optical} m"),
        ];
        Err(self.lacks(format!("no cable of {length_m:.1} m at {gbps} Gbit/s"), &sold))
    }

    /// The cheapest adapter of this rate.
    ///
    /// # Errors
    /// When there is none with a price.
    pub fn nic(&self, gbps: f64) -> Result<CatalogOffer, Refusal> {
        let fit = self.nics.iter().filter(|n| n.gbps == Some(gbps));
        let offers = fit.filter_map(|n| Some(self.piece(n, n.price?)));
        cheapest(offers).ok_or_else(|| {
            let sold: Vec<String> =
                self.nics.iter().filter_map(|n| n.gbps).map(|g| format!("{g} Gbit/s")).collect();
            self.lacks(format!("no adapter of {gbps} Gbit/s"), &sold)
        })
    }

    /// The server of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn server(&self, id: &str) -> Result<&CatalogServer, Refusal> {
        self.servers.iter().find(|s| s.id == id).ok_or_else(|| {
            let known: Vec<&str> = self.servers.iter().map(|s| s.id.as_str()).collect();
            let why = format!("catalogue {} has no server '{id}'", self.name);
            let help = match known.as_slice() {
                [] => "it has none; server_units, endpoints_per_server, endpoint_w".to_owned(),
                _ => known.join(", "),
            };
            Refusal::new("server", why, help)
        })
    }

    /// The same catalogue with no electric cable longer than `metres`.
    #[must_use]
    pub fn with_electric_limit(mut self, metres: f64) -> Self {
        for cable in self.cables.iter_mut().filter(|c| c.kind == CableKind::Electric) {
            cable.reach_m = cable.reach_m.min(metres);
        }
        self
    }

    fn ready_made(
        &self,
        kind: CableKind,
        for_use: CableUse,
        length_m: f64,
        gbps: f64,
    ) -> impl Iterator<Item = CatalogOffer> {
        let fits = move |c: &&CatalogCable| {
            c.kind == kind && c.for_use.is_none_or(|u| u == for_use) && length_m <= c.reach_m
        };
        self.cables.iter().filter(fits).filter_map(move |c| {
            let price = match c.linear {
                Some(model) => exactly(gbps * (model.per_gbps_m * length_m + model.per_gbps)),
                None if c.gbps == Some(gbps) => c.price?,
                None => return None,
            };
            Some(self.offer(c.id.clone(), price, c.watts, c.origin.confidence))
        })
    }

    fn of_fibre(&self, for_use: CableUse, length_m: f64, gbps: f64) -> Option<CatalogOffer> {
        let reaches = |p: &&CatalogComponent| {
            p.for_use.is_none_or(|u| u == for_use) && p.reach_m.is_some_and(|r| length_m <= r)
        };
        let ends = self.transceivers.iter().filter(reaches).filter(|x| x.gbps == Some(gbps));
        let end = cheapest(ends.filter_map(|x| Some(self.piece(x, x.price?))))?;
        let fibres = self.fibres.iter().filter(reaches);
        let fibre = cheapest(fibres.filter_map(|f| Some(self.piece(f, f.price?))))?;
        Some(CatalogOffer {
            id: format!("2 {} + {}", end.id, fibre.id),
            usd: [0, 1, 2].map(|i| millionths(2.0 * end.usd[i] + fibre.usd[i])),
            watts: end.watts.map(|w| 2.0 * w),
            rack_units: None,
            confidence: end.confidence.max(fibre.confidence),
            pieces: vec![(end.id, 2), (fibre.id, 1)],
        })
    }

    fn piece(&self, piece: &CatalogComponent, price: Price) -> CatalogOffer {
        self.offer(piece.id.clone(), price, piece.watts, piece.origin.confidence)
    }

    fn offer(
        &self,
        id: String,
        price: Price,
        watts: Option<f64>,
        confidence: FigureConfidence,
    ) -> CatalogOffer {
        let all = [price.typical, price.low(), price.high()];
        let usd = all.map(|p| millionths(p * self.usd_per_unit));
        let pieces = vec![(id.clone(), 1)];
        let watts = watts.map(millionths);
        CatalogOffer { id, usd, watts, rack_units: None, confidence, pieces }
    }

    fn lacks(&self, what: String, sold: &[String]) -> Refusal {
        let help = if sold.is_empty() { "it prices none".to_owned() } else { sold.join(", ") };
        let what = match &self.fits {
            Some(fit) => format!("{what} for {fit}"),
            None => what,
        };
        Refusal::new(format!("catalog {}", self.name), what, format!("it has: {help}"))
    }
}

impl Price {
    /// The lowest price found.
    pub fn low(&self) -> f64 {
        self.low.unwrap_or(self.typical)
    }

    /// The highest price found.
    pub fn high(&self) -> f64 {
        self.high.unwrap_or(self.typical)
    }
}

/// `value`, a sum of money or power, rounded to whole millionths. This removes the errors that
/// adding leaves in the last bits, so that printed parts add up to their printed sum.
pub fn millionths(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn exactly(price: f64) -> Price {
    Price { typical: price, low: None, high: None }
}

/// The cheapest of `offers`, the first of several; `None` when there are no offers.
fn cheapest(offers: impl Iterator<Item = CatalogOffer>) -> Option<CatalogOffer> {
    offers.reduce(|best, next| if next.usd[0] < best.usd[0] { next } else { best })
}
