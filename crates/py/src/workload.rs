//! Schedules for Python: read, written, run.

pub use crate::classes::Workload;
use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use crate::message::driven;
use base::ExperimentStage;
use formats::trace::{self, goal, goal_binary, recorded};
use lab::best;
use lab::kinds::keys;
use message::stage::MessageSimulationInputs;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use traffic::workload::noise::{self, noisy};
use traffic::workload::{OperationKind, Schedule, generators, make, merge};

#[pymethods]
impl Workload {
    /// Reads a file that has all ranks: its content, or the end of its name, says its format.
    #[staticmethod]
    #[pyo3(signature = (content, progress=None, name=""))]
    fn read(
        py: Python<'_>,
        content: &[u8],
        progress: Option<Py<PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let inner = enter(py, progress, |watch| {
            let format = trace::of_file(name, content)?;
            format.read(&[(name.to_owned(), content)], &trace::GivenParameters::new(), watch)
        })?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// The schedule of a collective operation or an application with its parameters.
    #[staticmethod]
    #[pyo3(signature = (name, given, progress=None))]
    fn make(
        py: Python<'_>,
        name: &str,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| make(name, &given, watch))?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// The same with noise.
    #[pyo3(signature = (given, progress=None))]
    fn noisy(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| noisy(&self.inner, &given, watch))?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// All schedules as one, side by side.
    #[staticmethod]
    #[pyo3(signature = (jobs, progress=None))]
    fn merge(py: Python<'_>, jobs: Vec<Py<Self>>, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let inner = enter(py, progress, |watch| {
            let all: Vec<&Schedule> = jobs.iter().map(|job| &job.get().inner).collect();
            merge(&all, watch)
        })?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// GOAL as text.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        enter(py, None, |_| goal::text(&self.inner))
    }

    /// GOAL in binary.
    fn binary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = enter(py, None, |_| goal_binary::write(&self.inner))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// How many processes there are.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks()
    }

    /// How many there are of everything.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = &self.inner;
        let of = |kind| all.ops().iter().filter(move |op| op.kind == kind);
        let counts = json!({
            "ranks": all.ranks(), "operations": all.ops().len(),
            "sends": of(OperationKind::Send).count(), "receives": of(OperationKind::Recv).count(),
            "calculations": of(OperationKind::Calc).count(),
            "dependencies": all.dependencies(), "cpus": all.cpus(), "nics": all.nics(),
            "sent_bytes": all.sent_bytes(), "calculated_ns": all.calculated_ns(),
        });
        to_python(py, &counts)
    }

    /// Operations that wait for one another in a cycle, in words; empty where there are none.
    fn circle(&self) -> Vec<String> {
        let cycle = self.inner.cycle().unwrap_or_default();
        cycle.into_iter().map(|op| self.inner.described(op)).collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __hash__(&self) -> u64 {
        self.inner.ops().len() as u64 + u64::from(self.inner.ranks())
    }

    fn __repr__(&self) -> String {
        let all = &self.inner;
        format!("Workload(ranks={}, operations={})", all.ranks(), all.ops().len())
    }
}

/// The schedule of the calls that the recorder kept, by the files of all ranks in their order, and
/// what users have to know besides.
#[pyfunction]
#[pyo3(signature = (names, contents, given, progress=None))]
pub fn recorded_schedule<'py>(
    py: Python<'py>,
    names: Vec<String>,
    contents: Vec<PyBackedBytes>,
    given: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Workload, Bound<'py, PyAny>)> {
    let given = object(from_python(given)?);
    let found = enter(py, progress, |watch| {
        let files: Vec<trace::NamedFile<'_>> =
            names.into_iter().zip(&contents).map(|(name, content)| (name, &content[..])).collect();
        recorded::schedule_with(&files, &given, watch)
    })?;
    let (inner, remarks) = found.map_err(stopped)?;
    let remarks = json!({
        "cut": remarks.cut, "aborted": remarks.aborted, "sends": remarks.sends,
        "receives": remarks.receives, "collectives": remarks.collectives,
        "transfers": remarks.transfers, "puts": remarks.puts, "measured_ns": remarks.measured_ns,
    });
    Ok((Workload { inner }, to_python(py, &remarks)?))
}

/// What can be made: name, what it is, what it does, its parameters.
#[pyfunction]
pub fn workload_list(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows: Vec<Value> = generators()
        .iter()
        .map(|one| {
            let part = one.part();
            let keys = keys(&part);
            json!({ "name": part.name, "kind": one.kind(), "doc": part.doc, "keys": keys })
        })
        .collect();
    to_python(py, &json!(rows))
}

/// The parameters of noise.
#[pyfunction]
pub fn noise_keys(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &json!(keys(&noise::PART)))
}

/// Which algorithm of a collective operation is quickest, alone or over a network or tables: a row
/// for each case.
#[pyfunction]
#[pyo3(signature = (given, on=None, places=None, progress=None))]
pub fn workload_best<'py>(
    py: Python<'py>,
    given: &Bound<'py, PyAny>,
    on: Option<&Bound<'py, PyAny>>,
    places: Option<Vec<u32>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let asked = best::AlgorithmTableRequest::read(&object(from_python(given)?)).map_err(refuse)?;
    let (topology, routing) = driven(on)?;
    let played = MessageSimulationInputs {
        topology: topology.as_ref(),
        routing: routing.as_ref(),
        schedule: None,
        places: places.as_deref(),
    };
    if let Some(largest) = asked.largest().filter(|_| topology.is_some()) {
        afford(py, "simulating messages", |threads| largest.need(played, threads))?;
    }
    let rows = enter(py, progress, |watch| best::best(&asked, played, watch))?;
    to_python(py, &json!(rows.map_err(stopped)?))
}
