//! Simulators for Python: a network or tables, parameters and loads in, points out.

use crate::classes::{Routing, Topology, Traffic};
use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use crate::stage::injections;
use base::stage::parameters;
use base::{ComputationError, ExperimentStage, RecordJson, Refusal};
use flit::case::UserSuppliedTraffic;
use flit::spec::FlitSimulationParameters;
use flit::stage::FlitSimulationInputs;
use formats::booksim::{self, SettingsSource};
use lab::sampling::BookSimSimulation;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The schema of the flit level's parameters.
#[pyfunction]
pub fn flit_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &schemars::schema_for!(FlitSimulationParameters).to_value())
}

/// What the flit level finds at the loads that `given` says: `verified`, `parameters`, `points`
/// and, of loads that are `auto`, `saturation_throughput`. `times` are packets with their times:
/// the name of a file, and its text.
#[pyfunction]
#[pyo3(signature = (on, given, threads, traffic=None, times=None, progress=None))]
pub fn simulate_flit<'py>(
    py: Python<'py>,
    on: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
    threads: usize,
    traffic: Option<Py<Traffic>>,
    times: Option<(String, String)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let spec: FlitSimulationParameters =
        parameters(&object(from_python(given)?)).map_err(refuse)?;
    let routing = on.cast::<Routing>().ok().map(|tables| tables.get().inner.clone());
    let topology = match &routing {
        Some(routing) => routing.topology().clone(),
        None => on.cast::<Topology>()?.get().inner.clone(),
    };
    let times = injections(times, &topology)?;
    let traffic = match (&times, &traffic) {
        (Some(times), _) => Some(UserSuppliedTraffic::Times(times)),
        (None, sending) => {
            sending.as_ref().map(|t| UserSuppliedTraffic::Sending(t.get().sending()))
        }
    };
    let on = FlitSimulationInputs { topology: &topology, routing: routing.as_ref(), traffic };
    afford(py, &format!("simulating {}", topology.recipe()), |_| spec.need(on, threads))?;
    let found = enter(py, progress, |watch| spec.simulate(on, threads, watch))?.map_err(stopped)?;
    to_python(py, &Value::Object(RecordJson::of(found).0))
}

/// Configurations as the reader takes them: files with their text, or `key=value`.
fn sources(given: &[(Option<String>, String)]) -> Vec<SettingsSource<'_>> {
    let mut all = Vec::new();
    for (name, text) in given {
        all.push(match name {
            Some(name) => SettingsSource::File { name, text },
            None => SettingsSource::Argument(text),
        });
    }
    all
}

/// A note on a key of a configuration without effect: place, key, why.
type UnusedKeyNote = (String, String, String);

/// The file of the network that configurations name, where they name one; and what they say that
/// has no effect.
#[pyfunction]
pub fn booksim_names(
    given: Vec<(Option<String>, String)>,
) -> PyResult<(Option<String>, Vec<UnusedKeyNote>)> {
    let config = booksim::read(&sources(&given)).map_err(refuse)?;
    let notes = config.notes.into_iter().map(|n| (n.place, n.key, n.text)).collect();
    Ok(match config.network {
        booksim::BookSimNetwork::Anynet { file, .. } => (Some(file), notes),
        _ => (None, notes),
    })
}

/// The point of configurations of `BookSim`; `network` is the file that they name, and its text.
#[pyfunction]
#[pyo3(signature = (given, network, unverified, threads, progress=None))]
pub fn simulate_booksim(
    py: Python<'_>,
    given: Vec<(Option<String>, String)>,
    network: Option<(String, String)>,
    unverified: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyAny>> {
    let work = |watch: &dyn base::ProgressWatch| -> Result<BookSimSimulation, ComputationError> {
        let config = booksim::read(&sources(&given))?;
        let network = network.as_ref().map(|(name, text)| (&**name, &**text));
        let case = BookSimSimulation::new(config, network, watch)?;
        if let (Some(cycle), false) = (&case.dependency_cycle, unverified) {
            let why = format!("not proved free of deadlock: {cycle}");
            return Err(Refusal::new("routing_function", why, "--unverified to run it").into());
        }
        Ok(case)
    };
    let again = progress.as_ref().map(|progress| progress.clone_ref(py));
    let case = enter(py, again, work)?.map_err(stopped)?;
    afford(py, "simulating all periods", |_| case.need())?;
    let work = |watch: &dyn base::ProgressWatch| -> Result<Value, ComputationError> {
        let found = case.run(threads, watch)?;
        let (row, classes) = case.rows(&found.point);
        Ok(json!({
            "verified": case.dependency_cycle.is_none(), "ended": found.ended, "points": [row],
            "classes": classes,
        }))
    };
    to_python(py, &enter(py, progress, work)?.map_err(stopped)?)
}
