//! Parts that users write in Python: their parameters, and the tables that their engines give.

use crate::classes::{Routing, Topology};
use crate::enter::{enter, from_python, object, refuse, to_python};
use base::{ComputationError, ProgressWatch, Refusal};
use engines::given::{NextHopEntryMeaning, UserGivenPath, from_hops, from_paths};
use lab::plugins::PluginDescription;
use numpy::{PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde_json::json;

/// The parts of a list of rows as `registry()` has them; none where it is `None`.
pub fn plugins(rows: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PluginDescription>> {
    let Some(rows) = rows else { return Ok(Vec::new()) };
    serde_json::from_value(from_python(rows)?)
        .map_err(|e| refuse(Refusal::new("plug-in", e.to_string(), "a row of the registry")))
}

/// All parameters of a part, `row` as `registry()` has it: those `given` and the defaults of the
/// others. Raises `RefusalError`.
#[pyfunction]
pub fn plugin_parameters<'py>(
    py: Python<'py>,
    row: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let bad = |e: serde_json::Error| refuse(Refusal::new("plug-in", e.to_string(), ""));
    let part: PluginDescription = serde_json::from_value(from_python(row)?).map_err(bad)?;
    let all = part.complete(&object(from_python(given)?)).map_err(refuse)?;
    to_python(py, &all.into())
}

/// The family and the parameters, a dict, of the inline form `family:key=value,...`. Raises
/// `RefusalError`.
#[pyfunction]
pub fn parse_inline<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let recipe = fabric::network::parse_inline(text).map_err(refuse)?;
    to_python(py, &json!([recipe.family, recipe.params]))
}

/// The whole number that digits with a unit or an exponent are, such as `64KiB`, or None.
#[pyfunction]
pub fn whole_amount(text: &str) -> Option<i64> {
    base::amount::whole_amount(text)
}

/// What `word` was probably meant to be, as a question: `did you mean NAME? `; empty where none of
/// `names` is near.
#[pyfunction]
pub fn did_you_mean(word: &str, names: Vec<String>) -> String {
    base::words::did_you_mean(word, names.iter().map(String::as_str))
}

/// The first table of the parameters with this schema (a dict) that has the key `field`, or None.
#[pyfunction]
pub fn table_with(schema: &Bound<'_, PyAny>, field: &str) -> PyResult<Option<String>> {
    Ok(base::taken::table_with(&from_python(schema)?, field).map(str::to_owned))
}

/// The one of `names` that `word` was probably meant to be, or None.
#[pyfunction]
pub fn meant(word: &str, names: Vec<String>) -> Option<String> {
    base::words::meant(word, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The tables that `work` makes for `on`, known as the work of `engine`; refusals name it.
fn made<W>(
    py: Python<'_>,
    on: &Topology,
    engine: &str,
    options: &Bound<'_, PyAny>,
    layers: u32,
    work: W,
) -> PyResult<Routing>
where
    W: FnOnce(&dyn ProgressWatch) -> Result<fabric::tables::Routing, ComputationError> + Send,
{
    on.afford(py, "routing", |size| size.tables(layers.min(128)))?;
    let options = object(from_python(options)?);
    let routed = enter(py, None, work)?.map_err(|stop| stop.within(engine));
    Routing::from_result(routed.map(|routing| routing.named(engine, options)))
}

/// The tables of `next`, an array [layer, switch, terminal] of next switches, or of `ports`,
/// as the work of `engine` with `options`. Raises `RefusalError`: see `engines::given`.
#[pyfunction]
pub fn tables_of_hops(
    py: Python<'_>,
    on: PyRef<'_, Topology>,
    engine: &str,
    options: &Bound<'_, PyAny>,
    next: PyReadonlyArray3<'_, i64>,
    ports: bool,
) -> PyResult<Routing> {
    let layers = next.shape()[0] as u32;
    let next: Vec<i64> = next.as_array().iter().copied().collect();
    let hops = if ports { NextHopEntryMeaning::Ports } else { NextHopEntryMeaning::Switches };
    let inner = on.inner.clone();
    made(py, &on, engine, options, layers, |watch| from_hops(&inner, layers, hops, &next, watch))
}

/// The tables of `paths`, each its layer, its terminal (None: all of the last switch) and its
/// switches, as the work of `engine` with `options`. Raises `RefusalError`: see `engines::given`.
#[pyfunction]
pub fn tables_of_paths(
    py: Python<'_>,
    on: PyRef<'_, Topology>,
    engine: &str,
    options: &Bound<'_, PyAny>,
    paths: Vec<(u32, Option<u32>, Vec<u32>)>,
    layers: u32,
) -> PyResult<Routing> {
    let path = |(layer, to, switches)| UserGivenPath { layer, to, switches };
    let paths: Vec<UserGivenPath> = paths.into_iter().map(path).collect();
    let inner = on.inner.clone();
    made(py, &on, engine, options, layers, |watch| from_paths(&inner, layers, &paths, watch))
}
