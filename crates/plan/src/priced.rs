//! The bill of a network as a measure.

use super::{
    Bill, BillItem, Catalog, FloorRules, IncludedItems, PriceSource, bill, cables_unsorted, floor,
};
use base::stage::{Better, Kind};
use base::{Metric, Need, Stage, Stop, Watch};
use fabric::Topology;
use fabric::size::Size;
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
    /// The catalogue, by name: `flyloom catalog list`; the newest where none is given. A network of
    /// a file, whose links have their own rate, is priced by the newest that sells at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// Rate of every link, Gbit/s; the catalogue's where none is given.
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

impl Stage for CostParams {
    const NAME: &'static str = "cost";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "catalog",
            "/catalog",
            Kind::Text,
            "",
            "whose prices these are",
            Better::Neither,
        ),
        Metric::new(
            "basis",
            "/basis",
            Kind::Text,
            "",
            "catalogue, rates and what is counted: prices of one basis compare",
            Better::Neither,
        ),
        Metric::new("usd", "/cost_usd", Kind::Real, "US$", "price, typical", Better::Lower),
        Metric::new("usd_low", "/cost_usd_low", Kind::Real, "US$", "lowest price", Better::Lower),
        Metric::new(
            "usd_high",
            "/cost_usd_high",
            Kind::Real,
            "US$",
            "highest price",
            Better::Lower,
        ),
        Metric::new(
            "usd_per_endpoint",
            "/cost_usd_per_endpoint",
            Kind::Real,
            "US$",
            "typical price over endpoints",
            Better::Lower,
        ),
        Metric::new("power_w", "/power_w", Kind::Real, "W", "power", Better::Lower),
        Metric::new(
            "power_w_per_endpoint",
            "/power_w_per_endpoint",
            Kind::Real,
            "W",
            "power over endpoints",
            Better::Lower,
        ),
        Metric::new("racks", "/racks", Kind::Whole, "", "racks", Better::Lower),
    ];

    type Input<'a> = &'a Topology;
    type Record = CostRecord;

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }

    fn need(&self, on: &Topology, threads: usize) -> Need {
        Size::of(on, threads).plan(false)
    }

    fn run(&self, on: &Topology, watch: &dyn Watch) -> Result<CostRecord, Stop> {
        let catalog = match &self.catalog {
            Some(name) => Catalog::named(name)?,
            None => Catalog::usual(on, self.gbps)?,
        };
        let include = IncludedItems::of(&self.include)?;
        include.check(&catalog)?;
        let shop = PriceSource { catalog: &catalog, gbps: self.gbps, include };
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
