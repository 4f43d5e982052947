//! Reads a catalogue: TOML, with the line of whatever is wrong in it.

use super::catalog::{
    Catalog, CatalogCable, CatalogComponent, CatalogServer, CatalogSwitch, EnergyPrice, Price,
};
use base::Refusal;
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::Spanned;

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPriceCatalog {
    name: String,
    title: String,
    currency: Spanned<String>,
    usd_per_unit: Option<Spanned<f64>>,
    year: u16,
    link_gbps: Spanned<f64>,
    /// The parts of the bill that totals add up, in older files: checked, but without effect today.
    counts: Option<Spanned<Vec<String>>>,
    energy: Option<Spanned<EnergyPrice>>,
    #[serde(default)]
    switch: Vec<Spanned<CatalogSwitch>>,
    #[serde(default)]
    cable: Vec<Spanned<CatalogCable>>,
    #[serde(default)]
    transceiver: Vec<Spanned<CatalogComponent>>,
    #[serde(default)]
    fibre: Vec<Spanned<CatalogComponent>>,
    #[serde(default)]
    nic: Vec<Spanned<CatalogComponent>>,
    #[serde(default)]
    server: Vec<Spanned<CatalogServer>>,
}

/// Reads the text of the catalogue `file`.
///
/// # Errors
/// When it is no TOML, a key is unknown, missing or of another type, a figure is out of range, or a
/// name is given twice. One refusal, the first by line, that names file, line and field.
pub fn read(text: &str, file: &str) -> Result<Catalog, Refusal> {
    let at = |start: usize| {
        let before = &text[..start.min(text.len())];
        format!("{file}: line {}", before.matches('\n').count() + 1)
    };
    let written: RawPriceCatalog = toml::from_str(text).map_err(|e| {
        let place = e.span().map_or_else(|| file.to_owned(), |span| at(span.start));
        Refusal::new(place, e.message().trim(), "")
    })?;
    written.check().map_err(|(start, refusal)| refusal.within(&at(start)))?;
    Ok(written.into_catalog())
}

impl Catalog {
    /// The catalogue `name` that comes with flyloom.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        read(Self::text_of(name)?, name)
    }
}

/// A fault, and the byte offset in the text at which it is.
type FaultAt = (usize, Refusal);

impl RawPriceCatalog {
    fn check(&self) -> Result<(), FaultAt> {
        let code = self.currency.get_ref();
        let (start, rate) = (self.currency.span().start, self.usd_per_unit.as_ref());
        if code.len() != 3 || !code.bytes().all(|b| b.is_ascii_uppercase()) {
            let why = format!("'{code}' is no code of a currency");
            return Err((start, Refusal::new("currency", why, "three letters, as USD or EUR")));
        }
        match rate {
            None if code != "USD" => {
                let why = format!("US dollars for one {code} are missing");
                return Err((start, Refusal::new("usd_per_unit", why, "a rate above 0")));
            }
            Some(rate) => positive("usd_per_unit", *rate.get_ref(), rate.span().start)?,
            None => {}
        }
        positive("link_gbps", *self.link_gbps.get_ref(), self.link_gbps.span().start)?;
        if let Some(energy) = &self.energy {
            let (start, energy) = (energy.span().start, energy.get_ref());
            amount("energy: price_per_kwh", energy.price_per_kwh, start)?;
            if !(1.0..=100.0).contains(&energy.pue) {
                let why = format!("{} is no power usage effectiveness", energy.pue);
                return Err((start, Refusal::new("energy: pue", why, "1 to 100")));
            }
        }
        let mut names = BTreeSet::new();
        for s in &self.switch {
            unique(&mut names, &s.get_ref().id, s.span().start)?;
            switch(s.get_ref(), s.span().start)?;
        }
        for c in &self.cable {
            unique(&mut names, &c.get_ref().id, c.span().start)?;
            cable(c.get_ref(), c.span().start)?;
        }
        let pieces = [
            ("transceiver", &self.transceiver, [true, true]),
            ("fibre", &self.fibre, [false, true]),
            ("nic", &self.nic, [true, false]),
        ];
        for (what, list, needs) in pieces {
            for p in list {
                unique(&mut names, &p.get_ref().id, p.span().start)?;
                piece(what, p.get_ref(), needs, p.span().start)?;
            }
        }
        for s in &self.server {
            unique(&mut names, &s.get_ref().id, s.span().start)?;
            server(s.get_ref(), s.span().start)?;
        }
        self.counted()
    }

