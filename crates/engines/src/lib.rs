//! Routing engines: what each needs, what each returns, and the table of all of them.
//!
//! A new engine is one new file beside this one: a struct of options that implements [`Engine`].
//! `cargo xtask gen` adds its row to [`ENGINES`]; the conformance tests then run on it.

use base::{Refusal, Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;

mod forest;
pub mod lanes;
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

    /// Option sets that the conformance tests run.
    fn examples() -> Vec<Self>;

    /// Tables for `on` with `layers` routes to every terminal (1 to 128: one an LID offset).
    ///
    /// # Errors
    /// [`Stop::Refused`] when the engine cannot route the network, with the reason.
    fn route(&self, on: &Arc<Topology>, layers: u32, watch: &dyn Watch) -> Result<Routing, Stop>;
}

type RouteFn = fn(Value, &Arc<Topology>, u32, &dyn Watch) -> Result<Routing, Stop>;

/// One row of the table of engines.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What holds of all its tables.
    pub promise: Promise,
    by_rows: bool,
    schema: fn() -> Value,
    examples: fn() -> Vec<Map<String, Value>>,
    check: fn(Value) -> Result<(), Refusal>,
    route: RouteFn,
}

impl Entry {
    /// The row of engine `E`.
    pub const fn of<E: Engine>() -> Self {
        Self {
            name: E::NAME,
            promise: E::PROMISE,
            by_rows: E::BY_ROWS,
            schema: || schemars::schema_for!(E).to_value(),
            examples: || E::examples().iter().map(options).collect(),
            check: |given| parse::<E>(&given).map(|_| ()),
            route: |given, on, layers, watch| {
                let engine = parse::<E>(&given)?;
                let routing = engine.route(on, layers, watch)?;
                Ok(routing.named(E::NAME, options(&engine)))
            },
        }
    }

    /// Whether the tables it lays, and the memory it needs for them, are those rows that terminals
    /// of a switch share.
    pub fn is_by_rows(&self) -> bool {
        self.by_rows
    }

    /// The JSON schema of its options, with their documentation.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Option sets that cover its kinds.
    pub fn examples(&self) -> Vec<Map<String, Value>> {
        (self.examples)()
    }

    /// Checks names and types of options without routing anything.
    ///
    /// # Errors
    /// When an option is unknown or of the wrong type.
    pub fn check(&self, given: &Map<String, Value>) -> Result<(), Refusal> {
        (self.check)(Value::Object(given.clone())).map_err(|r| r.within(self.name))
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
        (self.route)(Value::Object(given.clone()), on, layers, watch).map_err(|e| match e {
            Stop::Refused(r) => Stop::Refused(r.within(self.name)),
            stopped @ Stop::Interrupted(_) => stopped,
        })
    }
}

fn parse<E: Engine>(given: &Value) -> Result<E, Refusal> {
    base::fields::typed(given)
        .map_err(|(field, why)| Refusal::new(field, why, "see `flyloom list engines`"))
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
        Refusal::new("engine", why, format!("engines: {}", names.join(", ")))
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
