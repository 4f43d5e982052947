//! What a routing engine is: its options, what it promises, how it routes.

use crate::lanes::DefaultLaneMethod;
use base::{ComputationError, ProgressWatch};
use fabric::Topology;
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The properties that an engine promises for all its tables, on any network. The engine refuses a
/// network on which it cannot keep the promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EnginePromise {
    /// Every route of every layer is a shortest one.
    pub minimal: bool,
    /// The routes cannot deadlock: channel dependencies have no cycle on any lane.
    pub deadlock_free: bool,
}

/// A routing algorithm; its value holds the options of one run.
pub trait Engine: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;

    /// Options that may name files of the user. In an experiment, these files go with a point to
    /// the machine that runs it.
    const FILES: &'static [&'static str] = &[];

    /// What the engine guarantees for all tables that it returns.
    const PROMISE: EnginePromise;

    /// Whether the engine stores table rows that the terminals of a switch share only once. It then
    /// needs no memory for a whole row for each terminal.
    const BY_ROWS: bool = false;

    /// The virtual lanes of its routes where the user names no method. For engines whose algorithm
    /// assigns no lanes, [`EngineEntry::route`](crate::EngineEntry::route) adds them.
    const LANES: DefaultLaneMethod = DefaultLaneMethod::One;

    /// The option sets that the conformance tests run.
    fn examples() -> Vec<Self>;

    /// Computes tables for the network `on` with `layers` routes to every terminal, 1 to 128: one
    /// per LID offset.
    ///
    /// # Errors
    /// [`ComputationError::Refused`] when the engine cannot route the network, with the reason.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError>;
}
