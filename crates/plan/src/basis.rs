//! The basis of prices: what a total adds up, and which catalogue is used where none is named.
//!
//! Bills are compared only where they have the same basis: catalogue, rates and items.

use super::catalog::{BillSection, CableUse, Catalog};
use base::Refusal;
use base::words::did_you_mean;
use fabric::network::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// What a total can add up.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Item")]
#[serde(rename_all = "snake_case")]
pub enum BillItem {
    /// Switches, and the cables between them with their transceivers.
    Network,
    /// Cables from endpoints to switches, with their transceivers.
    EndpointCables,
    /// Adapters, one a rail.
    Adapters,
    /// Energy of a year, or of the years asked for, of the other items that are counted.
    Energy,
}

impl BillItem {
    /// All items, in the order of a bill.
    pub const ALL: [Self; 4] = [Self::Network, Self::EndpointCables, Self::Adapters, Self::Energy];
    /// The items that a total adds up by default: all catalogues have prices for these.
    pub const USUAL: [Self; 2] = [Self::Network, Self::EndpointCables];

    /// The item of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(word: &str) -> Result<Self, Refusal> {
        let same = |item: &Self| item.to_string() == word.replace('-', "_");
        Self::ALL.into_iter().find(same).ok_or_else(|| {
            let names = Self::ALL.map(|item| item.to_string());
            let near = did_you_mean(word, names.iter().map(String::as_str));
            let help = near + &words(&Self::ALL);
            Refusal::new("include", format!("there is no '{word}'"), help)
        })
    }

    /// The item that a part of the bill is in; `None` of spares, which are of all that is counted.
    pub fn of(part: BillSection) -> Option<Self> {
        Some(match part {
            BillSection::Switches | BillSection::SwitchCables => Self::Network,
            BillSection::EndpointCables => Self::EndpointCables,
            BillSection::Nics => Self::Adapters,
            BillSection::Energy => Self::Energy,
            BillSection::Spares => return None,
        })
    }
}

impl fmt::Display for BillItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Network => "network",
            Self::EndpointCables => "endpoint_cables",
            Self::Adapters => "adapters",
            Self::Energy => "energy",
        })
    }
}

/// The names of `items`, separated by commas.
pub(super) fn words(items: &[BillItem]) -> String {
    items.iter().map(BillItem::to_string).collect::<Vec<_>>().join(", ")
}

/// The items that a total adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncludedBillItems([bool; 4]);

impl Default for IncludedBillItems {
    fn default() -> Self {
        Self(BillItem::ALL.map(|item| BillItem::USUAL.contains(&item)))
    }
}

impl IncludedBillItems {
    /// The set of these items.
    ///
    /// # Errors
    /// When `items` is empty, or holds energy alone.
    pub fn of(items: &[BillItem]) -> Result<Self, Refusal> {
        let found = Self(BillItem::ALL.map(|item| items.contains(&item)));
        match found.items().as_slice() {
            [] => Err(Refusal::new("include", "nothing is counted", words(&BillItem::ALL))),
            [BillItem::Energy] => {
                let why = "energy is that of the other items, and there is none";
                Err(Refusal::new("include", why, "network, energy"))
            }
            _ => Ok(found),
        }
    }

    /// The set with `item` in it, too.
    #[must_use]
    pub fn and(self, item: BillItem) -> Self {
        Self(BillItem::ALL.map(|one| one == item || self.has(one)))
    }

    /// Whether totals add up lines of this part.
    pub fn counts(self, part: BillSection) -> bool {
        BillItem::of(part).is_none_or(|item| self.has(item))
    }

    /// Whether `item` is among them.
    pub fn has(self, item: BillItem) -> bool {
        BillItem::ALL.iter().zip(self.0).any(|(one, there)| there && *one == item)
    }

    /// The items, in the order of a bill.
    pub fn items(self) -> Vec<BillItem> {
        BillItem::ALL.into_iter().filter(|&item| self.has(item)).collect()
    }

    /// Checks that `catalog` has a price for each item, at any rate.
    ///
    /// # Errors
    /// When it has none for an item; the refusal names the catalogue, the item, and the items that
    /// it has prices for.
    pub fn check(self, catalog: &Catalog) -> Result<(), Refusal> {
        let sold = catalog.items();
        // what a quotation lacks is found piece by piece, by name and number
        let missing = |item: &BillItem| {
            !sold.contains(item) && (catalog.quoted.is_none() || *item == BillItem::Energy)
        };
        let Some(lacking) = self.items().into_iter().find(missing) else { return Ok(()) };
        let why = format!("catalogue {} has no price of {lacking}", catalog.name);
        Err(Refusal::new("include", why, format!("it has: {}", words(&sold))))
    }
}

