//! Terms of a purchase: what is asked for beside a catalogue, a rate and the items of a total.

use super::basis::{BillItem, IncludedBillItems};
use super::catalog::{Catalog, EnergyPrice, FigureConfidence, FigureOrigin};
use super::protocol::NetworkProtocol;
use super::quotation::Quotation;
use super::shop::PriceSource;
use base::Refusal;
use serde::Deserialize;

/// What a user asks for of a purchase.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PurchaseTerms {
    /// The catalogue's server that endpoints are in; that of the floor's rules where none is given.
    pub server: Option<String>,
    /// What the network speaks; that of the cheapest switch where nothing is said.
    pub protocol: Option<NetworkProtocol>,
    /// Years of energy in the total; none, or the year that the items ask for, where left out.
    pub energy_years: Option<f64>,
    /// Price of a kilowatt-hour, US dollars; the catalogue's where left out.
    pub usd_per_kwh: Option<f64>,
    /// Power usage effectiveness; the catalogue's where left out, 1 where it has none.
    pub pue: Option<f64>,
    /// Parts to buy beyond those needed, as a fraction of these.
    pub spare: Option<f64>,
    /// A quotation, whose prices replace those of the catalogue.
    pub quotation: Option<Quotation>,
}

impl PurchaseTerms {
    /// The terms that the JSON object `given` has.
    ///
    /// # Errors
    /// When a key is unknown, or its value of another type or out of range.
    pub fn from_value(given: &serde_json::Value) -> Result<Self, Refusal> {
        let terms: Self = base::fields::typed(given).map_err(|(field, why)| {
            let param = if field.is_empty() { "terms" } else { field.as_str() };
            Refusal::new(param, why, "see docs/cost.md")
        })?;
        terms.check()?;
        Ok(terms)
    }

    /// Checks the ranges of numbers.
    ///
    /// # Errors
    /// The first that is out of range.
    pub fn check(&self) -> Result<(), Refusal> {
        let ranges = [
            ("energy_years", self.energy_years, 0.0, 1000.0),
            ("usd_per_kwh", self.usd_per_kwh, 0.0, 1e6),
            ("pue", self.pue, 1.0, 100.0),
            ("spare", self.spare, 0.0, 1.0),
        ];
        for (name, value, low, high) in ranges {
            if let Some(value) = value.filter(|v| !(low..=high).contains(v)) {
                let why = format!("{value} is out of range");
                return Err(Refusal::new(name, why, format!("{low} to {high}")));
            }
        }
        Ok(())
    }

    /// Whether the price of energy is asked for.
    fn prices_energy(&self) -> bool {
        self.usd_per_kwh.is_some() || self.pue.is_some()
    }

    /// The shop of `catalog` under these terms, with totals of `include` and the energy asked for.
    pub fn shop<'a>(
        &self,
        catalog: &'a Catalog,
        gbps: Option<f64>,
        include: IncludedBillItems,
    ) -> PriceSource<'a> {
        let include = self.included(include);
        let energy_years = self.energy_years.or_else(|| self.prices_energy().then_some(1.0));
        PriceSource { catalog, gbps, include, energy_years, spare: self.spare.unwrap_or(0.0) }
    }

    /// `include`, with energy where years of it are asked for.
    #[must_use]
    pub fn included(&self, include: IncludedBillItems) -> IncludedBillItems {
        if self.energy_years.is_some() { include.and(BillItem::Energy) } else { include }
    }

    /// The catalogue under these terms.
    ///
    /// # Errors
    /// When it has no such server, or no switch of the protocol.
    pub fn applied(&self, mut catalog: Catalog) -> Result<Catalog, Refusal> {
        if let Some(id) = &self.server {
            catalog.server(id)?;
        }
        if let Some(quotation) = &self.quotation {
            catalog = quotation.applied(catalog)?;
        }
        if let Some(protocol) = self.protocol {
            catalog = catalog.speaking(protocol);
            if catalog.switches.is_empty() {
                let why = format!("catalogue {} has no {protocol} switch", catalog.name);
                return Err(Refusal::new("protocol", why, "leave it out, or another catalogue"));
            }
        }
        if self.prices_energy() {
            let known = catalog.energy.take();
            let price = self.usd_per_kwh.map(|usd| usd / catalog.usd_per_unit);
            let Some(price_per_kwh) = price.or(known.as_ref().map(|e| e.price_per_kwh)) else {
                let why = format!("catalogue {} has no price of energy", catalog.name);
                return Err(Refusal::new("pue", why, "usd_per_kwh beside it"));
            };
            let pue = self.pue.or(known.as_ref().map(|e| e.pue)).unwrap_or(1.0);
            let given = FigureOrigin {
                source: "as it was given".into(),
                date: String::new(),
                confidence: FigureConfidence::A,
            };
            catalog.energy = Some(EnergyPrice { price_per_kwh, pue, origin: given });
        }
        Ok(catalog)
    }
}

/// Checks that a rate and a length are in their range.
///
/// # Errors
/// The first that is not.
pub fn check_measures(gbps: Option<f64>, electric_limit_m: Option<f64>) -> Result<(), Refusal> {
    for (name, value) in [("gbps", gbps), ("electric_limit_m", electric_limit_m)] {
        if let Some(bad) = value.filter(|v| !(1e-3..=1e6).contains(v)) {
            let why = format!("{bad:e} is out of range");
            return Err(Refusal::new(name, why, "0.001 to 1000000"));
        }
    }
    Ok(())
}
