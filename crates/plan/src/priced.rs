//! The bill of a network as a measure.

use super::{
    Bill, BillItem, Catalog, FloorRules, IncludedBillItems, PriceSource, bill, cables_unsorted,
    floor,
};
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, ResourceNeed};
use fabric::Topology;
use fabric::size::NetworkSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a network costs and draws by a catalogue that comes with flyloom.
///
/// Switches, cables (cut to the floor of docs/plan.md), adapters and energy; the totals add up what
/// `include` says, the same for every catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Params")]
#[serde(deny_unknown_fields, default)]
pub struct CostParams {
    /// The catalogue, by name: `flyloom catalog list`; the newest where none is given. A network
    /// that has a rate, by `gbps` or from a file, is priced by the newest that sells at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// Rate of every link, Gbit/s, which must be that of the network where that says `gbps`; where
    /// it is not given that of the network, else the catalogue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gbps: Option<f64>,
    /// What totals add up: `network`, `endpoint_cables`, `adapters`, `energy` (of a year).
    pub include: Vec<BillItem>,
    /// Rules of the floor, those of docs/plan.md that differ from its defaults.
    pub rules: Map<String, Value>,
}

impl Default for CostParams {
    fn default() -> Self {
        let include = BillItem::USUAL.to_vec();
        Self { catalog: None, gbps: None, include, rules: Map::new() }
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

    type Input<'a> = &'a Topology;
    type Record = CostRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        NetworkSize::of(on, threads).plan(false)
    }

    fn run(
        &self,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<CostRecord, ComputationError> {
        let catalog = match &self.catalog {
            Some(name) => Catalog::named(name)?,
            None => Catalog::usual(on, self.gbps)?,
        };
        let catalog = catalog.fitting(on, self.gbps);
        let include = IncludedBillItems::of(&self.include)?;
        include.check(&catalog)?;
        let shop = PriceSource { gbps: self.gbps, include, ..PriceSource::of(&catalog) };
        let rules = FloorRules::from_value(&Value::Object(self.rules.clone()))?;
        let rules = rules.resolved(on, shop)?;
        let floor = floor(on, &rules, watch)?;
        let cables = cables_unsorted(on, &floor, &rules, shop)?;
        Ok(CostRecord {
            bill: bill(on, &cables, shop)?,
            racks: floor.racks.len() as u64,
            network: on.recipe().to_string(),
        })
    }
}
