//! Routing engines: what each needs, what each returns, and the table of all of them.
//!
//! A new engine is one new file beside this one: a struct of options that implements [`Engine`].
//! `cargo xtask gen` adds its row to [`ENGINES`]; the conformance tests then run on it.

use base::{Refusal, Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use lanes::{Choice, Usual};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub mod ask;
mod chosen;
mod forest;
pub mod given;
pub mod lanes;
mod rehang;
pub mod repair;
pub mod trees;
pub mod work;

// gen:begin
pub mod application;
pub mod dfsssp;
pub mod dor;
pub mod ecmp;
pub mod fatpaths;
pub mod ftree;
pub mod lash;
pub mod layered;
pub mod min_hop;
pub mod nue;
pub mod rues;
pub mod sssp;
pub mod up_down;
pub mod valiant_static;

/// Every `Engine` of this folder, by file and name; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static ENGINES: &[Entry] = &[
    Entry::of::<application::Application>(),
    Entry::of::<dfsssp::Dfsssp>(),
    Entry::of::<dor::Dor>(),
    Entry::of::<ecmp::Ecmp>(),
    Entry::of::<fatpaths::FatPaths>(),
    Entry::of::<ftree::Ftree>(),
    Entry::of::<lash::Lash>(),
    Entry::of::<layered::Layered>(),
    Entry::of::<min_hop::MinHop>(),
    Entry::of::<nue::Nue>(),
    Entry::of::<rues::Rues>(),
    Entry::of::<sssp::Sssp>(),
    Entry::of::<up_down::UpDown>(),
    Entry::of::<valiant_static::ValiantStatic>(),
];
// gen:end

/// What holds of all tables of an engine, whatever the network; what it cannot keep it refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Promise {
    /// Every route is a shortest one, in every layer.
    pub minimal: bool,
    /// No packets can wait for one another in a circle.
    pub deadlock_free: bool,
}

/// A routing algorithm; its value holds the options of one run.
pub trait Engine: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;

    /// What holds of all tables that it returns.
    const PROMISE: Promise;

    /// Whether it lays the tables row by row, those that terminals of a switch share once, and so
    /// needs no memory for a whole row for each terminal.
    const BY_ROWS: bool = false;

    /// The lanes that its routes get where nobody names a method. What it returns has none where
    /// lanes are no part of the algorithm.
    const LANES: Usual = Usual::One;

    /// Option sets that the conformance tests run.
    fn examples() -> Vec<Self>;

    /// Tables for `on` with `layers` routes to every terminal (1 to 128: one an LID offset).
    ///
    /// # Errors
    /// [`Stop::Refused`] when the engine cannot route the network, with the reason.
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop>;
}

type Options = Map<String, Value>;
type RouteFn = fn(Options, &Arc<Topology>, u32, &dyn Watch) -> Result<Routing, Stop>;

/// One row of the table of engines.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What holds of all its tables.
    pub promise: Promise,
    /// The lanes that its routes get where nobody names a method.
    pub lanes: Usual,
    by_rows: bool,
    schema: fn() -> Value,
    examples: fn() -> Vec<Map<String, Value>>,
    draws: fn() -> bool,
    check: fn(Options) -> Result<(), Refusal>,
    route: RouteFn,
}

