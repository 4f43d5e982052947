//! A vendor's quotation: the prices of some parts, in place of all those of a catalogue.

use super::catalog::{
    CableKind, Catalog, CatalogCable, CatalogComponent, CatalogSwitch, FigureConfidence,
    FigureOrigin, Price, QuotedParts,
};
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A quotation as its file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quotation {
    /// The name of the file.
    pub file: String,
    /// Its lines below the headings.
    pub lines: Vec<QuotationLine>,
}

/// A line of a quotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotationLine {
    /// Its number in the file, from 1.
    pub line: u64,
    /// Its cells by the heading of their column: small letters, `_` between words.
    pub cells: BTreeMap<String, String>,
}

/// The headings of each column, the first of which is its name here.
const HEADINGS: [(&str, &[&str]); 9] = [
    ("part", &["part", "part_number", "item", "sku", "article"]),
    ("unit_price", &["unit_price", "price"]),
    ("currency", &["currency"]),
    ("quantity", &["quantity", "qty"]),
    ("kind", &["kind"]),
    ("ports", &["ports"]),
    ("gbps", &["gbps"]),
    ("length_m", &["length_m"]),
    ("links", &["links"]),
];
const KINDS: &str = "switch, electric, optical, transceiver, fibre, adapter";

impl QuotationLine {
    /// The text of a column; none where it is empty.
    fn text(&self, column: &str) -> Option<&str> {
        let names = HEADINGS.iter().find(|(name, _)| *name == column).map_or(&[][..], |h| h.1);
        let cells = names.iter().filter_map(|name| self.cells.get(*name));
        cells.map(|cell| cell.trim()).find(|cell| !cell.is_empty())
    }

    /// The number of a column, which may have a `$` before it and commas between thousands.
    fn number(&self, column: &str) -> Result<Option<f64>, Refusal> {
        let Some(text) = self.text(column) else { return Ok(None) };
        let plain: String = text.chars().filter(|c| !matches!(c, '$' | ',' | ' ')).collect();
        match plain.parse::<f64>() {
            Ok(value) if (0.0..=1e12).contains(&value) => Ok(Some(value)),
            _ => Err(self.fault(column, format!("'{text}' is no amount"), "a number, as 1249.00")),
        }
    }

    /// A number that the kind of this line needs.
    fn needed(&self, column: &str) -> Result<f64, Refusal> {
        self.number(column)?.filter(|&value| value > 0.0).ok_or_else(|| {
            let kind = self.text("kind").unwrap_or_default();
            self.fault(column, format!("missing of {kind} {}", self.part()), "a number above 0")
        })
    }

    fn part(&self) -> &str {
        self.text("part").unwrap_or_default()
    }

    fn fault(&self, column: &str, why: impl Into<String>, help: &str) -> Refusal {
        Refusal::new(format!("line {}: {column}", self.line), why, help)
    }
}

impl Quotation {
    /// `catalog` with the prices of the quotation and no other: a part that is not quoted has none.
    ///
    /// A line prices the part of the catalogue that has its name, capitals aside, else a new part
    /// of the kind, ports, rate and length that it says.
    ///
    /// # Errors
    /// When a column is missing, a cell is no number, a currency is not the catalogue's, or a part
    /// has two prices; the file and the line are named.
    pub fn applied(&self, catalog: Catalog) -> Result<Catalog, Refusal> {
        self.priced(catalog).map_err(|refusal| refusal.within(&self.file))
    }

