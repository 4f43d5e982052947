//! Spare parts: what is bought beyond what a network needs, a fraction of everything counted.

use super::bill_line::BillLine;
use super::cable::PlannedCable;
use super::catalog::{
    BillSection, CableKind, CableUse, CatalogOffer, FigureConfidence, millionths,
};
use super::shop::PriceSource;
use base::Refusal;
use std::collections::BTreeMap;

/// What has spares of its own: kind of part, name, and for cables stock length and rate, as bits.
type SpareKey = (BillSection, Option<CableKind>, String, u64, u64);

/// Parts alike.
struct AlikeParts {
    needed: u64,
    /// Their prices together, US dollars: typical, lowest, highest.
    usd: [f64; 3],
    confidence: FigureConfidence,
}

/// The parts of a bill that are counted, for their spares.
pub(super) struct SpareParts<'a> {
    shop: PriceSource<'a>,
    parts: BTreeMap<SpareKey, AlikeParts>,
}

impl<'a> SpareParts<'a> {
    pub(super) fn new(shop: PriceSource<'a>) -> Self {
        Self { shop, parts: BTreeMap::new() }
    }

    /// Adds switches of one number of ports.
    pub(super) fn switches(&mut self, offer: &Result<CatalogOffer, Refusal>, count: u64) {
        self.devices(BillSection::Switches, offer, count);
    }

    /// Adds adapters of one rate.
    pub(super) fn adapters(&mut self, offer: &Result<CatalogOffer, Refusal>, count: u64) {
        self.devices(BillSection::Nics, offer, count);
    }

    fn devices(&mut self, part: BillSection, offer: &Result<CatalogOffer, Refusal>, count: u64) {
        if let Ok(offer) = offer {
            self.add(part, (part, None, offer.id.clone(), 0, 0), offer, count);
        }
    }

    /// Adds cables of one length, as the order of cables has them: by kind, stock length and rate.
    pub(super) fn cables(&mut self, cable: &PlannedCable, offer: &CatalogOffer, count: u64) {
        let part = match cable.id.for_use() {
            CableUse::Switch => BillSection::SwitchCables,
            CableUse::Endpoint => BillSection::EndpointCables,
        };
        let (stock, rate) = (cable.stock_m.to_bits(), cable.rate_gbps.to_bits());
        let words = format!("{} cables", cable.kind);
        self.add(
            part,
            (BillSection::SwitchCables, Some(cable.kind), words, stock, rate),
            offer,
            count,
        );
    }

    fn add(&mut self, part: BillSection, key: SpareKey, offer: &CatalogOffer, count: u64) {
        if !self.shop.include.counts(part) {
            return;
        }
        let none = AlikeParts { needed: 0, usd: [0.0; 3], confidence: offer.confidence };
        let alike = self.parts.entry(key).or_insert(none);
        alike.needed += count;
        for (sum, usd) in alike.usd.iter_mut().zip(offer.usd) {
            *sum += count as f64 * usd;
        }
        alike.confidence = alike.confidence.max(offer.confidence);
    }

    /// A line for the spares of each switch and adapter, and of each kind of cable: the fraction of
    /// what is needed, rounded up for each kind, stock length and rate, at the mean price of these.
    pub(super) fn lines(self) -> Vec<BillLine> {
        let mut lines: BTreeMap<(BillSection, Option<CableKind>, String), BillLine> =
            BTreeMap::new();
        for ((part, kind, id, ..), alike) in self.parts {
            // whole numbers that a product of fractions misses in its last bits count as whole
            let spares = millionths(alike.needed as f64 * self.shop.spare).ceil();
            if spares <= 0.0 {
                continue;
            }
            let share = spares / alike.needed as f64;
            let line = lines.entry((part, kind, id.clone())).or_insert_with(|| BillLine {
                part: BillSection::Spares,
                kind,
                id,
                count: 0,
                usd: 0.0,
                usd_low: 0.0,
                usd_high: 0.0,
                watts: Some(0.0),
                confidence: alike.confidence,
                counted: true,
            });
            line.count += spares as u64;
            let sums = [&mut line.usd, &mut line.usd_low, &mut line.usd_high];
            for (sum, usd) in sums.into_iter().zip(alike.usd) {
                *sum = millionths(*sum + usd * share);
            }
            line.confidence = line.confidence.max(alike.confidence);
        }
        lines.into_values().collect()
    }
}
