//! Schedules for Python: read, written, run.

use crate::enter::{enter, from_python, refuse, stopped, to_python};
use crate::topology::object;
use base::Refusal;
use formats::goal::{binary, text};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Deserialize;
use serde_json::{Value, json};
use sim::message::{Dialect, Found, Left, LogGops, run};
use traffic::workload::collective::{self, ALGORITHMS};
use traffic::workload::{ANY, Kind, Schedule};

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

    /// The schedule of a collective operation: `ranks`, `bytes` and parameters of its own.
    #[staticmethod]
    #[pyo3(signature = (name, given, progress=None))]
    fn make(
        py: Python<'_>,
        name: &str,
        given: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, progress, |watch| collective::make(name, &given, watch))?;
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

    /// How many processes there are.
    #[getter]
    fn ranks(&self) -> u32 {
        self.inner.ranks()
    }

    /// How many there are of everything.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let all = &self.inner;
        let of = |kind| all.ops().iter().filter(move |op| op.kind == kind);
        let sum = |kind| of(kind).map(|op| u128::from(op.size)).sum::<u128>() as f64;
        let counts = json!({
            "ranks": all.ranks(), "operations": all.ops().len(), "sends": of(Kind::Send).count(),
            "receives": of(Kind::Recv).count(), "calculations": of(Kind::Calc).count(),
            "dependencies": all.dependencies(), "cpus": all.cpus(), "nics": all.nics(),
            "sent_bytes": sum(Kind::Send), "calculated_ns": sum(Kind::Calc),
        });
        to_python(py, &counts)
    }

    /// Operations that wait for one another in a circle, in words; empty where there are none.
    fn circle(&self) -> Vec<String> {
        let circle = self.inner.circle().unwrap_or_default();
        circle.into_iter().map(|op| told(&self.inner, op)).collect()
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

/// What can be made: name, what it does, parameters besides ranks and bytes.
#[pyfunction]
pub fn workload_list(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let row = |entry: &collective::Entry| {
        let keys = entry
            .keys
            .iter()
            .map(|key| json!({ "name": key.name, "doc": key.doc, "default": key.default }));
        json!({ "name": entry.name, "doc": entry.doc, "keys": keys.collect::<Vec<_>>() })
    };
    to_python(py, &json!(ALGORITHMS.iter().map(row).collect::<Vec<_>>()))
}

/// An operation in words: its rank, its number there from 1, what it does.
fn told(schedule: &Schedule, op: u32) -> String {
    let rank = schedule.rank_of(op);
    let number = op - schedule.of_rank(rank).start + 1;
    let it = &schedule.ops()[op as usize];
    let any = |n: u32| if n == ANY { "any".to_owned() } else { n.to_string() };
    let (peer, tag) = (any(it.peer), any(it.tag));
    let what = match it.kind {
        Kind::Send => format!("send {}b to {peer} tag {tag}", it.size),
        Kind::Recv => format!("recv {}b from {peer} tag {tag}", it.size),
        Kind::Calc => format!("calc {}", it.size),
    };
    format!("rank {rank}, operation {number}: {what}")
}

/// Of each kind of what is left over no more are told than this.
const TOLD: usize = 5;

/// What is left over, in words.
fn left_over(schedule: &Schedule, left: &Left) -> Refusal {
    let mut parts = Vec::new();
    for (all, what) in [
        (&left.receives, "receives without a message"),
        (&left.messages, "messages without a receive"),
        (&left.sends, "sends that are not done"),
        (&left.stuck, "operations that never began"),
    ] {
        if !all.is_empty() {
            let some: Vec<String> = all.iter().take(TOLD).map(|&op| told(schedule, op)).collect();
            let more = if all.len() > TOLD { "; ..." } else { "" };
            parts.push(format!("{} {what} ({}{more})", all.len(), some.join("; ")));
        }
    }
    let why = format!("it cannot come to its end: {}", parts.join(", "));
    Refusal::new("schedule", why, "a receive for every message, and a message for every receive")
}

/// What a run of the message level is asked for.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    dialect: Dialect,
    costs: LogGops,
}

/// Runs a schedule on a network without contention: what is found, and when each rank is done, ns.
#[pyfunction]
#[pyo3(signature = (workload, given, progress=None))]
pub fn simulate_message<'py>(
    py: Python<'py>,
    workload: Py<Workload>,
    given: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>)> {
    let given = Value::Object(object(from_python(given)?));
    let asked: Asked = base::fields::typed_by_path(&given)
        .map_err(|(field, why)| refuse(Refusal::new(field, why, "docs/message.md has all")))?;
    let schedule = &workload.get().inner;
    let found = enter(py, progress, |watch| {
        let found = run(schedule, asked.dialect, &asked.costs, watch)?;
        match &found.left {
            None => Ok(found),
            Some(left) => Err(left_over(schedule, left).into()),
        }
    })?;
    let Found { finish, events, messages, .. } = found.map_err(stopped)?;
    let unit = asked.dialect.unit_ns();
    let finish: Vec<f64> = finish.iter().map(|&t| t as f64 * unit).collect();
    let last = finish.iter().copied().fold(0.0, f64::max);
    let whole = asked.dialect == Dialect::LogGopsV1;
    let all = json!({
        "dialect": asked.dialect, "parameters": asked.costs,
        "finish_ns": if whole { json!(last as u64) } else { json!(last) },
        "events": events, "messages": messages,
    });
    Ok((to_python(py, &all)?, PyArray1::from_vec(py, finish)))
}
