//! Formats of workloads for Python: their table, and what is read and written by it.

use crate::enter::{enter, from_python, object, refuse, stopped, to_python};
use crate::workload::Workload;
use formats::trace::{self, TraceFileNaming, TraceFormat, WorkloadFileContents};
use formats::{communication, graph_file};
use lab::kinds::keys;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyBytes;
use serde_json::{Value, json};

/// The content of a file: text, or bytes.
#[derive(FromPyObject)]
pub enum FileContent {
    /// Content that was read as text.
    Text(PyBackedStr),
    /// Content that was read as bytes.
    Bytes(PyBackedBytes),
}

impl FileContent {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Pairs of names and contents.
fn files<'a>(names: &[String], contents: &'a [FileContent]) -> Vec<trace::NamedFile<'a>> {
    names.iter().cloned().zip(contents.iter().map(FileContent::bytes)).collect()
}

/// The table of formats of workloads: name, what each is, how its files are named, its parameters,
/// and how it is written.
#[pyfunction]
pub fn trace_formats(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &trace::FORMATS.iter().map(row).collect::<Value>())
}

fn row(format: &TraceFormat) -> Value {
    let naming = match format.naming {
        TraceFileNaming::One(ends) => json!({ "files": "one", "ends": ends, "shared": [] }),
        TraceFileNaming::PerRank { before, ends, shared } => {
            json!({ "files": "ranks", "before": before, "ends": ends, "shared": shared })
        }
        TraceFileNaming::Indexed { index, before, digits, end, .. } => json!({
            "files": "index", "index": index, "before": before, "digits": digits, "ends": [end],
            "shared": [],
        }),
    };
    let writes = format.writer.map(|writer| {
        json!({
            "end": writer.end, "folder": writer.is_folder, "keeps_calls": writer.keeps_calls(),
        })
    });
    json!({
        "name": format.part.name, "doc": format.part.doc, "naming": naming,
        "text": format.is_text, "keys": keys(&format.part),
        "counted": format.is_counted(), "writes": writes,
    })
}

/// The name of the format of a file that has all ranks, by its name and content.
#[pyfunction]
pub fn trace_format_of(name: &str, content: &[u8]) -> PyResult<&'static str> {
    trace::of_file(name, content).map(|format| format.part.name).map_err(refuse)
}

/// Whether the content of a file is of a format.
#[pyfunction]
pub fn trace_looks(format: &str, content: &[u8]) -> PyResult<bool> {
    trace::format(format).map(|format| format.looks(content)).map_err(refuse)
}

/// How many ranks a run has, by the text of the file that stands for it.
#[pyfunction]
pub fn trace_ranks(format: &str, index: &str) -> PyResult<u32> {
    match trace::format(format).map_err(refuse)?.naming {
        TraceFileNaming::Indexed { ranks, .. } => ranks(index).map_err(refuse),
        _ => Ok(1),
    }
}

/// The schedule of a run: names and contents of its files, rank by rank.
#[pyfunction]
#[pyo3(signature = (format, names, contents, given, progress=None))]
pub fn trace_read(
    py: Python<'_>,
    format: &str,
    names: Vec<String>,
    contents: Vec<FileContent>,
    given: &Bound<'_, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Workload> {
    let given = object(from_python(given)?);
    let format = trace::format(format).map_err(refuse)?;
    let inner = enter(py, progress, |watch| format.read(&files(&names, &contents), &given, watch))?;
    Ok(Workload { inner: inner.map_err(stopped)? })
}

/// What the files of a run hold that its schedule does not say; None where it says all.
#[pyfunction]
#[pyo3(signature = (format, names, contents, progress=None))]
pub fn trace_counts<'py>(
    py: Python<'py>,
    format: &str,
    names: Vec<String>,
    contents: Vec<FileContent>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let format = trace::format(format).map_err(refuse)?;
    let found =
        enter(py, progress, |watch| format.count(&files(&names, &contents), watch).transpose())?;
    to_python(py, &found.map_err(stopped)?.unwrap_or_default())
}

/// A workload, written: its files by name, how many ranks and operations are in them, their bytes,
/// and how many ranks do several things at the same time, where that is lost.
type PythonWorkload<'py> = (Vec<(String, Bound<'py, PyBytes>)>, u32, u64, u64, Option<u32>);