    fn priced(&self, base: Catalog) -> Result<Catalog, Refusal> {
        for column in ["part", "unit_price"] {
            if self.lines.iter().all(|line| line.text(column).is_none()) {
                let names = HEADINGS.iter().find(|(name, _)| *name == column).map_or("", |h| h.0);
                let why = format!("there is no column '{names}', or all of it is empty");
                let columns = HEADINGS.map(|(name, _)| name).join(", ");
                return Err(Refusal::new(column, why, format!("columns: {columns}")));
            }
        }
        let mut catalog = base.clone();
        catalog.name.clone_from(&self.file);
        catalog.switches.retain(|s| s.linear.is_none());
        catalog.cables.retain(|c| c.linear.is_none());
        for switch in &mut catalog.switches {
            switch.price = None;
        }
        for cable in &mut catalog.cables {
            cable.price = None;
        }
        for list in [&mut catalog.transceivers, &mut catalog.fibres, &mut catalog.nics] {
            for piece in list {
                piece.price = None;
            }
        }
        let mut quantities: BTreeMap<String, u64> = BTreeMap::new();
        let mut prices: BTreeMap<String, f64> = BTreeMap::new();
        let mut left_out = Vec::new();
        for line in &self.lines {
            let part = line.part();
            if part.is_empty() {
                continue;
            }
            if let Some(currency) = line.text("currency").filter(|c| *c != catalog.currency) {
                let why = format!("'{currency}', but the catalogue is in {}", catalog.currency);
                return Err(line.fault("currency", why, "one currency for all"));
            }
            let links = line.number("links")?.unwrap_or(1.0).max(1.0);
            let Some(price) = line.number("unit_price")?.map(|price| price / links) else {
                left_out.push(format!("line {} has no price of '{part}'", line.line));
                continue;
            };
            let Some(id) = line.put(&mut catalog, price, &self.file)? else {
                left_out.push(format!("line {}: '{part}' is no part of a network", line.line));
                continue;
            };
            if prices
                .insert(id.clone(), price)
                .is_some_and(|other| other.to_bits() != price.to_bits())
            {
                return Err(line.fault("unit_price", format!("'{part}' has two prices"), "one"));
            }
            if let Some(quantity) = line.number("quantity")? {
                *quantities.entry(id).or_default() += (quantity * links) as u64;
            }
        }
        catalog.quoted = Some(Box::new(QuotedParts { quantities, left_out, base }));
        Ok(catalog)
    }
}

impl QuotationLine {
    /// Puts the price of this line into the catalogue; the name of the part in it, or none where
    /// the line is of nothing that a network is made of.
    fn put(&self, to: &mut Catalog, price: f64, file: &str) -> Result<Option<String>, Refusal> {
        let price = Some(Price { typical: price, low: None, high: None });
        let origin = FigureOrigin {
            source: format!("quotation {file}, line {}", self.line),
            date: String::new(),
            confidence: FigureConfidence::A,
        };
        let part = self.part();
        let is = |id: &str| id.eq_ignore_ascii_case(part);
        if let Some(s) = to.switches.iter_mut().find(|s| is(&s.id)) {
            (s.price, s.origin) = (price, origin);
            return Ok(Some(s.id.clone()));
        }
        if let Some(c) = to.cables.iter_mut().find(|c| is(&c.id)) {
            (c.price, c.origin) = (price, origin);
            return Ok(Some(c.id.clone()));
        }
        let pieces = to.transceivers.iter_mut().chain(&mut to.fibres).chain(&mut to.nics);
        if let Some(p) = pieces.into_iter().find(|p| is(&p.id)) {
            (p.price, p.origin) = (price, origin);
            return Ok(Some(p.id.clone()));
        }
        self.put_new(to, price, origin)
    }

    /// Adds a part of the kind that the line says, which the catalogue does not have.
    fn put_new(
        &self,
        to: &mut Catalog,
        price: Option<Price>,
        origin: FigureOrigin,
    ) -> Result<Option<String>, Refusal> {
        let id = self.part().to_owned();
        let component = |gbps: Option<f64>, reach_m: Option<f64>| CatalogComponent {
            id: id.clone(),
            title: None,
            for_use: None,
            protocol: None,
            connector: None,
            gbps,
            reach_m,
            price,
            watts: None,
            origin: origin.clone(),
            note: None,
        };
        match self.text("kind") {
            None => return Ok(None),
            Some("switch") => to.switches.push(CatalogSwitch {
                id: id.clone(),
                title: None,
                ports: Some(self.needed("ports")? as u32),
                gbps: Some(self.needed("gbps")?),
                price,
                linear: None,
                watts: None,
                watts_per_port: None,
                rack_units: None,
                protocol: None,
                connector: None,
                origin,
                note: None,
            }),
            Some(kind @ ("electric" | "optical")) => to.cables.push(CatalogCable {
                id: id.clone(),
                kind: if kind == "electric" { CableKind::Electric } else { CableKind::Optical },
                for_use: None,
                protocol: None,
                connector: None,
                gbps: Some(self.needed("gbps")?),
                reach_m: self.needed("length_m")?,
                price,
                linear: None,
                watts: None,
                origin,
                note: None,
            }),
            Some("transceiver") => {
                let piece = component(Some(self.needed("gbps")?), Some(self.needed("length_m")?));
                to.transceivers.push(piece);
            }
            Some("fibre") => to.fibres.push(component(None, Some(self.needed("length_m")?))),
            Some("adapter") => to.nics.push(component(Some(self.needed("gbps")?), None)),
            Some(other) => {
                return Err(self.fault("kind", format!("there is no kind '{other}'"), KINDS));
            }
        }
        Ok(Some(id))
    }
}
