//! What a routing engine is: its options, what it promises, how it routes.

use crate::lanes::Usual;
use base::{Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

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

    /// What may name files of the user, in experiments: their content travels with a point.
    const FILES: &'static [&'static str] = &[];

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
