//! The classes that Python holds, apart from their methods, which give objects of one another.
//!
//! Whoever holds an object can call its methods: the build script lets this file stand on the files
//! that have them.

use crate::enter::{afford, afford_later, enter_alone, refuse, stopped};
use base::{ComputationError, ResourceNeed};
use fabric::addresses::PortAddresses;
use fabric::network::{NetworkRecipe, Topology as Network};
use fabric::size::NetworkSize;
use pyo3::prelude::*;
use std::sync::Arc;
use traffic::demand::TrafficDemand;
use traffic::sending::OfferedTraffic;
use traffic::workload::Schedule;

/// An immutable network of switches, links and endpoints.
#[pyclass(frozen, module = "flyloom")]
pub struct Topology {
    pub inner: Arc<Network>,
}

impl Topology {
    /// Refuses work on this network that the machine cannot do: see [`afford`].
    pub fn afford(
        &self,
        py: Python<'_>,
        what: &str,
        need: impl FnOnce(&NetworkSize) -> ResourceNeed,
    ) -> PyResult<()> {
        affordable(py, &self.inner, what, need)
    }

    /// The network of `recipe`, if there is memory for it.
    pub fn built(py: Python<'_>, recipe: &NetworkRecipe) -> PyResult<Self> {
        let entry = families::family(&recipe.family).map_err(refuse)?;
        let promise = entry.promise(&recipe.params).map_err(refuse)?;
        afford_later(py, recipe)?;
        afford(py, &format!("building {recipe}"), |n| promise.size(n).build())?;
        let params = recipe.params.clone();
        let inner = enter_alone(py, move || entry.build(&params))?.map_err(refuse)?;
        Ok(Self { inner: Arc::new(inner) })
    }
}

/// As [`Topology::afford`], for the network `t`.
pub fn affordable(
    py: Python<'_>,
    t: &Network,
    what: &str,
    need: impl FnOnce(&NetworkSize) -> ResourceNeed,
) -> PyResult<()> {
    let named = format!("{what} {}", t.recipe());
    afford(py, &named, |threads| need(&NetworkSize::of(t, threads)))
}

/// Immutable forwarding tables of a network: routes per destination and layer, and their lanes.
#[pyclass(frozen, module = "flyloom")]
pub struct Routing {
    pub inner: fabric::tables::Routing,
    /// Addresses the tables were read with; `None` for tables of ours, whose addresses are made.
    pub addresses: Option<PortAddresses>,
}

impl Routing {
    /// The tables that an engine has laid, or why it has not.
    pub fn from_result(
        routed: Result<fabric::tables::Routing, ComputationError>,
    ) -> PyResult<Self> {
        routed.map(|inner| Self { inner, addresses: None }).map_err(stopped)
    }
}

/// What endpoints want to send to one another on a network.
#[pyclass(frozen, module = "flyloom")]
pub struct Traffic {
    pub on: Py<Topology>,
    pub inner: TrafficDemand,
    pub sending: OfferedTraffic,
    /// Whether a matching is known to be the longest; None for other traffic.
    #[pyo3(get)]
    pub exact_matching: Option<bool>,
}

impl Traffic {
    /// The flows: which endpoints send how much to which.
    pub fn sending(&self) -> &OfferedTraffic {
        &self.sending
    }
}

/// What processes do: a schedule of sends, receives and calculations.
#[pyclass(frozen, module = "flyloom._core")]
pub struct Workload {
    pub inner: Schedule,
}
