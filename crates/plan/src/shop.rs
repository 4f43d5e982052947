//! Where a network is bought: a catalogue, a rate, and what totals add up.

use super::basis::IncludedBillItems;
use super::catalog::{CableUse, Catalog, CatalogOffer};
use base::Refusal;
use fabric::network::{Cable, RateSource, Topology};

/// The source of prices: what cables are bought from, and at which rate.
#[derive(Debug, Clone, Copy)]
pub struct PriceSource<'a> {
    /// Kinds, reaches and prices.
    pub catalog: &'a Catalog,
    /// The rate of every link, Gbit/s; `None` for that of the network where it has one or was read
    /// from a fabric or a file, and for the catalogue's own otherwise.
    pub gbps: Option<f64>,
    /// What totals add up.
    pub include: IncludedBillItems,
    /// Years whose energy the item of energy is; `None` for one year, at the catalogue's price.
    pub energy_years: Option<f64>,
    /// Parts to buy beyond those needed, as a fraction of these.
    pub spare: f64,
}

impl<'a> PriceSource<'a> {
    /// This catalogue at its own rate, with totals of [`BillItem::USUAL`](super::BillItem::USUAL).
    pub fn of(catalog: &'a Catalog) -> Self {
        let include = IncludedBillItems::default();
        Self { catalog, gbps: None, include, energy_years: None, spare: 0.0 }
    }
}

/// Prices by which networks are ranked before they are laid out, US dollars.
#[derive(Debug, Clone, PartialEq)]
pub struct RoughPrices {
    /// That of a switch with 0, 1, ... ports; `None` where none is sold.
    pub switch: Vec<Option<f64>>,
    /// That of a cable between switches, of which one in seven stays within a few racks.
    pub link: f64,
    /// That of the cable of an endpoint.
    pub endpoint: f64,
}

/// The rates that the cables of a network are bought at.
#[derive(Debug, Clone, Copy)]
pub(super) struct CableRates {
    /// The rate of every cable, Gbit/s; `None` where each has its own.
    of_all: Option<f64>,
}

impl CableRates {
    /// The rate that `cable` is bought at, Gbit/s.
    pub(super) fn gbps(self, cable: &Cable) -> f64 {
        self.of_all.unwrap_or_else(|| cable.rate_gbps())
    }
}

/// The length of a cable within a few racks, metres; and that of one across the room.
const NEAR_M: f64 = 2.0;
const FAR_M: f64 = 15.0;

impl PriceSource<'_> {
    /// The prices of switches of at most `radix` ports and of cables, at the rate of this shop.
    pub fn rough_prices(&self, radix: u32) -> RoughPrices {
        let gbps = self.gbps.unwrap_or(self.catalog.link_gbps);
        let fitting = self.catalog.clone().fitting_switch(radix, gbps);
        let switch = |ports| self.catalog.switch(ports, gbps).ok().map(|offer| offer.usd[0]);
        let cable = |of, metres| fitting.cable(of, metres, gbps).ok().map(|c| c.1.usd[0]);
        let near = cable(CableUse::Switch, NEAR_M).unwrap_or(0.0);
        let far = cable(CableUse::Switch, FAR_M).unwrap_or(near);
        RoughPrices {
            switch: (0..=radix).map(switch).collect(),
            link: (near + 6.0 * far) / 7.0,
            endpoint: cable(CableUse::Endpoint, NEAR_M).unwrap_or(0.0),
        }
    }

    /// The rates that the cables of `t` are bought at.
    pub(super) fn rates(&self, t: &Topology) -> CableRates {
        let of_all = self.gbps.or_else(|| t.recipe().gbps());
        let of_all = of_all.or_else(|| match self.rate_source(t) {
            RateSource::Cables => None,
            _ => Some(self.catalog.link_gbps),
        });
        CableRates { of_all }
    }

    /// Where the rate comes from at which the cables of `t` are bought.
    pub fn rate_source(&self, t: &Topology) -> RateSource {
        if t.recipe().gbps().is_some() {
            RateSource::Network
        } else if self.gbps.is_some() {
            RateSource::Parameters
        } else if t.recipe().family == "file" {
            RateSource::Cables
        } else {
            RateSource::Default
        }
    }

    /// Checks that the rate agrees with that of `t`, where both are given.
    ///
    /// # Errors
    /// When they differ.
    pub fn check_rate(&self, t: &Topology) -> Result<(), Refusal> {
        t.agreed_gbps(self.gbps).map(drop)
    }

    /// What the switch of `t` with most ports is bought as; `None` where the catalogue has nothing
    /// for it.
    pub fn switch(&self, t: &Topology) -> Option<CatalogOffer> {
        let (ports, gbps) = self.largest_switch(t);
        self.catalog.switch(ports, gbps).ok()
    }

    /// The ports of the switch of `t` with most ports, and the highest rate of its cables.
    pub(super) fn largest_switch(&self, t: &Topology) -> (u32, f64) {
        let ports = t.switches().iter().map(|s| u32::from(s.ports)).max().unwrap_or(0);
        let rates = self.rates(t);
        let links = t.links().iter().map(|l| rates.gbps(&l.cable));
        let terminals = t.terminals().iter().map(|r| rates.gbps(&r.cable));
        let gbps = links.chain(terminals).fold(0.0, f64::max);
        (ports, gbps)
    }
}
