//! What Python holds: a network, and its tables.

use crate::enter::afford;
use base::Need;
use fabric::addresses::Addresses;
use fabric::network::Topology as Network;
use fabric::size::Size;
use pyo3::prelude::*;
use std::sync::Arc;

/// An immutable network of switches, links and endpoints.
#[pyclass(frozen, module = "flyloom")]
pub struct Topology {
    pub inner: Arc<Network>,
}

/// As [`Topology::afford`], for the network `t`.
pub fn affordable(
    py: Python<'_>,
    t: &Network,
    what: &str,
    need: impl FnOnce(&Size) -> Need,
) -> PyResult<()> {
    let named = format!("{what} {}", t.recipe());
    afford(py, &named, |threads| need(&Size::of(t, threads)))
}

/// Immutable forwarding tables of a network: routes per destination and layer, and their lanes.
#[pyclass(frozen, module = "flyloom")]
pub struct Routing {
    pub inner: fabric::tables::Routing,
    /// Addresses the tables were read with; `None` for tables of ours, whose addresses are made.
    pub addresses: Option<Addresses>,
}

/// A network, and its tables where these are given.
type Driven = (Option<Arc<fabric::Topology>>, Option<fabric::tables::Routing>);

/// The network and the tables that Python gave, if any.
pub fn driven(on: Option<&Bound<'_, PyAny>>) -> PyResult<Driven> {
    let routing = on.and_then(|on| on.cast::<Routing>().ok());
    let routing = routing.map(|tables| tables.get().inner.clone());
    let topology = match (&routing, on) {
        (Some(routing), _) => Some(routing.topology().clone()),
        (None, Some(on)) => Some(on.cast::<Topology>()?.get().inner.clone()),
        (None, None) => None,
    };
    Ok((topology, routing))
}