    /// Checks that `counts`, where an older file has it, names parts of a bill.
    fn counted(&self) -> Result<(), FaultAt> {
        let Some(counts) = &self.counts else { return Ok(()) };
        let parts = ["switches", "switch_cables", "endpoint_cables", "nics"];
        match counts.get_ref().iter().find(|word| !parts.contains(&word.as_str())) {
            None => Ok(()),
            Some(word) => {
                let why = format!("there is no part '{word}'");
                let help = format!("{}; or leave counts out: --include chooses", parts.join(", "));
                Err((counts.span().start, Refusal::new("counts", why, help)))
            }
        }
    }

    fn into_catalog(self) -> Catalog {
        let pieces =
            |list: Vec<Spanned<CatalogComponent>>| list.into_iter().map(Spanned::into_inner);
        Catalog {
            name: self.name,
            title: self.title,
            currency: self.currency.into_inner(),
            usd_per_unit: self.usd_per_unit.map_or(1.0, Spanned::into_inner),
            year: self.year,
            link_gbps: self.link_gbps.into_inner(),
            energy: self.energy.map(Spanned::into_inner),
            switches: self.switch.into_iter().map(Spanned::into_inner).collect(),
            cables: self.cable.into_iter().map(Spanned::into_inner).collect(),
            transceivers: pieces(self.transceiver).collect(),
            fibres: pieces(self.fibre).collect(),
            nics: pieces(self.nic).collect(),
            servers: self.server.into_iter().map(Spanned::into_inner).collect(),
            fits: None,
            quoted: None,
        }
    }
}

fn unique<'a>(names: &mut BTreeSet<&'a str>, id: &'a str, start: usize) -> Result<(), FaultAt> {
    if id.is_empty() {
        return Err((start, Refusal::new("id", "it is empty", "a name for the bill")));
    }
    if !names.insert(id) {
        let why = format!("'{id}' is there twice");
        return Err((start, Refusal::new("id", why, "a name of its own for everything on sale")));
    }
    Ok(())
}

/// The largest figure of a catalogue: sums of such prices, watts and metres stay finite.
const MOST: f64 = 1e12;

/// Checks that `value` is an amount: 0 to [`MOST`].
fn amount(field: &str, value: f64, start: usize) -> Result<(), FaultAt> {
    if (0.0..=MOST).contains(&value) {
        return Ok(());
    }
    let why = format!("{value:e} is no amount");
    Err((start, Refusal::new(field, why, format!("a number from 0 to {MOST:e}"))))
}

/// Checks that `value` is above 0 and at most [`MOST`].
fn positive(field: &str, value: f64, start: usize) -> Result<(), FaultAt> {
    if value > 0.0 && value <= MOST {
        return Ok(());
    }
    let why = format!("{value:e} is {}", if value > MOST { "too large" } else { "too small" });
    Err((start, Refusal::new(field, why, format!("a number above 0, at most {MOST:e}"))))
}

fn price(id: &str, price: Option<Price>, start: usize) -> Result<(), FaultAt> {
    let Some(price) = price else { return Ok(()) };
    let all = [price.low(), price.typical, price.high()];
    for value in all {
        amount(&format!("{id}: price"), value, start)?;
    }
    if !all.is_sorted() {
        let why = format!("{} to {} does not hold {}", all[0], all[2], all[1]);
        let help = "low <= typical <= high";
        return Err((start, Refusal::new(format!("{id}: price"), why, help)));
    }
    Ok(())
}

