//! Experiment files and the tables of families and engines.

use crate::enter::{refuse, to_python};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

/// Parses an experiment's TOML text: a dict of `experiment`, `points` (dicts) and `effective` (TOML
/// text).
///
/// Raises `RefusalError` naming `file` and the place at fault.
#[pyfunction]
pub fn expand<'py>(py: Python<'py>, text: &str, file: &str) -> PyResult<Bound<'py, PyAny>> {
    let expanded = lab::expand(text, file).map_err(refuse)?;
    let bad = |e: serde_json::Error| PyValueError::new_err(e.to_string());
    let experiment = serde_json::to_value(&expanded.experiment).map_err(bad)?;
    let points = serde_json::to_value(&expanded.points).map_err(bad)?;
    to_python(
        py,
        &json!({
            "experiment": experiment, "points": points,
            "effective": lab::spec::effective(&expanded.experiment, &expanded.points),
        }),
    )
}

/// Every family and engine: a list of `{kind, name, doc, params}`.
#[pyfunction]
pub fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::registry::registry())
}

/// The JSON schema of the experiment file.
#[pyfunction]
pub fn experiment_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::spec::schema())
}
