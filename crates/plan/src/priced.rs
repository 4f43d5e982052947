//! The bill of a network as a measure.

use super::quotation::Quotation;
use super::terms::check_measures;
use super::{
    Bill, BillItem, Catalog, FloorRules, IncludedBillItems, NetworkProtocol, PurchaseTerms, bill,
    cables_unsorted, check_quotation, floor,
};
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::Topology;
use fabric::size::NetworkSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a network costs and draws by a catalogue of prices.
///
/// Switches, cables (cut to the floor of docs/plan.md), adapters and energy; the totals add up what
/// `include` says, the same for every catalogue. It takes what the command `cost` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Params")]
#[serde(deny_unknown_fields, default)]
pub struct CostParams {
    /// The catalogue: the name of one that comes with flyloom (`flyloom catalog list`), or a file;
    /// the newest where none is given. A network that has a rate, by `gbps` or from a file, is
    /// priced by the newest that sells at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<CatalogParameter>,
    /// Rate of every link, Gbit/s, which must be that of the network where that says `gbps`; where
    /// it is not given that of the network, else the catalogue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbps: Option<f64>,
    /// What totals add up: `network`, `endpoint_cables`, `adapters`, `energy` (of a year).
    pub include: Vec<BillItem>,
    /// Rules of the floor, those of docs/plan.md that differ from its defaults.
    pub rules: Map<String, Value>,
    /// The catalogue's server that endpoints are in, for room and power; that of `rules` where it
    /// is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// What switches, cables and adapters speak; where it is not given what the cheapest switch
    /// does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<NetworkProtocol>,
    /// The longest electric cable, metres; where it is not given the reach of the catalogue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub electric_limit_m: Option<f64>,
    /// Years whose energy the total has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_years: Option<f64>,
    /// Price of energy, US dollars a kilowatt-hour; the catalogue's where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_per_kwh: Option<f64>,
    /// Power of the whole room over that of its machines (power usage effectiveness); the
    /// catalogue's where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pue: Option<f64>,
    /// Parts to buy beyond those needed, as a fraction of these; none where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<f64>,
    /// The file of a vendor's quotation (CSV, docs/cost.md), whose prices replace those of the
    /// catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quotation: Option<QuotationParameter>,
}

/// A catalogue as the value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CatalogParameter {
    /// The name of a catalogue, or of a file.
    Name(String),
    /// The content of a file.
    Read(CatalogContent),
}

/// The content of a file of a catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CatalogContent {
    /// The name of the file.
    pub file: String,
    /// Its text, TOML.
    pub text: String,
}

/// A quotation as the value of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QuotationParameter {
    /// The name of a file.
    Name(String),
    /// The content of a file.
    Read(Quotation),
}

impl Default for CostParams {
    fn default() -> Self {
        let include = BillItem::USUAL.to_vec();
        Self {
            catalog: None,
            gbps: None,
            include,
            rules: Map::new(),
            server: None,
            protocol: None,
            electric_limit_m: None,
            energy_years: None,
            usd_per_kwh: None,
            pue: None,
            spare: None,
            quotation: None,
        }
    }
}

impl CostParams {
    /// The terms of the purchase.
    ///
    /// # Errors
    /// When a number is out of range, or the quotation was not read.
    fn terms(&self) -> Result<PurchaseTerms, Refusal> {
        let quotation = match &self.quotation {
            Some(QuotationParameter::Name(name)) => {
                let why = format!("the file '{name}' was not read");
                return Err(Refusal::new("quotation", why, "run it by flyloom's Python package"));
            }
            Some(QuotationParameter::Read(quotation)) => Some(quotation.clone()),
            None => None,
        };
        Ok(PurchaseTerms { quotation, ..self.numbers() })
    }

    /// The terms without the quotation.
    fn numbers(&self) -> PurchaseTerms {
        PurchaseTerms {
            server: self.server.clone(),
            protocol: self.protocol,
            energy_years: self.energy_years,
            usd_per_kwh: self.usd_per_kwh,
            pue: self.pue,
            spare: self.spare,
            quotation: None,
        }
    }

