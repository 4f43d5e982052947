//! A row of the table of engines: the functions of one engine behind one type.

use crate::engine::{Engine, EnginePromise};
use crate::lanes::{DefaultLaneMethod, LaneMethodParameters};
use crate::routable::check_routable;
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, Refusal};
use fabric::Topology;
use fabric::tables::Routing;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The options of one engine, by name.
type EngineOptions = Map<String, Value>;
/// A function that computes tables with one engine.
type RouteFn =
    fn(EngineOptions, &Arc<Topology>, u32, &dyn ProgressWatch) -> Result<Routing, ComputationError>;

/// A row of the table of engines: one engine with its functions.
pub struct EngineEntry {
    /// The engine's name, description and own options. The options about lanes, which all engines
    /// take, are in [`lanes::schema`](crate::lanes::schema).
    pub part: PartDescription,
    /// What the engine guarantees for all its tables.
    pub promise: EnginePromise,
    /// The virtual lanes of its routes where the user names no method.
    pub lanes: DefaultLaneMethod,
    by_rows: bool,
    examples: fn() -> Vec<Map<String, Value>>,
    draws: fn() -> bool,
    check: fn(EngineOptions) -> Result<(), Refusal>,
    route: RouteFn,
}

impl EngineEntry {
    /// The row of engine `E`.
    pub const fn of<E: Engine>() -> Self {
        Self {
            part: PartDescription::of::<E>(E::NAME).reads(E::FILES),
            promise: E::PROMISE,
            lanes: E::LANES,
            by_rows: E::BY_ROWS,
            examples: || E::examples().iter().map(options).collect(),
            draws: draws::<E>,
            check: |given| parse::<E>(given).map(|_| ()),
            route: |given, on, layers, watch| {
                let (engine, lanes) = parse::<E>(given)?;
                let routing = engine.route(on, layers, watch)?;
                let routing = lanes.give(routing, E::LANES, watch)?;
                let mut given = options(&engine);
                given.insert("lanes".to_owned(), json!(lanes));
                Ok(routing.named(E::NAME, given))
            },
        }
    }

    /// Whether its tables, and the memory for them, consist of rows that the terminals of a switch
    /// share.
    pub fn is_by_rows(&self) -> bool {
        self.by_rows
    }

    /// Option sets that cover every kind of use. An engine whose lanes are assigned path by path
    /// gets all 15 lanes, so that no example is refused for too few.
    pub fn examples(&self) -> Vec<Map<String, Value>> {
        let mut all = (self.examples)();
        if self.lanes == DefaultLaneMethod::Online {
            for options in &mut all {
                options.insert("max_lanes".to_owned(), 15.into());
            }
        }
        all
    }

    /// Checks names and types of options without routing anything.
    ///
    /// # Errors
    /// When an option is unknown or of the wrong type.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), Refusal> {
        (self.check)(given.clone()).map_err(|r| r.within(self.part.name))
    }

    /// The user's choice of lanes, from the options.
    ///
    /// # Errors
    /// When the options about lanes contradict each other or are out of range.
    pub fn choice(&self, given: &Map<String, Value>) -> Result<LaneMethodParameters, Refusal> {
        let keys = ["lanes", "max_lanes", "balance", "seed"];
        let own = |key: &str| given.get(key).map(|value| (key.to_owned(), value.clone()));
        let mut options = keys.into_iter().filter_map(own).collect();
        LaneMethodParameters::take(&mut options, (self.draws)())
            .map_err(|r| r.within(self.part.name))
    }

    /// Routes `on` with `layers` routes a terminal.
    ///
    /// # Errors
    /// When an option is unknown or of the wrong type, `layers` is not 1 to 128, the network is not
    /// connected, or the engine cannot route it.
    pub fn route(
        &self,
        given: &Map<String, Value>,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        check_routable(on, layers, self.by_rows)?;
        (self.route)(given.clone(), on, layers, watch).map_err(|stop| stop.within(self.part.name))
    }
}

/// Whether the engine has an option `seed` of its own, so that it draws random numbers.
fn draws<E: Engine>() -> bool {
    schemars::schema_for!(E).to_value().pointer("/properties/seed").is_some()
}

/// The engine that the options describe, and the choice of lanes in them.
fn parse<E: Engine>(mut given: Map<String, Value>) -> Result<(E, LaneMethodParameters), Refusal> {
    let choice = LaneMethodParameters::take(&mut given, draws::<E>())?;
    if E::LANES == DefaultLaneMethod::Own {
        given.insert("max_lanes".to_owned(), choice.max_lanes().into());
    }
    let engine = base::fields::typed(&Value::Object(given)).map_err(|(field, why)| {
        let known = "every engine takes lanes, max_lanes, balance and lmc or layers";
        let own = base::taken::taken::<E>(E::NAME, &field);
        let unknown = why.strip_prefix("unknown field `").and_then(|w| w.split('`').next());
        let shared = ["lanes", "max_lanes", "balance", "lmc", "layers"];
        let near = unknown.map(|word| base::words::did_you_mean(word, shared)).unwrap_or_default();
        let help = format!("{near}{own}; {known}");
        Refusal::new(field, why, help)
    })?;
    Ok((engine, choice))
}

fn options<E: Engine>(engine: &E) -> Map<String, Value> {
    match serde_json::to_value(engine) {
        Ok(Value::Object(given)) => given.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    }
}
