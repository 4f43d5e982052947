//! Schedules for Python: read, written, run.

use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use crate::message::driven;
use base::part::Part;
use base::{Refusal, Stage};
use formats::goal::{binary, text};
use formats::{chakra, dumpi, liballprof};
use lab::best;
use message::stage::Played;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use traffic::workload::noise::{self, noisy};
use traffic::workload::{Kind, Schedule, generators, make, merge};

/// What processes do: a schedule of sends, receives and calculations.
#[pyclass(frozen, module = "flyloom._core")]
pub struct Workload {
    pub inner: Schedule,
}

#[pymethods]
impl Workload {
    /// Reads GOAL, as text or in binary.
    #[staticmethod]
    #[pyo3(signature = (content, progress=None))]
    fn read(py: Python<'_>, content: &[u8], progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let inner = enter(py, progress, |watch| {
            if binary::is_binary(content) {
                return binary::parse(content, watch);
            }
            let said = std::str::from_utf8(content).map_err(|e| {
                let why = format!("byte {} is not UTF-8", e.valid_up_to());
                Refusal::new("", why, "GOAL as text, or in binary")
            })?;
            text::parse(said, watch)
        })?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// The schedule of a trace of liballprof: names and contents of the files, rank by rank.
    #[staticmethod]
    #[pyo3(signature = (names, contents, given, progress=None))]
    fn trace(
        py: Python<'_>,
        names: Vec<String>,
        contents: Vec<String>,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| {
            let files: Vec<(String, &str)> =
                names.into_iter().zip(contents.iter().map(String::as_str)).collect();
            liballprof::schedule(&files, &given, watch)
        })?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// The schedule of execution traces of Chakra: names and contents of the files, rank by rank.
    #[staticmethod]
    #[pyo3(signature = (names, contents, given, progress=None))]
    fn chakra(
        py: Python<'_>,
        names: Vec<String>,
        contents: Vec<Vec<u8>>,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| {
            let mut traces = Vec::with_capacity(names.len());
            for (name, content) in names.into_iter().zip(contents) {
                let trace = chakra::parse(&content, watch).map_err(|stop| stop.within(&name))?;
                traces.push((name, trace));
            }
            chakra::schedule(&traces, &given, watch)
        })?;
        Ok(Self { inner: inner.map_err(stopped)? })
    }

    /// The schedule of a trace of DUMPI: names and contents of the files, rank by rank.
    #[staticmethod]
    #[pyo3(signature = (names, contents, given, progress=None))]
    fn dumpi(
        py: Python<'_>,
        names: Vec<String>,
        contents: Vec<Vec<u8>>,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| {
            let files: Vec<(String, &[u8])> =
                names.into_iter().zip(contents.iter().map(Vec::as_slice)).collect();
            dumpi::schedule(&files, &given, watch)
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
        enter(py, None, |_| {
            let mut out = String::new();
            text::write(&self.inner, &mut out).expect("strings take all");
            out
        })
    }

    /// GOAL in binary.
    fn binary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = enter(py, None, |_| binary::write(&self.inner))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// As a trace of DUMPI: the files of all ranks, how many calls are in them, and how many ranks
    /// do several things at the same time.
    #[pyo3(signature = (progress=None))]
    fn dumpi_files<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Trace<'py>> {
        let files = enter(py, progress, |watch| dumpi::files(&self.inner, watch))?;
        Ok(as_bytes(py, &files.map_err(stopped)?))
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
            "ranks": all.ranks(), "operations": all.ops().len(), "sends": of(Kind::Send).count(),
            "receives": of(Kind::Recv).count(), "calculations": of(Kind::Calc).count(),
            "dependencies": all.dependencies(), "cpus": all.cpus(), "nics": all.nics(),
            "sent_bytes": all.sent_bytes(), "calculated_ns": all.calculated_ns(),
        });
        to_python(py, &counts)
    }

    /// Operations that wait for one another in a circle, in words; empty where there are none.
    fn circle(&self) -> Vec<String> {
        let circle = self.inner.cycle().unwrap_or_default();
        circle.into_iter().map(|op| self.inner.described(op)).collect()
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

/// The files of all ranks, how many calls are in them, and how many ranks do several things at
/// once.
type Trace<'py> = (Vec<Bound<'py, PyBytes>>, u64, u32);

fn as_bytes<'py>(py: Python<'py>, files: &dumpi::Files) -> Trace<'py> {
    let contents = files.contents.iter().map(|content| PyBytes::new(py, content));
    (contents.collect(), files.calls, files.at_once)
}

/// A collective operation or an application as a trace of DUMPI: the files of all ranks, how many
/// calls are in them, and how many ranks do several things at the same time.
#[pyfunction]
#[pyo3(signature = (name, given, progress=None))]
pub fn workload_dumpi<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Trace<'py>> {
    let given = object(from_python(given)?);
    let files = enter(py, progress, |watch| dumpi::made(name, &given, watch))?;
    Ok(as_bytes(py, &files.map_err(stopped)?))
}

/// The files of a trace of DUMPI in the form that is written now, how many calls are in them, and
/// 0: names and contents, rank by rank.
#[pyfunction]
#[pyo3(signature = (names, contents, progress=None))]
pub fn dumpi_rewritten(
    py: Python<'_>,
    names: Vec<String>,
    contents: Vec<Vec<u8>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Trace<'_>> {
    let files = enter(py, progress, |watch| {
        let files: Vec<(String, &[u8])> =
            names.into_iter().zip(contents.iter().map(Vec::as_slice)).collect();
        dumpi::rewritten(&files, watch)
    })?;
    Ok(as_bytes(py, &files.map_err(stopped)?))
}

/// The text beside the files of a trace of DUMPI.
#[pyfunction]
pub fn dumpi_meta_text(prefix: &str, ranks: u32) -> String {
    dumpi::meta(prefix, ranks)
}

/// What a trace of DUMPI holds: names and contents of the files, rank by rank.
#[pyfunction]
#[pyo3(signature = (names, contents, progress=None))]
pub fn dumpi_counts(
    py: Python<'_>,
    names: Vec<String>,
    contents: Vec<Vec<u8>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'_, PyAny>> {
    let found = enter(py, progress, |watch| {
        let files = names.iter().map(String::as_str).zip(contents.iter().map(Vec::as_slice));
        dumpi::run_counts(files, watch)
    })?;
    let found = found.map_err(stopped)?;
    let version = found.version.map(|part| part.to_string()).join(".");
    to_python(
        py,
        &json!({
            "version": version, "ranks": names.len(), "calls": found.counts.calls,
            "messages": found.counts.messages, "bytes": found.counts.bytes,
            "records": found.records, "left_out": found.left_out,
        }),
    )
}

/// The parameters of traces.
#[pyfunction]
pub fn trace_keys(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &json!(keys(&liballprof::PART)))
}

/// The parameters of noise.
#[pyfunction]
pub fn noise_keys(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &json!(keys(&noise::PART)))
}

/// The parameters of a part: a default of null is none, and `none` one that is nothing.
fn keys(part: &Part) -> Vec<Value> {
    let mut all = lab::registry::parameters(&part.schema());
    for one in &mut all {
        if one["required"] == false && one["default"].is_null() {
            one["default"] = "none".into();
        }
        one["doc"] = one["doc"].as_str().unwrap_or_default().replace('\n', " ").into();
    }
    all
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
    let asked = best::Asked::read(&object(from_python(given)?)).map_err(refuse)?;
    let (topology, routing) = driven(on)?;
    let played = Played {
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