    /// The catalogue that `on` is bought by under `terms`.
    ///
    /// # Errors
    /// When there is none, or it does not have what the terms ask for.
    fn catalog(&self, on: &Topology, terms: &PurchaseTerms) -> Result<Catalog, Refusal> {
        let catalog = match &self.catalog {
            Some(CatalogParameter::Name(name)) => Catalog::named(name)?,
            Some(CatalogParameter::Read(read)) => {
                super::catalog_file::read(&read.text, &read.file)?
            }
            None => Catalog::usual(on, self.gbps)?,
        };
        let mut catalog = terms.applied(catalog)?;
        terms.included(IncludedBillItems::of(&self.include)?).check(&catalog)?;
        if let Some(limit) = self.electric_limit_m {
            catalog = catalog.with_electric_limit(limit);
        }
        Ok(catalog.fitting(on, self.gbps))
    }
}

/// The bill, and the floor that its cables are for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Record")]
pub struct CostRecord {
    /// What is bought.
    #[serde(flatten)]
    pub bill: Bill,
    /// Racks of the floor.
    pub racks: u64,
    /// The network, in the inline form.
    pub network: String,
}

impl ExperimentStage for CostParams {
    const NAME: &'static str = "cost";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "catalog",
            "/catalog",
            ColumnType::Text,
            "",
            "whose prices these are",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "basis",
            "/basis",
            ColumnType::Text,
            "",
            "catalogue, rates and what is counted: prices of one basis compare",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "rate_gbps",
            "/link_gbps",
            ColumnType::Real,
            "Gbit/s",
            "rate at which links are bought",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "rate_source",
            "/rate_source",
            ColumnType::Text,
            "",
            "where that rate comes from",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "usd",
            "/cost_usd",
            ColumnType::Real,
            "US$",
            "price, typical",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "usd_low",
            "/cost_usd_low",
            ColumnType::Real,
            "US$",
            "lowest price",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "usd_high",
            "/cost_usd_high",
            ColumnType::Real,
            "US$",
            "highest price",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "usd_per_endpoint",
            "/cost_usd_per_endpoint",
            ColumnType::Real,
            "US$",
            "typical price over endpoints",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "power_w",
            "/power_w",
            ColumnType::Real,
            "W",
            "power",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "power_w_per_endpoint",
            "/power_w_per_endpoint",
            ColumnType::Real,
            "W",
            "power over endpoints",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "racks",
            "/racks",
            ColumnType::Whole,
            "",
            "racks",
            BetterDirection::Lower,
        ),
    ];

    const FILES: &'static [&'static str] = &["catalog", "quotation"];

    type Input<'a> = &'a Topology;
    type Record = CostRecord;

    fn examples() -> Vec<Self> {
        let years = Self { energy_years: Some(5.0), spare: Some(0.02), ..Self::default() };
        vec![Self::default(), years]
    }

    fn check(&self) -> Result<(), Refusal> {
        check_measures(self.gbps, self.electric_limit_m)?;
        self.numbers().check()
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        NetworkSize::of(on, threads).plan(false)
    }

    fn run(
        &self,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<CostRecord, ComputationError> {
        let terms = self.terms()?;
        let catalog = self.catalog(on, &terms)?;
        let shop = terms.shop(&catalog, self.gbps, IncludedBillItems::of(&self.include)?);
        let rules = FloorRules::from_value(&Value::Object(self.rules.clone()))?;
        let rules = rules.with_server(self.server.as_deref())?.resolved(on, shop)?;
        let floor = floor(on, &rules, watch)?;
        check_quotation(on, &floor, &rules, shop)?;
        let cables = cables_unsorted(on, &floor, &rules, shop)?;
        Ok(CostRecord {
            bill: bill(on, &cables, shop)?,
            racks: floor.racks.len() as u64,
            network: on.recipe().to_string(),
        })
    }
}
