//! The message level for Python: a schedule, and a network or tables, in; times and loads out.

use crate::classes::{Routing, Topology, Workload};
use crate::enter::{afford, enter, from_python, object, refuse, stopped, to_python};
use base::stage::parameters;
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordJson, Refusal};
use lab::over_seeds::over_seeds;
use message::stage::{
    MessageSimulationInputs, MessageSimulationParameters, MessageSimulationResult, channel_ends,
};
use message::{CriticalPathCostCounts, LogGopsParameters, ProcessorWorkKind, TracedRunResult};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use traffic::workload::{ANY, OperationKind, Schedule, ScheduleOperation};

/// A network, and its tables where these are given.
type RoutedNetwork = (Option<Arc<fabric::Topology>>, Option<fabric::tables::Routing>);

/// The network and the tables that Python gave, if any.
pub fn driven(on: Option<&Bound<'_, PyAny>>) -> PyResult<RoutedNetwork> {
    let routing = on.and_then(|on| on.cast::<Routing>().ok());
    let routing = routing.map(|tables| tables.get().inner.clone());
    let topology = match (&routing, on) {
        (Some(routing), _) => Some(routing.topology().clone()),
        (None, Some(on)) => Some(on.cast::<Topology>()?.get().inner.clone()),
        (None, None) => None,
    };
    Ok((topology, routing))
}

/// The schema of the message level's parameters.
#[pyfunction]
pub fn message_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &schemars::schema_for!(MessageSimulationParameters).to_value())
}

/// The result of a run: when each rank is done, the channels, the critical path and the processors'
/// work.
type MessageResult<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<f64>>,
    Option<Bound<'py, PyDict>>,
    Option<Bound<'py, PyDict>>,
);

/// A critical path and what processors do, as columns; times in nanoseconds.
fn trace_of<'py>(
    py: Python<'py>,
    traced: &TracedRunResult,
    ranks: &Schedule,
    costs: &LogGopsParameters,
) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let ns = |ps: u64| ps as f64 / 1000.0;
    let (path, all) = (&traced.path, CriticalPathCostCounts::of(&traced.path));
    let parts = PyDict::new(py);
    for (name, part) in all.parts_ns(costs) {
        parts.set_item(name, part)?;
    }
    found.set_item("parts_ns", parts)?;
    let derivatives = PyDict::new(py);
    for (letter, derivative) in all.derivatives() {
        derivatives.set_item(letter, derivative)?;
    }
    found.set_item("derivatives", derivatives)?;
    let steps = PyDict::new(py);
    steps.set_item("rank", path.iter().map(|s| ranks.rank_of(s.op)).collect::<Vec<_>>())?;
    steps.set_item("operation", path.iter().map(|s| ranks.described(s.op)).collect::<Vec<_>>())?;
    let cpu = |op: u32| ranks.ops()[op as usize].cpu;
    steps.set_item("cpu", path.iter().map(|s| u32::from(cpu(s.op))).collect::<Vec<_>>())?;
    let number = |op: u32| op - ranks.of_rank(ranks.rank_of(op)).start + 1;
    steps.set_item("number", path.iter().map(|s| number(s.op)).collect::<Vec<_>>())?;
    steps.set_item("begin_ns", path.iter().map(|s| ns(s.begin)).collect::<Vec<_>>())?;
    steps.set_item("end_ns", path.iter().map(|s| ns(s.end)).collect::<Vec<_>>())?;
    found.set_item("path", steps)?;
    let (work, busy) = (PyDict::new(py), &traced.spans);
    let word = |doing: ProcessorWorkKind| match doing {
        ProcessorWorkKind::Sends => "sends",
        ProcessorWorkKind::Answers => "answers",
        ProcessorWorkKind::Receives => "receives",
        ProcessorWorkKind::Computes => "computes",
    };
    work.set_item("rank", PyArray1::from_iter(py, busy.iter().map(|b| b.rank)))?;
    work.set_item("doing", busy.iter().map(|b| word(b.doing)).collect::<Vec<_>>())?;
    work.set_item("begin_ns", PyArray1::from_iter(py, busy.iter().map(|b| ns(b.begin))))?;
    work.set_item("end_ns", PyArray1::from_iter(py, busy.iter().map(|b| ns(b.end))))?;
    operations_of(py, traced, ranks, &work)?;
    found.set_item("work", work)?;
    let messages = PyDict::new(py);
    let all = &traced.messages;
    messages.set_item("send", PyArray1::from_iter(py, all.iter().map(|m| m.send)))?;
    messages.set_item("receive", PyArray1::from_iter(py, all.iter().map(|m| m.receive)))?;
    found.set_item("messages", messages)?;
    let collectives = PyDict::new(py);
    let (names, all) =
        (ranks.collectives().map(|c| c.name).collect::<Vec<_>>(), &traced.collectives);
    collectives.set_item("rank", all.iter().map(|c| c.rank).collect::<Vec<_>>())?;
    collectives.set_item("cpu", all.iter().map(|c| u32::from(c.cpu)).collect::<Vec<_>>())?;
    collectives
        .set_item("name", all.iter().map(|c| names[c.number as usize]).collect::<Vec<_>>())?;
    collectives.set_item("begin_ns", all.iter().map(|c| ns(c.begin)).collect::<Vec<_>>())?;
    collectives.set_item("end_ns", all.iter().map(|c| ns(c.end)).collect::<Vec<_>>())?;
    found.set_item("collectives", collectives)?;
    Ok(found)
}