fn switch(s: &CatalogSwitch, start: usize) -> Result<(), FaultAt> {
    let id = &s.id;
    let fault = |field: &str, why: &str, help: &str| {
        Err((start, Refusal::new(format!("{id}: {field}"), why, help)))
    };
    price(id, s.price, start)?;
    for (field, value) in [("watts", s.watts), ("watts_per_port", s.watts_per_port)] {
        amount(&format!("{id}: {field}"), value.unwrap_or(0.0), start)?;
    }
    if s.rack_units == Some(0) {
        return fault("rack_units", "0 is too small", "at least 1");
    }
    if let Some(model) = s.linear {
        amount(&format!("{id}: linear.per_port"), model.per_port, start)?;
        if !(-MOST..=MOST).contains(&model.fixed) {
            return fault("linear.fixed", "it is out of range", "a number, at most 1e12");
        }
        if s.ports.is_some() || s.gbps.is_some() || s.price.is_some() || s.watts.is_some() {
            let why = "a model has no ports, gbps, price or watts of its own";
            return fault("linear", why, "linear and watts_per_port");
        }
        return Ok(());
    }
    if s.watts_per_port.is_some() {
        return fault("watts_per_port", "it belongs to a model", "watts");
    }
    match (s.ports, s.gbps) {
        (None | Some(0), _) => fault("ports", "missing or 0", "ports and gbps, or linear"),
        (_, None) => fault("gbps", "missing", "ports and gbps, or linear"),
        (_, Some(gbps)) => positive(&format!("{id}: gbps"), gbps, start),
    }
}

fn cable(c: &CatalogCable, start: usize) -> Result<(), FaultAt> {
    let id = &c.id;
    price(id, c.price, start)?;
    positive(&format!("{id}: reach_m"), c.reach_m, start)?;
    amount(&format!("{id}: watts"), c.watts.unwrap_or(0.0), start)?;
    match (c.linear, c.gbps, c.price) {
        (Some(model), None, None) => {
            amount(&format!("{id}: linear.per_gbps_m"), model.per_gbps_m, start)?;
            amount(&format!("{id}: linear.per_gbps"), model.per_gbps, start)
        }
        (None, Some(gbps), _) => positive(&format!("{id}: gbps"), gbps, start),
        (Some(_), ..) => {
            let why = "a model has no gbps or price of its own";
            Err((start, Refusal::new(format!("{id}: linear"), why, "linear alone")))
        }
        (None, None, _) => Err((
            start,
            Refusal::new(format!("{id}: gbps"), "missing", "gbps and price, or linear"),
        )),
    }
}

fn server(s: &CatalogServer, start: usize) -> Result<(), FaultAt> {
    let nodes = s.nodes.unwrap_or(1);
    for (field, value) in
        [("rack_units", s.rack_units), ("endpoints", s.endpoints), ("nodes", nodes)]
    {
        if value == 0 {
            let field = format!("{}: {field}", s.id);
            return Err((start, Refusal::new(field, "0 is too small", "at least 1")));
        }
    }
    if nodes > s.endpoints {
        let why = format!("{nodes} nodes, but {} endpoints", s.endpoints);
        let help = "at most endpoints: each node has an adapter";
        return Err((start, Refusal::new(format!("{}: nodes", s.id), why, help)));
    }
    amount(&format!("{}: watts", s.id), s.watts.unwrap_or(0.0), start)
}

fn piece(what: &str, p: &CatalogComponent, needs: [bool; 2], start: usize) -> Result<(), FaultAt> {
    let id = &p.id;
    price(id, p.price, start)?;
    let plugged = what == "transceiver";
    for (field, there) in [("use", p.for_use.is_some()), ("connector", p.connector.is_some())] {
        if there && !plugged {
            let (why, help) = ("it has none", format!("{field} is of transceivers and cables"));
            return Err((start, Refusal::new(format!("{id}: {field}"), why, help)));
        }
    }
    amount(&format!("{id}: watts"), p.watts.unwrap_or(0.0), start)?;
    for ((field, value), needed) in
        [("gbps", p.gbps), ("reach_m", p.reach_m)].into_iter().zip(needs)
    {
        match value {
            Some(value) if needed => positive(&format!("{id}: {field}"), value, start)?,
            None if !needed => {}
            _ => {
                let why = if needed { "missing" } else { "it has none" };
                let help =
                    format!("a {what} {} {field}", if needed { "has" } else { "is without" });
                return Err((start, Refusal::new(format!("{id}: {field}"), why, help)));
            }
        }
    }
    Ok(())
}
