//! Plans and bills: `Shop`, and what `Topology.plan` and `Topology.cost` give.

use crate::enter::{from_python, refuse, run, to_python};
use base::Refusal;
use fabric::network::Topology as Network;
use plan::sc14::CostStudyColumn;
use plan::terms::check_measures;
use plan::{BillItem, Catalog, FloorRules, IncludedBillItems, PlannedCable, PurchaseTerms};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What cables and switches are bought from: a catalogue, and the rate of the links.
#[pyclass(frozen, module = "flyloom._core")]
#[derive(Clone)]
pub struct Shop {
    catalog: Catalog,
    gbps: Option<f64>,
    include: IncludedBillItems,
    electric_limit_m: Option<f64>,
    terms: PurchaseTerms,
    /// Whether no catalogue was named.
    usual: bool,
}

#[pymethods]
impl Shop {
    /// A shop with the catalogue of the text `catalog` (TOML, from `file`), or with the one that
    /// comes with flyloom and has the name `file` where there is no text; with the newest that
    /// sells at the rate, or at those of a network, where neither is there. `gbps` is the rate of
    /// every link, `electric_limit_m` the longest electric cable, `include` names what totals add
    /// up, `terms` are `plan::PurchaseTerms`.
    #[new]
    #[pyo3(signature = (
        file=None, catalog=None, gbps=None, electric_limit_m=None, include=None, terms=None
    ))]
    fn new(
        file: Option<&str>,
        catalog: Option<&str>,
        gbps: Option<f64>,
        electric_limit_m: Option<f64>,
        include: Option<Vec<String>>,
        terms: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let usual = file.is_none();
        check_measures(gbps, electric_limit_m).map_err(refuse)?;
        let read = match (file, catalog) {
            (None, _) => Catalog::usual_at(gbps),
            (Some(file), Some(text)) => plan::catalog_file::read(text, file),
            (Some(file), None) => Catalog::named(file),
        };
        let catalog = read.map_err(refuse)?;
        let include = included(include).map_err(refuse)?;
        let terms = match terms {
            Some(given) => PurchaseTerms::from_value(&from_python(given)?).map_err(refuse)?,
            None => PurchaseTerms::default(),
        };
        let catalog = terms.applied(catalog).map_err(refuse)?;
        terms.included(include).check(&catalog).map_err(refuse)?;
        Ok(Self { catalog, gbps, include, electric_limit_m, terms, usual }.limited())
    }

    /// The same shop with these in place of its own, where they are given.
    #[pyo3(signature = (gbps=None, electric_limit_m=None, include=None))]
    fn also(
        &self,
        gbps: Option<f64>,
        electric_limit_m: Option<f64>,
        include: Option<Vec<String>>,
    ) -> PyResult<Self> {
        check_measures(gbps, electric_limit_m).map_err(refuse)?;
        let mut shop = self.clone();
        shop.gbps = gbps.or(shop.gbps);
        shop.electric_limit_m = electric_limit_m.or(shop.electric_limit_m);
        if include.is_some() {
            shop.include = included(include).map_err(refuse)?;
            shop.include.check(&shop.catalog).map_err(refuse)?;
        }
        Ok(shop.limited())
    }

    /// The catalogue: a dict, see `plan::Catalog`; `items` are those that it has prices of.
    fn catalog<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut all = serde_json::to_value(&self.catalog).unwrap_or_default();
        all["items"] = json!(self.catalog.items());
        to_python(py, &all)
    }

    /// Raises `RefusalError` where its rate contradicts that of the network.
    fn check_rate(&self, on: &crate::classes::Topology) -> PyResult<()> {
        on.inner.agreed_gbps(self.gbps).map(drop).map_err(refuse)
    }

    /// Prices by which members of families are ranked before they are laid out: a dict with
    /// `switch_price`, `link_price` and `endpoint_price`, see `plan::RoughPrices`.
    fn rough_prices<'py>(&self, py: Python<'py>, radix: u32) -> PyResult<Bound<'py, PyAny>> {
        let prices = self.shop().rough_prices(radix);
        let prices = json!({
            "switch_price": prices.switch, "link_price": prices.link,
            "endpoint_price": prices.endpoint,
        });
        to_python(py, &prices)
    }

    /// The names of the catalogues that come with flyloom.
    #[staticmethod]
    fn built_in() -> Vec<&'static str> {
        Catalog::built_in().collect()
    }

    /// The text of the catalogue of this name that comes with flyloom.
    #[staticmethod]
    fn text_of(name: &str) -> PyResult<&'static str> {
        Catalog::text_of(name).map_err(refuse)
    }
}

impl Shop {
    /// What `t` is bought from: of the shop as given what fits the switches of `t`; where it names
    /// no catalogue, the one that is usual for `t`.
    pub(crate) fn open(given: Option<&Self>, t: &Network) -> Result<Self, Refusal> {
        let mut shop = match given {
            Some(shop) if !shop.usual => shop.clone(),
            Some(shop) => {
                let catalog = shop.terms.applied(Catalog::usual(t, shop.gbps)?)?;
                shop.terms.included(shop.include).check(&catalog)?;
                Self { catalog, ..shop.clone() }.limited()
            }
            None => {
                let (catalog, include) = (Catalog::usual(t, None)?, IncludedBillItems::default());
                let (gbps, electric_limit_m) = (None, None);
                let terms = PurchaseTerms::default();
                Self { catalog, gbps, include, electric_limit_m, terms, usual: true }
            }
        };
        shop.catalog = shop.catalog.fitting(t, shop.gbps);
        Ok(shop)
    }

