//! Which member of a family a network is, for Python.

use crate::enter::{enter, interrupted, to_python};
use crate::topology::Topology;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The `top` members of families that are nearest to a network, by its cables alone: a list of
/// dicts, see `design::identify::IdentifiedMember`.
#[pyfunction]
#[pyo3(signature = (network, top=3, progress=None))]
pub fn identify<'py>(
    py: Python<'py>,
    network: &Topology,
    top: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let on = &network.inner;
    let found = enter(py, progress, |watch| design::identify::identify(on, top, watch))?;
    let found = found.map_err(|_| interrupted())?;
    let value = serde_json::to_value(&found).map_err(|e| PyValueError::new_err(e.to_string()))?;
    to_python(py, &value)
}
