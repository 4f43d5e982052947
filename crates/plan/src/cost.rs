//! The bill: what a network costs and draws, part by part, by the prices of a catalogue.

use super::basis::{BillItem, IncludedBillItems};
use super::bill_line::BillLine;
use super::cable::PlannedCable;
use super::catalog::{
    BillSection, CableKind, CableUse, CatalogOffer, EnergyPrice, FigureConfidence, millionths,
};
use super::protocol::NetworkProtocol;
use super::shop::PriceSource;
use super::spares::SpareParts;
use base::Refusal;
use fabric::network::{RateSource, Topology};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Hours of a year of 365 days.
const HOURS: f64 = 8760.0;

/// What a network costs and draws.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Bill {
    /// The catalogue.
    pub catalog: String,
    /// Currency of the catalogue's prices; those of the bill are in US dollars.
    pub currency: String,
    /// Year of the prices.
    pub year: u16,
    /// Rate of the links, Gbit/s; the highest where several differ.
    pub link_gbps: f64,
    /// Where this rate comes from: the parameter `gbps` of the bill, the network, the cables of its
    /// file, or the catalogue (`default`).
    pub rate_source: Option<RateSource>,
    /// What switches, cables and adapters speak; none where the catalogue does not say.
    pub protocol: Option<NetworkProtocol>,
    /// Endpoints of the network.
    pub endpoints: u64,
    /// Switches of the network.
    pub switches: u64,
    /// Most ports that a switch has.
    pub radix: u32,
    /// Electric cables between switches.
    pub cables_electric: u64,
    /// Optical cables between switches.
    pub cables_optical: u64,
    /// Electric cables of endpoints.
    pub endpoint_cables_electric: u64,
    /// Optical cables of endpoints.
    pub endpoint_cables_optical: u64,
    /// The items that the totals add up.
    pub include: Vec<BillItem>,
    /// The parts of these items that there are lines of.
    pub counts: Vec<BillSection>,
    /// Catalogue, rates and items in words: bills compare where these are the same.
    pub basis: String,
    /// What is bought, part by part; what is not counted is here too where it has a price.
    pub lines: Vec<BillLine>,
    /// Switches and the cables between them, counted or not, US dollars; none where the catalogue
    /// has no price.
    pub network_usd: Option<f64>,
    /// Cables of endpoints, counted or not, US dollars.
    pub endpoint_cables_usd: Option<f64>,
    /// Adapters, counted or not, US dollars; none where the catalogue has no price.
    pub adapters_usd: Option<f64>,
    /// Sum of what is counted, at typical prices, US dollars; a year of energy where it is counted.
    pub cost_usd: f64,
    /// The same at the lowest prices, US dollars.
    pub cost_usd_low: f64,
    /// The same at the highest prices, US dollars.
    pub cost_usd_high: f64,
    /// `cost_usd` over the endpoints, US dollars; none without endpoints.
    pub cost_usd_per_endpoint: Option<f64>,
    /// `cost_usd_low` over the endpoints, US dollars; none without endpoints.
    pub cost_usd_per_endpoint_low: Option<f64>,
    /// `cost_usd_high` over the endpoints, US dollars; none without endpoints.
    pub cost_usd_per_endpoint_high: Option<f64>,
    /// Counted switches, US dollars.
    pub switches_usd: f64,
    /// Counted electric cables, US dollars.
    pub electric_usd: f64,
    /// Counted optical cables, US dollars.
    pub optical_usd: f64,
    /// Counted adapters, US dollars.
    pub nics_usd: f64,
    /// Power of what is counted, as far as it is known, watts; without cooling. None where the
    /// catalogue does not say the power of the switches.
    pub power_w: Option<f64>,
    /// `power_w` over the endpoints, watts; none without endpoints, too.
    pub power_w_per_endpoint: Option<f64>,
    /// What is counted but whose power the catalogue does not say, passive fibres and cables apart.
    pub power_unknown: Vec<String>,
    /// Energy of a year of the whole room (`power_w` x 8760 h x PUE), kilowatt-hours; none where
    /// the catalogue has no price of energy, or no power of the switches.
    pub energy_kwh_per_year: Option<f64>,
    /// Price of that energy, counted or not, US dollars; none as above.
    pub energy_usd_per_year: Option<f64>,
    /// Years whose energy the bill has; none as above.
    pub energy_years: Option<f64>,
    /// Price of the energy of these years, counted or not, US dollars.
    pub energy_usd: Option<f64>,
    /// Spare parts, US dollars; 0 where none were asked for.
    pub spares_usd: f64,
    /// What a quotation has fewer of than are needed, and its lines without effect, a sentence
    /// each.
    pub notes: Vec<String>,
    /// The least grade of what is counted, A to D; none where nothing is.
    pub confidence: Option<FigureConfidence>,
}

