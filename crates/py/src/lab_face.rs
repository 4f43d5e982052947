//! Experiment files and the tables of families and engines.

use crate::classes::Topology;
use crate::enter::{enter, from_python, object, refuse, stopped, to_python};
use crate::plugins::plugins;
use base::RecordJson;
use base::{ProgressWatch, Refusal, ResourceNeed};
use engines::ask;
use fabric::size::RouteWorkKind;
use lab::kinds::KINDS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Parses an experiment's TOML text: a dict of `experiment`, `points` (dicts), `swept` (what sweeps
/// have given each of them, in words) and `effective` (TOML text). `parts` are rows of the registry
/// for what is known besides what is built in.
///
/// Raises `RefusalError` naming `file` and the place at fault.
#[pyfunction]
#[pyo3(signature = (text, file, parts=None))]
pub fn expand<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    parts: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let expanded = lab::expand(text, file, &plugins(parts)?).map_err(refuse)?;
    let bad = |e: serde_json::Error| PyValueError::new_err(e.to_string());
    let experiment = serde_json::to_value(&expanded.experiment).map_err(bad)?;
    let points = serde_json::to_value(&expanded.points).map_err(bad)?;
    to_python(
        py,
        &json!({
            "experiment": experiment, "points": points, "swept": expanded.swept,
            "swept_keys": expanded.swept_keys, "notes": expanded.notes,
            "effective": lab::spec::effective(&expanded.experiment, &expanded.points),
        }),
    )
}

/// `file` with line and column of the key of an experiment's TOML text that `param` names
/// (`sim.flit: load`), and `param` after it; without them where the text has no such key.
#[pyfunction]
pub fn experiment_place(text: &str, file: &str, param: &str) -> String {
    lab::placed(Refusal::new(format!("{file}: {param}"), "", ""), text, file).param
}

/// Raises `RefusalError` where `given` (a dict) is no table `[choose]`: unknown keys, types.
#[pyfunction]
pub fn check_choice(given: &Bound<'_, PyAny>) -> PyResult<()> {
    lab::need::network_choice(&from_python(given)?).map(drop).map_err(refuse)
}

/// The files that an experiment's TOML text names as `plugins`. Raises `RefusalError` as `expand`.
#[pyfunction]
pub fn experiment_plugins(text: &str, file: &str) -> PyResult<Vec<String>> {
    Ok(lab::expand::parse(text, file).map_err(refuse)?.plugins)
}

/// Bytes that a point takes at most, on one thread: `family` with these parameters (a dict) built,
/// routed by `engine` with `layers` layers, and proved, where there is one, and what the tables of
/// `simulated` (a dict by level) take. Raises `RefusalError`.
#[pyfunction]
pub fn point_bytes(
    family: &str,
    params: &Bound<'_, PyAny>,
    engine: Option<&str>,
    layers: u32,
    simulated: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    Ok(point_need(family, params, engine, layers, simulated)?.0)
}

/// Bytes as of `point_bytes`, and about how many seconds the point takes on one processor. Raises
/// `RefusalError`.
#[pyfunction]
pub fn point_need(
    family: &str,
    params: &Bound<'_, PyAny>,
    engine: Option<&str>,
    layers: u32,
    simulated: &Bound<'_, PyAny>,
) -> PyResult<(f64, f64)> {
    let params = object(from_python(params)?);
    let promise = families::family(family).and_then(|f| f.promise(&params)).map_err(refuse)?;
    let size = promise.size(1);
    let mut needs = vec![size.build()];
    if let Some(engine) = engine {
        needs.push(engines::work::need(&size, None, engine, layers));
        needs.push(size.along_any(layers, RouteWorkKind::Proof));
    }
    for (level, given) in object(from_python(simulated)?) {
        needs.push(lab::stages::simulated(&level, &object(given), &size).map_err(refuse)?);
    }
    let sum = |of: fn(&ResourceNeed) -> f64| needs.iter().map(of).sum::<f64>();
    Ok((sum(|need| need.bytes), sum(|need| need.seconds)))
}

/// Checks that a simulator can run on a network with these parameters, but for its traffic: its
/// lanes, and that its paths are free of deadlock. Raises `RefusalError`.
#[pyfunction]
#[pyo3(signature = (on, level, given, progress=None))]
pub fn simulation_fits(
    py: Python<'_>,
    on: &Topology,
    level: &str,
    given: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let given = object(from_python(given)?);
    let work = |watch: &dyn ProgressWatch| lab::fits::simulation(level, &given, &on.inner, watch);
    enter(py, progress, work)?.map_err(stopped)
}