fn given_back<'py>(py: Python<'py>, written: &WorkloadFileContents) -> PythonWorkload<'py> {
    let one = |(name, content): &(String, Vec<u8>)| (name.clone(), PyBytes::new(py, content));
    let all = written.files.iter().map(one).collect();
    (all, written.ranks, written.operations, written.bytes, written.at_once)
}

fn writer(format: &str) -> PyResult<trace::TraceFormatWriter> {
    let format = trace::format(format).map_err(refuse)?;
    format.writer.ok_or_else(|| {
        let why = format!("{} is read, and not written", format.part.name);
        refuse(base::Refusal::new("format", why, "a format that is written"))
    })
}

/// The files of a schedule in a format; `prefix` is the name of the run.
#[pyfunction]
#[pyo3(signature = (schedule, format, prefix, progress=None))]
pub fn trace_written<'py>(
    py: Python<'py>,
    schedule: &Bound<'py, Workload>,
    format: &str,
    prefix: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<PythonWorkload<'py>> {
    let (writer, schedule) = (writer(format)?, &schedule.get().inner);
    let written = enter(py, progress, |watch| writer.write(schedule, prefix, watch))?;
    Ok(given_back(py, &written.map_err(stopped)?))
}

/// The files of a collective operation or an application, with its calls where the format has some.
#[pyfunction]
#[pyo3(signature = (name, given, format, prefix, progress=None))]
pub fn trace_made<'py>(
    py: Python<'py>,
    name: &str,
    given: &Bound<'py, PyAny>,
    format: &str,
    prefix: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<PythonWorkload<'py>> {
    let (writer, given) = (writer(format)?, object(from_python(given)?));
    let written = enter(py, progress, |watch| writer.made(name, &given, prefix, watch))?;
    Ok(given_back(py, &written.map_err(stopped)?))
}

/// The files of a run of a format that keeps its calls, in the form that is written.
#[pyfunction]
#[pyo3(signature = (names, contents, format, prefix, progress=None))]
pub fn trace_rewritten<'py>(
    py: Python<'py>,
    names: Vec<String>,
    contents: Vec<FileContent>,
    format: &str,
    prefix: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<PythonWorkload<'py>> {
    let writer = writer(format)?;
    let written = enter(py, progress, |watch| {
        writer.rewritten(&files(&names, &contents), prefix, watch).transpose()
    })?;
    Ok(given_back(py, &written.map_err(stopped)?.unwrap_or_default()))
}

/// The files of an example, by name and content, with the kind and the name of their format.
type ExampleFiles<'py> = (String, String, Vec<(String, Bound<'py, PyBytes>)>);

/// The files of a small example of every format that is read, by kind and name: what tests damage.
#[pyfunction]
pub fn format_examples(py: Python<'_>) -> Vec<ExampleFiles<'_>> {
    let bytes = |(name, content): (String, Vec<u8>)| (name, PyBytes::new(py, &content));
    let one = |kind: &str, name: &str, files: Vec<(String, Vec<u8>)>| {
        (kind.to_owned(), name.to_owned(), files.into_iter().map(bytes).collect())
    };
    let traces = trace::FORMATS.iter().map(|f| one("workload-file", f.part.name, f.example()));
    let text = |name: &str, text: String| vec![(name.to_owned(), text.into_bytes())];
    let networks = graph_file::FORMATS
        .iter()
        .map(|f| one("network-file", f.part.name, text("example.txt", f.example())));
    let graphs = communication::FORMATS.iter().map(|f| {
        let (name, content) = f.example();
        one("graph-file", f.part.name, text(&name, content))
    });
    let pairs = graph_file::PAIRS.iter().map(|f| one("network-file", f.part.name, f.example()));
    traces.chain(networks).chain(pairs).chain(graphs).collect()
}

/// What a file is of the formats in which a network is two files, by its name and first bytes: the
/// name of the other file, whether that is the first of the two, and what it holds.
#[pyfunction]
pub fn network_pair(name: &str, start: &[u8]) -> Option<(String, bool, &'static str)> {
    let found = graph_file::half(name, start)?;
    Some((found.other, found.place == 1, found.format.holds[1 - found.place]))
}