/// The bill of `t`, whose cables are `cables`, made with this `shop`.
///
/// A switch is bought for the ports it has (those in use, where its network does not say), an
/// adapter for every rail. What the totals do not count is listed too where it has a price.
/// O(switches + cables), times the catalogue's size.
///
/// # Errors
/// When the catalogue has nothing that fits for an item that is counted.
pub fn bill(t: &Topology, cables: &[PlannedCable], shop: PriceSource<'_>) -> Result<Bill, Refusal> {
    shop.include.check(shop.catalog)?;
    let mut lines = BillLines::default();
    let rates = rates(t, cables, shop);
    let link_gbps = rates.last().copied().unwrap_or(shop.catalog.link_gbps);
    let by_ports = switches_by_ports(t);
    let mut lacks = Vec::new();
    let mut spares = SpareParts::new(shop);
    for (&ports, &count) in &by_ports {
        let offer = shop.catalog.switch(ports, link_gbps);
        spares.switches(&offer, count);
        lines.bought(BillSection::Switches, offer, count, shop.include, &mut lacks)?;
    }
    // the sums do not depend on the order of the cables
    let mut alike: BTreeMap<(bool, u64, u64), (&PlannedCable, u64)> = BTreeMap::new();
    for cables in cables.chunk_by(|x, y| x.kind_bought() == y.kind_bought()) {
        alike.entry(cables[0].kind_bought()).or_insert((&cables[0], 0)).1 += cables.len() as u64;
    }
    for (cable, count) in alike.into_values() {
        let offer = shop.buy(cable)?;
        spares.cables(cable, &offer, count);
        lines.add(part_of(cable.id.for_use()), Some(cable.kind), &offer, count);
    }
    for (rate, count) in adapters_by_rate(t, shop) {
        let offer = shop.catalog.nic(f64::from_bits(rate));
        spares.adapters(&offer, count);
        lines.bought(BillSection::Nics, offer, count, shop.include, &mut lacks)?;
    }
    let notes = lines.short(shop);
    let mut lines = lines.finish(shop.include);
    lines.extend(spares.lines());
    let number = |part: BillSection, kind: CableKind| {
        let of = lines.iter().filter(|line| line.part == part && line.kind == Some(kind));
        of.map(|line| line.count).sum()
    };
    let items = shop.include.items();
    let known = |item: BillItem| {
        let of = lines.iter().filter(|line| BillItem::of(line.part) == Some(item));
        let sum = millionths(of.map(|line| line.usd).sum());
        (!lacks.contains(&item)).then_some(sum)
    };
    let mut bill = Bill {
        catalog: shop.catalog.name.clone(),
        currency: shop.catalog.currency.clone(),
        year: shop.catalog.year,
        link_gbps,
        rate_source: Some(shop.rate_source(t)),
        protocol: shop.catalog.protocol(),
        endpoints: t.endpoints().len() as u64,
        switches: t.switches().len() as u64,
        radix: by_ports.keys().next_back().copied().unwrap_or(0),
        cables_electric: number(BillSection::SwitchCables, CableKind::Electric),
        cables_optical: number(BillSection::SwitchCables, CableKind::Optical),
        endpoint_cables_electric: number(BillSection::EndpointCables, CableKind::Electric),
        endpoint_cables_optical: number(BillSection::EndpointCables, CableKind::Optical),
        counts: BillSection::ALL
            .into_iter()
            .filter(|&p| shop.include.counts(p) && (p != BillSection::Spares || shop.spare > 0.0))
            .collect(),
        basis: basis(shop, &rates, &items),
        network_usd: known(BillItem::Network),
        endpoint_cables_usd: known(BillItem::EndpointCables),
        adapters_usd: known(BillItem::Adapters),
        include: items,
        lines,
        notes,
        ..Bill::default()
    };
    bill.add_up(shop)?;
    Ok(bill)
}

/// The number of switches of each number of ports.
pub(super) fn switches_by_ports(t: &Topology) -> BTreeMap<u32, u64> {
    let mut by_ports = BTreeMap::new();
    for s in t.switches() {
        *by_ports.entry(u32::from(s.ports)).or_default() += 1;
    }
    by_ports
}