    fn limited(mut self) -> Self {
        if let Some(limit) = self.electric_limit_m {
            self.catalog = self.catalog.with_electric_limit(limit);
        }
        self
    }

    pub(crate) fn shop(&self) -> plan::PriceSource<'_> {
        self.terms.shop(&self.catalog, self.gbps, self.include)
    }
}

/// The items of these names; those of [`BillItem::USUAL`] where no names are given.
fn included(names: Option<Vec<String>>) -> Result<IncludedBillItems, Refusal> {
    let Some(names) = names else { return Ok(IncludedBillItems::default()) };
    let items = names.iter().map(|name| BillItem::named(name)).collect::<Result<Vec<_>, _>>()?;
    IncludedBillItems::of(&items)
}

pub(crate) fn rules_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<FloorRules> {
    given.map_or_else(
        || Ok(FloorRules::default()),
        |given| FloorRules::from_value(&from_python(given)?).map_err(refuse),
    )
}

/// Refuses invalid rules of a floor.
#[pyfunction]
pub fn check_floor_rules(given: &Bound<'_, PyAny>) -> PyResult<()> {
    rules_of(Some(given)).map(|_| ())
}

/// A network laid out: rules in full, where it is bought, floor and cables.
pub(crate) struct LaidOutNetwork<'a> {
    t: &'a Network,
    rules: FloorRules,
    shop: Shop,
    floor: plan::RackFloor,
    cables: Vec<PlannedCable>,
}

/// Lays `t` out, with cables in the order of laying if `in_order`, and returns what `tell` makes of
/// that. The power of a switch is that of the shop's switch where the rules do not give it.
pub(crate) fn laid<'py>(
    py: Python<'py>,
    t: &Network,
    rules: Option<&Bound<'py, PyAny>>,
    shop: Option<&Shop>,
    progress: Option<Py<PyAny>>,
    tell: fn(&LaidOutNetwork<'_>) -> Result<Value, Refusal>,
    in_order: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let shop = Shop::open(shop, t).map_err(refuse)?;
    let rules = rules_of(rules)?.with_server(shop.terms.server.as_deref()).map_err(refuse)?;
    let rules = rules.resolved(t, shop.shop()).map_err(refuse)?;
    run(py, progress, |watch| {
        let floor = plan::floor(t, &rules, watch)?;
        watch.tick("cables", 0, 1)?;
        plan::check_quotation(t, &floor, &rules, shop.shop())?;
        let list = if in_order { plan::cables } else { plan::cables_unsorted };
        let cables = list(t, &floor, &rules, shop.shop())?;
        watch.tick("cables", 1, 1)?;
        Ok(tell(&LaidOutNetwork { t, rules, shop, floor, cables })?)
    })
}

/// The bill of a network that was laid out, and the number of racks.
pub(crate) fn bill(laid: &LaidOutNetwork<'_>) -> Result<Value, Refusal> {
    let bill = plan::bill(laid.t, &laid.cables, laid.shop.shop())?;
    let mut all = serde_json::to_value(&bill).unwrap_or_default();
    all["racks"] = laid.floor.racks.len().into();
    all["warnings"] = json!(plan::warnings(laid.t, &laid.floor, &laid.rules));
    all["hints"] = json!(plan::hints(laid.t, &laid.floor, &laid.rules));
    Ok(all)
}

pub(crate) fn of_2014<'py>(py: Python<'py>, t: &Network) -> PyResult<Bound<'py, PyAny>> {
    let found = CostStudyColumn::of(t).map_err(refuse)?.reckon();
    to_python(py, &serde_json::to_value(&found).unwrap_or_default())
}

/// What the 2014 study reckons for the column `study` (a dict with `family` and its sizes): a
/// dict, see `plan::sc14::Reckoned`.
#[pyfunction]
pub fn study_of_2014<'py>(
    py: Python<'py>,
    study: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let study: CostStudyColumn = serde_json::from_value(from_python(study)?)
        .map_err(|e| refuse(Refusal::new("study", e.to_string(), "")))?;
    to_python(py, &serde_json::to_value(study.reckon()).unwrap_or_default())
}

/// The racks, seats and cables of a network that was laid out, as JSON.
pub(crate) fn document(laid: &LaidOutNetwork<'_>) -> Result<Value, Refusal> {
    let LaidOutNetwork { t, rules, shop, floor, cables } = laid;
    let mut csv = String::new();
    plan::write_csv(t, floor, cables, &mut csv)
        .map_err(|e| Refusal::new("cables", e.to_string(), ""))?;
    let mut steps = [0_u64; 4];
    let mut pairs = BTreeMap::new();
    for cable in cables {
        steps[usize::from(cable.step)] += 1;
        if cable.step == 3 {
            *pairs.entry((cable.a.seat.rack, cable.b.seat.rack)).or_insert(0_u64) += 1;
        }
    }
    let name = |rack: u32| floor.racks[rack as usize].name.as_str();
    let pairs: Vec<Value> = pairs
        .into_iter()
        .map(|((a, b), n)| json!({ "a": name(a), "b": name(b), "cables": n }))
        .collect();
    let classes = plan::by_length(cables);
    Ok(json!({
        "racks": floor.racks, "switches": floor.switches, "endpoints": floor.endpoints,
        "cables": cables.len(), "cables_csv": csv, "by_step": steps, "rack_pairs": pairs,
        "classes": classes,
        "cost_usd": plan::millionths(classes.iter().map(|c| c.cost_usd).sum()),
        "length_m": plan::sum_m(classes.iter().map(|c| c.total_m)),
        "rules": rules, "catalog": shop.catalog.name,
        "warnings": plan::warnings(t, floor, rules), "hints": plan::hints(t, floor, rules),
    }))
}