impl Catalog {
    /// The items for which some product has a price, at any rate.
    pub fn items(&self) -> Vec<BillItem> {
        let cables = |of: CableUse| {
            let fits = |c: &&super::catalog::CatalogCable| {
                c.for_use.is_none_or(|u| u == of) && (c.price.is_some() || c.linear.is_some())
            };
            let ends = self.transceivers.iter().any(|x| x.price.is_some());
            let fibres = self.fibres.iter().any(|x| x.price.is_some());
            self.cables.iter().any(|c| fits(&c)) || (ends && fibres)
        };
        let switches = self.switches.iter().any(|s| s.price.is_some() || s.linear.is_some());
        let there = |item: &BillItem| match item {
            BillItem::Network => switches && cables(CableUse::Switch),
            BillItem::EndpointCables => cables(CableUse::Endpoint),
            BillItem::Adapters => self.nics.iter().any(|n| n.price.is_some()),
            BillItem::Energy => self.energy.is_some(),
        };
        BillItem::ALL.into_iter().filter(there).collect()
    }

    /// The name of the newest catalogue that comes with flyloom, the first by name of several of
    /// that year. Prices are taken from it where the user names no catalogue.
    pub fn newest() -> &'static str {
        by_age()[0]
    }

    /// The catalogue that is used where the user names none: the newest. At a rate that a user gave
    /// for all links (`gbps`) or that the network says, it is the newest that sells at this rate;
    /// for a network of a file, whose cables have rates of their own, the newest that sells at all
    /// of these.
    ///
    /// # Errors
    /// When `gbps` contradicts the rate of the network.
    pub fn usual(t: &Topology, gbps: Option<f64>) -> Result<Self, Refusal> {
        let rate = t.agreed_gbps(gbps)?.or_else(|| t.recipe().gbps());
        if rate.is_some() || t.recipe().family != "file" {
            return Self::usual_at(rate);
        }
        let ports = t.switches().iter().map(|s| u32::from(s.ports)).max().unwrap_or(0);
        Self::newest_for(ports, &own_rates(t))
    }

    /// The catalogue that is used where the user names none, for a network of which at most a rate
    /// is known: the newest that sells at it, so that all networks of one rate have one catalogue,
    /// however many ports their switches have.
    ///
    /// # Errors
    /// Never: the catalogues that come with flyloom can be read.
    pub fn usual_at(gbps: Option<f64>) -> Result<Self, Refusal> {
        match gbps {
            Some(gbps) => Self::newest_for(0, &[gbps]),
            None => Self::named(Self::newest()),
        }
    }

    /// The newest catalogue that sells switches of `ports` ports and cables at all of these rates;
    /// the newest of all where none does.
    fn newest_for(ports: u32, rates: &[f64]) -> Result<Self, Refusal> {
        for name in by_age() {
            let catalog = Self::named(name)?;
            if rates.iter().all(|&rate| catalog.sells(ports, rate)) {
                return Ok(catalog);
            }
        }
        Self::named(Self::newest())
    }

    /// Whether the catalogue has a switch of `ports` ports and a cable across a room, both at
    /// `gbps`.
    fn sells(&self, ports: u32, gbps: f64) -> bool {
        let cable = |of: CableUse| self.cable(of, ACROSS_M, gbps).is_ok();
        self.switch(ports, gbps).is_ok() && cable(CableUse::Switch) && cable(CableUse::Endpoint)
    }
}

/// Length of a cable across a room, metres: one that no copper reaches.
const ACROSS_M: f64 = 30.0;

/// The rates of a network's own cables, Gbit/s, ascending.
fn own_rates(t: &Topology) -> Vec<f64> {
    let links = t.links().iter().map(|l| l.cable.rate_gbps());
    let mut rates: Vec<f64> =
        links.chain(t.terminals().iter().map(|r| r.cable.rate_gbps())).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// The names of the catalogues that come with flyloom, the newest first; those of one year by name.
fn by_age() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let year = |name: &str| Catalog::named(name).map_or(0, |c| c.year);
        let mut names: Vec<&'static str> = Catalog::built_in().collect();
        names.sort_by_cached_key(|&name| (std::cmp::Reverse(year(name)), name));
        names
    })
}