/// The operation of each piece of work: its processor and its number on its rank, from 1; for
/// messages the bytes, the tag and the other rank as well, -1 where the schedule does not state
/// one.
fn operations_of<'py>(
    py: Python<'py>,
    traced: &TracedRunResult,
    ranks: &Schedule,
    work: &Bound<'py, PyDict>,
) -> PyResult<()> {
    let busy = &traced.spans;
    let ops = || busy.iter().map(|b| ranks.ops()[b.op as usize]);
    let is_message = |op: &ScheduleOperation| op.kind != OperationKind::Calc;
    let known =
        |op: ScheduleOperation, n: u32| if is_message(&op) && n != ANY { i64::from(n) } else { -1 };
    let mut senders = BTreeMap::new();
    for message in &traced.messages {
        let received = busy[message.receive as usize].op;
        if ranks.ops()[received as usize].peer == ANY {
            senders.insert(received, i64::from(busy[message.send as usize].rank));
        }
    }
    let peers = busy
        .iter()
        .zip(ops())
        .map(|(b, op)| senders.get(&b.op).copied().unwrap_or_else(|| known(op, op.peer)));
    let numbers = busy.iter().map(|b| b.op - ranks.of_rank(b.rank).start + 1);
    let bytes = ops().map(|op| if is_message(&op) { op.size as i64 } else { -1 });
    work.set_item("cpu", PyArray1::from_iter(py, ops().map(|op| op.cpu)))?;
    work.set_item("number", PyArray1::from_iter(py, numbers))?;
    work.set_item("bytes", PyArray1::from_iter(py, bytes))?;
    work.set_item("tag", PyArray1::from_iter(py, ops().map(|op| known(op, op.tag))))?;
    work.set_item("peer", PyArray1::from_iter(py, peers))?;
    Ok(())
}

/// The plane of every channel: both directions of the links between switches, then of the rails of
/// endpoints.
fn planes(on: &fabric::Topology) -> Vec<u16> {
    let plane = |switch: base::SwitchId| on.switches()[switch.ix()].plane;
    let links = on.links().iter().map(|link| plane(link.a.switch));
    let rails = on.terminals().iter().map(|terminal| plane(terminal.plug.switch));
    links.chain(rails).flat_map(|plane| [plane, plane]).collect()
}