impl Entry {
    /// The row of engine `E`.
    pub const fn of<E: Engine>() -> Self {
        Self {
            name: E::NAME,
            promise: E::PROMISE,
            lanes: E::LANES,
            by_rows: E::BY_ROWS,
            schema: || schemars::schema_for!(E).to_value(),
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

    /// Whether the tables it lays, and the memory it needs for them, are those rows that terminals
    /// of a switch share.
    pub fn is_by_rows(&self) -> bool {
        self.by_rows
    }

    /// The JSON schema of the options that it has besides those of lanes, which all engines take
    /// ([`lanes::schema`]), with their documentation.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Option sets that cover its kinds, on as many lanes as there are.
    pub fn examples(&self) -> Vec<Map<String, Value>> {
        let mut all = (self.examples)();
        if self.lanes == Usual::Online {
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
        (self.check)(given.clone()).map_err(|r| r.within(self.name))
    }

    /// What options say of lanes.
    ///
    /// # Errors
    /// When what they say cannot be.
    pub fn choice(&self, given: &Map<String, Value>) -> Result<Choice, Refusal> {
        let keys = ["lanes", "max_lanes", "balance", "seed"];
        let own = |key: &str| given.get(key).map(|value| (key.to_owned(), value.clone()));
        let mut options = keys.into_iter().filter_map(own).collect();
        Choice::take(&mut options, (self.draws)()).map_err(|r| r.within(self.name))
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
        watch: &dyn Watch,
    ) -> Result<Routing, Stop> {
        check_routable(on, layers, self.by_rows)?;
        (self.route)(given.clone(), on, layers, watch).map_err(|stop| stop.within(self.name))
    }
}

/// Whether an engine has a seed of its own.
fn draws<E: Engine>() -> bool {
    schemars::schema_for!(E).to_value().pointer("/properties/seed").is_some()
}

/// The engine that the options describe, and what they say of lanes.
fn parse<E: Engine>(mut given: Map<String, Value>) -> Result<(E, Choice), Refusal> {
    let choice = Choice::take(&mut given, draws::<E>())?;
    if E::LANES == Usual::Own {
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

/// The row of the engine called `name`.
///
/// # Errors
/// When there is none; the refusal lists those that exist.
pub fn engine(name: &str) -> Result<&'static Entry, Refusal> {
    ENGINES.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = ENGINES.iter().map(|e| e.name).collect();
        let why = format!("there is no engine '{name}'");
        let near = base::words::did_you_mean(name, names.iter().copied());
        Refusal::new("engine", why, format!("{near}engines: {}", names.join(", ")))
    })
}

/// The most table entries (switches * terminals * layers) that are computed at once.
const MAX_ENTRIES: u64 = 1 << 31;

/// What every engine needs: a size that fits, and working switches connected within each plane.
fn check_routable(on: &Topology, layers: u32, by_rows: bool) -> Result<(), Refusal> {
    if !(1..=128).contains(&layers) {
        let why = format!("{layers} routes a terminal");
        return Err(Refusal::new("layers", why, "1 to 128 (LMC 0 to 7)"));
    }
    let (switches, terminals) = (on.switches().len() as u64, on.terminals().len() as u64);
    let whole = switches * (terminals * u64::from(layers) + switches);
    let entries = if by_rows { rows_entries(on, layers) as u64 } else { whole };
    if entries > MAX_ENTRIES {
        let why = format!("the tables would have {entries} entries");
        return Err(Refusal::new(
            "",
            why,
            format!("at most {MAX_ENTRIES}: fewer endpoints or layers"),
        ));
    }
    check_connected(on)
}

/// About the entries that tables have where terminals of a switch share their rows, those between
/// switches included.
pub(crate) fn rows_entries(on: &Topology, layers: u32) -> f64 {
    let (switches, edge) = (on.switches().len() as f64, on.edge_switches().len() as f64);
    let own = on.terminals().len() as f64 * (1.0 + forest::open_share(on) * switches);
    f64::from(layers) * (switches * edge + own) + switches * switches
}

/// Refuses a network in which two working switches of one plane cannot reach each other.
///
/// # Errors
/// Names one switch of each part.
pub fn check_connected(on: &Topology) -> Result<(), Refusal> {
    let (component, _) = on.graph().components();
    let mut first_of_plane: Vec<Option<usize>> = vec![None; usize::from(on.planes())];
    for (s, switch) in on.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let first = *first_of_plane[usize::from(switch.plane)].get_or_insert(s);
        if component[first] != component[s] {
            let (a, b) = (&on.switches()[first].name, &switch.name);
            let why = format!("the network is disconnected: no way from switch {a} to switch {b}");
            return Err(Refusal::new("", why, "connect them, or remove the part that is cut off"));
        }
    }
    Ok(())
}
