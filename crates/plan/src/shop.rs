//! Where a network is bought: a catalogue, a rate, and what totals add up.

use super::basis::IncludedBillItems;
use super::catalog::{Catalog, CatalogOffer};
use fabric::network::{Cable, Topology};

/// The source of prices: what cables are bought from, and at which rate.
#[derive(Debug, Clone, Copy)]
pub struct PriceSource<'a> {
    /// Kinds, reaches and prices.
    pub catalog: &'a Catalog,
    /// The rate of every link, Gbit/s; `None` for that of the network where it was read from a
    /// fabric or a file, and for the catalogue's own where a family made the network.
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

impl PriceSource<'_> {
    /// The rate that `cable` of `t` is bought at, Gbit/s.
    pub fn rate_gbps(&self, t: &Topology, cable: &Cable) -> f64 {
        let own = t.recipe().family == "file";
        self.gbps.unwrap_or_else(|| if own { cable.rate_gbps() } else { self.catalog.link_gbps })
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
        let rates = t.links().iter().map(|l| self.rate_gbps(t, &l.cable));
        let terminals = t.terminals().iter().map(|r| self.rate_gbps(t, &r.cable));
        let gbps = rates.chain(terminals).fold(0.0, f64::max);
        (ports, gbps)
    }
}