/// The number of adapters of each rate, whose bits are the key: rates above 0 sort as these do.
fn adapters_by_rate(t: &Topology, shop: PriceSource<'_>) -> BTreeMap<u64, u64> {
    let mut by_rate = BTreeMap::new();
    let rates = shop.rates(t);
    for terminal in t.terminals() {
        *by_rate.entry(rates.gbps(&terminal.cable).to_bits()).or_default() += 1;
    }
    by_rate
}

/// The rates that `cables` are bought at, ascending; that of the shop where there is no cable.
fn rates(t: &Topology, cables: &[PlannedCable], shop: PriceSource<'_>) -> Vec<f64> {
    let mut rates: Vec<f64> = cables.iter().map(|c| c.rate_gbps).collect();
    if rates.is_empty() {
        rates.push(shop.gbps.or(t.recipe().gbps()).unwrap_or(shop.catalog.link_gbps));
    }
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    rates
}

/// The basis of a bill in words: catalogue, rates and items.
fn basis(shop: PriceSource<'_>, rates: &[f64], items: &[BillItem]) -> String {
    let rates: Vec<String> = rates.iter().map(f64::to_string).collect();
    let (rates, mut words) = (rates.join(" and "), super::basis::words(items));
    if let (true, Some(years), Some(energy)) =
        (items.contains(&BillItem::Energy), shop.energy_years, &shop.catalog.energy)
    {
        let usd = millionths(energy.price_per_kwh * shop.catalog.usd_per_unit);
        let price = format!("{usd} $/kWh and PUE {}", energy.pue);
        words = format!("{words} of {} at {price}", years_in_words(years));
    }
    if shop.spare > 0.0 {
        words = format!("{words}, {} % of spares", millionths(100.0 * shop.spare));
    }
    format!("{} at {rates} Gbit/s: {words}", shop.catalog.name)
}

/// A number of years in words; `a year` for one.
fn years_in_words(years: f64) -> String {
    if (years - 1.0).abs() < f64::EPSILON { "a year".into() } else { format!("{years} years") }
}

fn part_of(for_use: CableUse) -> BillSection {
    match for_use {
        CableUse::Switch => BillSection::SwitchCables,
        CableUse::Endpoint => BillSection::EndpointCables,
    }
}

/// The lines of a bill that is being made, by part, kind and name, which is the order of the bill.
#[derive(Default)]
struct BillLines {
    lines: BTreeMap<(BillSection, Option<CableKind>, String), BillLine>,
    /// How many of each part of the catalogue the lines are made of, by part of the bill.
    pieces: BTreeMap<(BillSection, String), u64>,
}

impl BillLines {
    fn add(
        &mut self,
        part: BillSection,
        kind: Option<CableKind>,
        offer: &CatalogOffer,
        count: u64,
    ) {
        for (id, many) in &offer.pieces {
            *self.pieces.entry((part, id.clone())).or_default() += many * count;
        }
        let line = self.lines.entry((part, kind, offer.id.clone())).or_insert_with(|| BillLine {
            part,
            kind,
            id: offer.id.clone(),
            count: 0,
            usd: 0.0,
            usd_low: 0.0,
            usd_high: 0.0,
            watts: offer.watts.map(|_| 0.0),
            confidence: offer.confidence,
            counted: false,
        });
        let n = count as f64;
        line.count += count;
        line.usd += n * offer.usd[0];
        line.usd_low += n * offer.usd[1];
        line.usd_high += n * offer.usd[2];
        line.watts = line.watts.zip(offer.watts).map(|(sum, w)| sum + n * w);
    }

    /// Adds a line for `count` pieces of `offer`. Where there is no offer, the item is added to
    /// `lacks`.
    ///
    /// # Errors
    /// When there is no offer for an item that is counted.
    fn bought(
        &mut self,
        part: BillSection,
        offer: Result<CatalogOffer, Refusal>,
        count: u64,
        include: IncludedBillItems,
        lacks: &mut Vec<BillItem>,
    ) -> Result<(), Refusal> {
        match offer {
            Ok(offer) => self.add(part, None, &offer, count),
            Err(refusal) if include.counts(part) => return Err(refusal),
            Err(_) => lacks.extend(BillItem::of(part)),
        }
        Ok(())
    }

    /// What a quotation has fewer of than the counted lines need, and its lines without effect.
    fn short(&self, shop: PriceSource<'_>) -> Vec<String> {
        let Some(quoted) = &shop.catalog.quoted else { return Vec::new() };
        let mut needed: BTreeMap<&str, u64> = BTreeMap::new();
        for ((part, id), count) in &self.pieces {
            if shop.include.counts(*part) {
                *needed.entry(id).or_default() += count;
            }
        }
        let short = needed.into_iter().filter_map(|(id, count)| {
            let has = *quoted.quantities.get(id).filter(|&&has| has < count)?;
            Some(format!("{}: {count} of {id} are needed, {has} are quoted", shop.catalog.name))
        });
        let idle = quoted.left_out.iter().map(|line| format!("{}: {line}", shop.catalog.name));
        short.chain(idle).collect()
    }