/// The result of the run with the first seed, and the record of all runs that `spec` asks for.
fn each_seed(
    spec: &MessageSimulationParameters,
    on: MessageSimulationInputs<'_>,
    is_traced: bool,
    watch: &dyn ProgressWatch,
) -> Result<(MessageSimulationResult, RecordJson), ComputationError> {
    let first = Mutex::new(None);
    let run = |seed: u64, _: usize| {
        let is_first = seed == spec.seed;
        let one = MessageSimulationParameters { seed, seeds: 1, ..spec.clone() };
        let ran = one.simulate(on, is_traced && is_first, watch)?;
        let record = RecordJson::of(&ran.record);
        if is_first {
            *first.lock().unwrap_or_else(PoisonError::into_inner) = Some(ran);
        }
        Ok(record)
    };
    let record = if spec.seeds == 1 || !spec.differs_by_seed(on) {
        run(spec.seed, 1)?
    } else {
        let threads = rayon::current_num_threads();
        over_seeds((spec.seed, spec.seeds), threads, MessageSimulationParameters::COLUMNS, run)?
    };
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((first.expect("the first seed was run"), record))
}

/// Runs a schedule, or what the parameters name, over a network or tables where they are given:
/// what is found, when each rank is done (ns), and the channels: `from`, `to`, `bytes`, `use`,
/// and bytes in each span of time, where these were asked for. Of several seeds the figures are
/// means, and all that has a value for every rank or channel is of the first one.
#[pyfunction]
#[pyo3(signature = (workload, given, on=None, places=None, traced=false, progress=None))]
pub fn simulate_message<'py>(
    py: Python<'py>,
    workload: Option<Py<Workload>>,
    given: &Bound<'py, PyAny>,
    on: Option<&Bound<'py, PyAny>>,
    places: Option<Vec<u32>>,
    traced: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<MessageResult<'py>> {
    let spec: MessageSimulationParameters =
        parameters(&object(from_python(given)?)).map_err(|refused| {
            let param = refused.param.trim_start_matches("costs.").to_owned();
            refuse(Refusal { param, ..refused })
        })?;
    let (topology, routing) = driven(on)?;
    let schedule = workload.as_ref().map(|w| &w.get().inner);
    let played = MessageSimulationInputs {
        topology: topology.as_ref(),
        routing: routing.as_ref(),
        schedule,
        places: places.as_deref(),
    };
    afford(py, "simulating messages", |threads| spec.need(played, threads))?;
    let (ran, record) =
        enter(py, progress, |watch| each_seed(&spec, played, traced, watch))?.map_err(stopped)?;
    let (last, costs) = (ran.record.finish_ns, ran.record.parameters);
    let channels = match (&topology, ran.used) {
        (Some(topology), Some(used)) => {
            let ends = (0..used.bytes.len()).map(|c| channel_ends(topology, c));
            let (from, to): (Vec<&str>, Vec<&str>) = ends.map(|[from, to]| (from, to)).unzip();
            let found = PyDict::new(py);
            found.set_item("from", from)?;
            found.set_item("to", to)?;
            found.set_item("plane", PyArray1::from_vec(py, planes(topology)))?;
            let uses = used.uses(last);
            found.set_item("bytes", PyArray1::from_vec(py, used.bytes))?;
            found.set_item("use", PyArray1::from_vec(py, uses))?;
            if !used.spans.is_empty() {
                found.set_item("span_bytes", PyArray2::from_vec2(py, &used.spans)?)?;
            }
            Some(found)
        }
        _ => None,
    };
    let trace = match (&ran.traced, &ran.schedule) {
        (Some(traced), Some(schedule)) => Some(trace_of(py, traced, schedule, &costs)?),
        (Some(traced), None) => schedule.map(|s| trace_of(py, traced, s, &costs)).transpose()?,
        (None, _) => None,
    };
    let record = Value::Object(record.0);
    Ok((to_python(py, &record)?, PyArray1::from_vec(py, ran.finish_ns), channels, trace))
}