/// The record of a simulator `level` of several of its `records` (dicts), of runs that differ in
/// their seeds: means, and their spread in `over_seeds`. Raises `RefusalError` where there is no
/// such simulator.
#[pyfunction]
pub fn over_seeds<'py>(
    py: Python<'py>,
    level: &str,
    records: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let simulator = lab::stages::simulator(level).map_err(refuse)?;
    let read = |one: &Bound<'py, PyAny>| Ok(RecordJson(object(from_python(one)?)));
    let runs = records.iter().map(read).collect::<PyResult<Vec<_>>>()?;
    if runs.is_empty() {
        return Err(PyValueError::new_err("no records"));
    }
    to_python(py, &Value::Object(lab::over_seeds::together(runs, simulator.columns).0))
}

/// Checks that a network has the traffic of this name, as `seed` draws it. Raises `RefusalError`.
#[pyfunction]
#[pyo3(signature = (on, traffic, seed, progress=None))]
pub fn traffic_fits(
    py: Python<'_>,
    on: &Topology,
    traffic: &str,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let work = |watch: &dyn ProgressWatch| lab::fits::traffic(traffic, &on.inner, seed, watch);
    enter(py, progress, work)?.map_err(stopped)
}

/// The names of OpenSM's own engines, as it has them.
#[pyfunction]
pub fn opensm_engines() -> Vec<&'static str> {
    ask::OPENSM.to_vec()
}

/// Checks what is asked of routing without a network: `lmc` and `layers`, and of an engine that is
/// built in its name and `options` (a dict). The number of routes to a terminal. Raises
/// `RefusalError`.
#[pyfunction]
pub fn routes_asked(
    engine: Option<&str>,
    lmc: Option<u8>,
    layers: Option<u32>,
    options: &Bound<'_, PyAny>,
) -> PyResult<u32> {
    let options = object(from_python(options)?);
    match engine {
        Some(name) => ask::check(name, lmc, layers, &options).map_err(refuse),
        None => ask::routes(lmc, layers).map_err(refuse),
    }
}

/// Every family and engine: a list of `{kind, name, doc, params}`.
#[pyfunction]
pub fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::registry::registry())
}

/// Every simulator, in rows as those of measures: `kind` is `simulator`, `input` `either`.
#[pyfunction]
pub fn simulators(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::registry::simulators().into())
}

/// Parameters, and pairs of an old word of one and the new one.
type RenamedWords<'py> = (Bound<'py, PyAny>, Vec<(String, String)>);

/// Parameters of a simulator in the words of this version, and what had other ones: pairs of the
/// old word and the new one. Raises `RefusalError` where one is given by both.
#[pyfunction]
pub fn renewed<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<RenamedWords<'py>> {
    let given = object(from_python(given)?);
    let (new, notes) = lab::stages::stage(name).and_then(|e| e.renewed(&given)).map_err(refuse)?;
    let notes = notes.into_iter().map(|note| (note.old, note.new)).collect();
    Ok((to_python(py, &Value::Object(new))?, notes))
}

/// What is done with mappings, in rows as those of measures: `kind` is `mapping`.
#[pyfunction]
pub fn mappings(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::registry::mappings().into())
}

/// Every kind of part: the word that lists it, what one of it is called, and what they are.
#[pyfunction]
pub fn kinds() -> Vec<(&'static str, &'static str, &'static str)> {
    KINDS.iter().map(|kind| (kind.word, kind.one, kind.about)).collect()
}

/// The parts of the kind that `word` lists: rows with `kind`, `name`, `doc`, and `params` or
/// `takes`.
#[pyfunction]
pub fn parts<'py>(py: Python<'py>, word: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = KINDS.iter().find(|kind| kind.word == word);
    let words = || KINDS.iter().map(|kind| kind.word).collect::<Vec<_>>().join(", ");
    let kind = found
        .ok_or_else(|| refuse(Refusal::new("kind", format!("there is no '{word}'"), words())))?;
    to_python(py, &kind.rows().into())
}

/// The JSON schema of the experiment file.
#[pyfunction]
pub fn experiment_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &lab::spec::schema())
}