    fn finish(self, include: IncludedBillItems) -> Vec<BillLine> {
        let mut lines: Vec<BillLine> = self.lines.into_values().collect();
        for line in &mut lines {
            line.counted = include.counts(line.part);
            for usd in [&mut line.usd, &mut line.usd_low, &mut line.usd_high] {
                *usd = millionths(*usd);
            }
            line.watts = line.watts.map(millionths);
        }
        lines
    }
}

impl Bill {
    /// Adds up the lines that are counted, then the energy that these draw.
    ///
    /// # Errors
    /// When energy is counted of switches whose power the catalogue does not say.
    fn add_up(&mut self, shop: PriceSource<'_>) -> Result<(), Refusal> {
        let mut power_w = 0.0;
        for line in self.lines.iter().filter(|line| line.counted) {
            self.cost_usd += line.usd;
            self.cost_usd_low += line.usd_low;
            self.cost_usd_high += line.usd_high;
            match (line.part, line.kind) {
                (BillSection::Switches, _) => self.switches_usd += line.usd,
                (BillSection::Nics, _) => self.nics_usd += line.usd,
                (BillSection::Spares, _) => self.spares_usd += line.usd,
                (_, Some(CableKind::Optical)) => self.optical_usd += line.usd,
                _ => self.electric_usd += line.usd,
            }
            match line.watts {
                Some(watts) => power_w += watts,
                None if line.kind == Some(CableKind::Electric) => {}
                None => self.power_unknown.push(line.id.clone()),
            }
            self.confidence = self.confidence.max(Some(line.confidence));
        }
        let power_w = millionths(power_w);
        let unknown = |line: &BillLine| line.part == BillSection::Switches && line.watts.is_none();
        let known = !self.lines.iter().any(|line| line.counted && unknown(line));
        self.power_w = known.then_some(power_w);
        match &shop.catalog.energy {
            Some(energy) if known => self.add_energy(energy, power_w, shop),
            Some(_) if shop.include.has(BillItem::Energy) => {
                let catalog = &shop.catalog.name;
                let why = format!("catalogue {catalog} does not say the power of these switches");
                return Err(Refusal::new("energy", why, "count no energy, or another catalogue"));
            }
            _ => {}
        }
        for sum in [
            &mut self.cost_usd,
            &mut self.cost_usd_low,
            &mut self.cost_usd_high,
            &mut self.switches_usd,
            &mut self.electric_usd,
            &mut self.optical_usd,
            &mut self.nics_usd,
            &mut self.spares_usd,
        ] {
            *sum = millionths(*sum);
        }
        if self.endpoints > 0 {
            let endpoints = self.endpoints as f64;
            self.cost_usd_per_endpoint = Some(self.cost_usd / endpoints);
            self.cost_usd_per_endpoint_low = Some(self.cost_usd_low / endpoints);
            self.cost_usd_per_endpoint_high = Some(self.cost_usd_high / endpoints);
            self.power_w_per_endpoint = self.power_w.map(|watts| watts / endpoints);
        }
        Ok(())
    }

    /// The energy of the years asked for, of what is counted, as a line of its own.
    fn add_energy(&mut self, energy: &EnergyPrice, power_w: f64, shop: PriceSource<'_>) {
        let counted = shop.include.has(BillItem::Energy);
        let kwh = power_w / 1000.0 * HOURS * energy.pue;
        let a_year = kwh * energy.price_per_kwh * shop.catalog.usd_per_unit;
        let years = shop.energy_years.unwrap_or(1.0);
        let usd = millionths(a_year * years);
        self.energy_kwh_per_year = Some(kwh);
        self.energy_usd_per_year = Some(millionths(a_year));
        self.energy_years = Some(years);
        self.energy_usd = Some(usd);
        self.lines.push(BillLine {
            part: BillSection::Energy,
            kind: None,
            id: years_in_words(years),
            count: 1,
            usd,
            usd_low: usd,
            usd_high: usd,
            watts: None,
            confidence: energy.origin.confidence,
            counted,
        });
        if counted {
            for sum in [&mut self.cost_usd, &mut self.cost_usd_low, &mut self.cost_usd_high] {
                *sum += usd;
            }
            self.confidence = self.confidence.max(Some(energy.origin.confidence));
        }
    }
}
