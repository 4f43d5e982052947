//! Mappings for Python: communication graphs, where processes can be, what is found.

use crate::classes::{Routing, Topology, Workload};
use crate::enter::{afford, enter, enter_to_last, from_python, object, refuse, stopped, to_python};
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal, ResourceNeed};
use formats::communication::{CommunicationMatrix, FORMATS as GRAPHS};
use formats::mapping::{self as files, FORMATS};
use lab::joint::{JointMappingRequest, joint};
use mapping::bounds::bounds;
use mapping::busy::busiest;
use mapping::chain;
use mapping::evaluate::evaluate;
use mapping::map::{MappingRequest, map};
use mapping::method::METHODS;
use mapping::paths::TrafficPathRule;
use mapping::slots::ProcessSlots;
use mapping::spec::{HOPS_LIMIT, HOPS_LIMIT_WITH_ROUTING, MappingParameters};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::sync::Arc;
use traffic::communication::{KINDS, ProcessPairTraffic, made};
use verify::RouteLimits;

/// Who sends how many bytes, in how many messages, to whom.
#[pyclass(frozen, module = "flyloom._core")]
pub struct Communication {
    inner: traffic::communication::CommunicationGraph,
    /// Why the values of a matrix are no bytes: then only its pattern counts.
    unfit: Option<Refusal>,
}

impl Communication {
    fn new(inner: traffic::communication::CommunicationGraph) -> Self {
        Self { inner, unfit: None }
    }

    /// The graph with its bytes.
    fn graph(&self) -> PyResult<&traffic::communication::CommunicationGraph> {
        match &self.unfit {
            None => Ok(&self.inner),
            Some(refused) => Err(refuse(refused.clone())),
        }
    }
}

#[pymethods]
impl Communication {
    /// The graph that files hold, one but of monitoring: name and text of each.
    #[staticmethod]
    fn read(py: Python<'_>, files: Vec<(String, String)>) -> PyResult<Self> {
        let inner = enter(py, None, |_| {
            let texts: Vec<(String, &str)> =
                files.iter().map(|(name, text)| (name.clone(), text.as_str())).collect();
            formats::communication::matrix(&texts)
        })?;
        let CommunicationMatrix { pattern: inner, unfit } = inner.map_err(refuse)?;
        Ok(Self { inner, unfit })
    }

    /// A graph by its kind and parameters.
    #[staticmethod]
    fn make(py: Python<'_>, kind: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let given = object(from_python(given)?);
        let inner = enter(py, None, |_| made(kind, &given))?;
        Ok(Self::new(inner.map_err(refuse)?))
    }

    /// What the ranks of a schedule send.
    #[staticmethod]
    fn of_workload(py: Python<'_>, workload: Py<Workload>) -> PyResult<Self> {
        let work = |_: &dyn ProgressWatch| {
            traffic::communication::CommunicationGraph::of_schedule(&workload.get().inner)
        };
        Ok(Self::new(enter(py, None, work)?.map_err(refuse)?))
    }

    /// From columns: senders, receivers, bytes.
    #[staticmethod]
    fn of_columns(
        processes: u64,
        senders: PyReadonlyArray1<'_, i64>,
        receivers: PyReadonlyArray1<'_, i64>,
        bytes: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let processes = traffic::communication::check_processes(processes).map_err(refuse)?;
        let rank = |what: &str, rank: i64| {
            let rank = u64::try_from(rank).unwrap_or(u64::MAX);
            traffic::communication::check_rank(what, rank, processes).map_err(refuse)
        };
        let mut sent = Vec::with_capacity(senders.len()?);
        for ((a, b), amount) in
            senders.as_array().iter().zip(receivers.as_array()).zip(bytes.as_array())
        {
            let (from, to) = (rank("sender", *a)?, rank("receiver", *b)?);
            sent.push(ProcessPairTraffic { from, to, bytes: *amount, messages: 1.0 });
        }
        let CommunicationMatrix { pattern: inner, unfit } =
            CommunicationMatrix::of(processes, sent).map_err(refuse)?;
        Ok(Self { inner, unfit })
    }

    /// What the halo exchange of this matrix in `parts` parts sends.
    #[pyo3(signature = (parts, seed=0, progress=None))]
    fn halo(
        &self,
        py: Python<'_>,
        parts: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let work = |watch: &dyn ProgressWatch| mapping::halo::halo(&self.inner, parts, seed, watch);
        Ok(Self::new(enter(py, progress, work)?.map_err(stopped)?))
    }

    /// How many processes there are.
    #[getter]
    fn processes(&self) -> u32 {
        self.inner.processes()
    }

    /// How many ordered pairs communicate.
    #[getter]
    fn pairs(&self) -> usize {
        self.inner.pairs()
    }

    /// Bytes of all pairs.
    #[getter]
    fn total_bytes(&self) -> PyResult<f64> {
        Ok(self.graph()?.total_bytes())
    }

    /// Columns `from`, `to`, `bytes`, `messages`.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let graph = self.graph()?;
        let sent = || graph.sent();
        found.set_item("from", PyArray1::from_iter(py, sent().map(|s| s.from)))?;
        found.set_item("to", PyArray1::from_iter(py, sent().map(|s| s.to)))?;
        found.set_item("bytes", PyArray1::from_iter(py, sent().map(|s| s.bytes)))?;
        found.set_item("messages", PyArray1::from_iter(py, sent().map(|s| s.messages)))?;
        Ok(found)
    }

    /// The graph as Matrix Market.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let graph = self.graph()?;
        enter(py, None, |_| {
            let mut text = String::new();
            formats::communication::write_market(graph, &mut text).expect("strings take all");
            text
        })
    }

    fn __repr__(&self) -> String {
        let it = &self.inner;
        format!("Communication(processes={}, pairs={})", it.processes(), it.pairs())
    }
}

/// The parameters of a mapping, from a dict.
fn spec_of(given: &Bound<'_, PyAny>) -> PyResult<MappingParameters> {
    base::fields::typed(&from_python(given)?)
        .map_err(|(field, why)| refuse(Refusal::new(field, why, "docs/mapping.md has all")))
}

/// The network and the tables where there are some.
struct MappingNetwork {
    topology: Arc<fabric::Topology>,
    routing: Option<fabric::tables::Routing>,
}

impl MappingNetwork {
    fn of(on: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(tables) = on.cast::<Routing>() {
            let routing = tables.get().inner.clone();
            return Ok(Self { topology: routing.topology().clone(), routing: Some(routing) });
        }
        let topology = on.cast::<Topology>()?.get().inner.clone();
        Ok(Self { topology, routing: None })
    }

    fn paths(&self) -> TrafficPathRule<'_> {
        self.routing
            .as_ref()
            .map_or(TrafficPathRule::Shortest(&self.topology), TrafficPathRule::Tables)
    }
}

/// The figures of the linear mapping; null where there are too few slots.
fn linear(
    paths: TrafficPathRule<'_>,
    graph: &traffic::communication::CommunicationGraph,
    slots: &ProcessSlots,
    watch: &dyn ProgressWatch,
) -> Result<Value, ComputationError> {
    if graph.processes() as usize > slots.count() {
        return Ok(Value::Null);
    }
    let first: Vec<u32> = (0..graph.processes()).map(|s| slots.endpoint(s)).collect();
    Ok(json!(evaluate(paths, graph, &first, watch)?.figures))
}

/// The figures of a mapping, with bounds, and those of the linear mapping on the same paths.
fn figures(
    on: &MappingNetwork,
    graph: &traffic::communication::CommunicationGraph,
    slots: &ProcessSlots,
    places: &[u32],
    linear_by: TrafficPathRule<'_>,
    watch: &dyn ProgressWatch,
) -> Result<Value, ComputationError> {
    let paths = on.paths();
    let found = evaluate(paths, graph, places, watch)?;
    let low = bounds(&on.topology, slots, graph);
    let linear = linear(linear_by, graph, slots, watch)?;
    let busy = busiest(paths, graph, places, &found.loads, 5, 8)?;
    let name =
        |plug: fabric::network::CablePlug| on.topology.switches()[plug.switch.ix()].name.clone();
    let busy: Vec<Value> = busy
        .iter()
        .map(|one| {
            let c = base::ChannelId(one.channel);
            json!({
                "from": name(on.topology.tail(c)), "to": name(on.topology.head(c)),
                "load": one.load, "pairs": one.pairs,
            })
        })
        .collect();
    let it = &found.figures;
    Ok(json!({
        "processes": places.len(), "hop_bytes": it.hop_bytes,
        "average_dilation": it.average_dilation, "maximum_dilation": it.maximum_dilation,
        "maximum_congestion": it.maximum_congestion, "mean_congestion": it.mean_congestion,
        "endpoint_congestion": it.endpoint_congestion,
        "hop_bytes_bound": low.hop_bytes, "congestion_bound": low.congestion,
        "linear": linear, "busiest": busy, "mapping": places,
    }))
}

/// Maps the processes of a graph: the figures, the mapping, whether it was interrupted. `start` is
/// the mapping that the first step begins with.
#[pyfunction]
#[pyo3(signature = (on, graph, given, progress=None, start=None))]
pub fn map_processes<'py>(
    py: Python<'py>,
    on: &Bound<'py, PyAny>,
    graph: Py<Communication>,
    given: &Bound<'py, PyAny>,
    progress: Option<Py<PyAny>>,
    start: Option<Vec<u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (on, given) = (MappingNetwork::of(on)?, spec_of(given)?);
    let steps = chain::parse(&given.method).map_err(refuse)?;
    let pins = given.pins();
    let graph = graph.get().graph()?;
    let work = |watch: &dyn ProgressWatch| -> Result<Value, ComputationError> {
        let slots = ProcessSlots::new(&on.topology, given.hosts.as_deref(), given.per_endpoint)?;
        let request = MappingRequest {
            graph,
            paths: on.paths(),
            slots: &slots,
            pins: &pins,
            steps: &steps,
            start: start.as_deref(),
            objective: given.objective,
            hops_limit: given.hops_limit.unwrap_or(HOPS_LIMIT),
            effort: given.effort,
            seed: given.seed,
        };
        let mapped = map(&request, watch)?;
        let mut found = if mapped.interrupted {
            figures(&on, graph, &slots, &mapped.places, on.paths(), &QuietWatch)?
        } else {
            figures(&on, graph, &slots, &mapped.places, on.paths(), watch)?
        };
        found["interrupted"] = mapped.interrupted.into();
        Ok(found)
    };
    to_python(py, &enter_to_last(py, progress, work)?.map_err(stopped)?)
}

/// Maps the processes of a graph and makes tables for them: the figures under these tables, and
/// they. `start` is a mapping that is kept.
#[pyfunction]
#[pyo3(signature = (on, graph, given, layers, options, start=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "as Python calls it")]
pub fn map_with_routing<'py>(
    py: Python<'py>,
    on: Py<Topology>,
    graph: Py<Communication>,
    given: &Bound<'py, PyAny>,
    layers: u32,
    options: &Bound<'py, PyAny>,
    start: Option<Vec<u32>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Routing)> {
    let (given, options) = (spec_of(given)?, object(from_python(options)?));
    let steps = chain::parse(&given.method).map_err(refuse)?;
    let pins = given.pins();
    let on = on.get().inner.clone();
    let graph = graph.get().graph()?;
    let work =
        |watch: &dyn ProgressWatch| -> Result<(Value, fabric::tables::Routing), ComputationError> {
            let slots = ProcessSlots::new(&on, given.hosts.as_deref(), given.per_endpoint)?;
            let request = MappingRequest {
                graph,
                paths: TrafficPathRule::Shortest(&on),
                slots: &slots,
                pins: &pins,
                steps: &steps,
                start: start.as_deref(),
                objective: given.objective,
                hops_limit: given.hops_limit.unwrap_or(HOPS_LIMIT_WITH_ROUTING),
                effort: given.effort,
                seed: given.seed,
            };
            let found =
                joint(&JointMappingRequest { on: &on, request, layers, options: &options }, watch)?;
            let to_last: &dyn ProgressWatch =
                if found.mapped.interrupted { &QuietWatch } else { watch };
            let proof = verify::verify(&found.routing, RouteLimits::NONE, to_last)?;
            let tables =
                MappingNetwork { topology: on.clone(), routing: Some(found.routing.clone()) };
            let (places, shortest) = (&found.mapped.places, TrafficPathRule::Shortest(&on));
            let mut report = figures(&tables, graph, &slots, places, shortest, to_last)?;
            report["interrupted"] = found.mapped.interrupted.into();
            report["verified"] = proof.holds().into();
            report["lanes"] = found.routing.lanes().count().into();
            report["layers"] = found.routing.layers().into();
            report["routing_bound"] = json!(found.bound);
            report["steps"] = json!(found.steps);
            Ok((report, found.routing))
        };
    let (report, routing) = enter_to_last(py, progress, work)?.map_err(stopped)?;
    Ok((to_python(py, &report)?, Routing { inner: routing, addresses: None }))
}

/// What a mapping is worth: `places` has the endpoint of each process.
#[pyfunction]
#[pyo3(signature = (on, graph, places, hosts, per_endpoint, progress=None))]
pub fn evaluate_mapping<'py>(
    py: Python<'py>,
    on: &Bound<'py, PyAny>,
    graph: Py<Communication>,
    places: Vec<u32>,
    hosts: Option<Vec<u32>>,
    per_endpoint: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (on, graph) = (MappingNetwork::of(on)?, graph.get().graph()?);
    let work = |watch: &dyn ProgressWatch| -> Result<Value, ComputationError> {
        let slots = ProcessSlots::new(&on.topology, hosts.as_deref(), per_endpoint)?;
        figures(&on, graph, &slots, &places, on.paths(), watch)
    };
    to_python(py, &enter(py, progress, work)?.map_err(stopped)?)
}

/// The load of every channel under a mapping: columns `from`, `to`, `load`.
#[pyfunction]
#[pyo3(signature = (on, graph, places, progress=None))]
pub fn mapping_loads<'py>(
    py: Python<'py>,
    on: &Bound<'py, PyAny>,
    graph: Py<Communication>,
    places: Vec<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (on, graph) = (MappingNetwork::of(on)?, graph.get().graph()?);
    let work = |watch: &dyn ProgressWatch| evaluate(on.paths(), graph, &places, watch);
    let loads = enter(py, progress, work)?.map_err(stopped)?.loads;
    let channels = || (0..loads.len()).map(base::ChannelId::from);
    let found = PyDict::new(py);
    let switch = |plug: fabric::network::CablePlug| plug.switch.0;
    found.set_item(
        "from",
        PyArray1::from_iter(py, channels().map(|c| switch(on.topology.tail(c)))),
    )?;
    found
        .set_item("to", PyArray1::from_iter(py, channels().map(|c| switch(on.topology.head(c)))))?;
    found.set_item("load", PyArray1::from_slice(py, &loads))?;
    Ok(found)
}

/// Memory that a slot takes here and in Python, bytes.
const SLOT_BYTES: f64 = 128.0;

/// The endpoint of each slot.
fn order(slots: &ProcessSlots) -> Vec<u32> {
    (0..slots.count() as u32).map(|s| slots.endpoint(s)).collect()
}

/// The endpoints that a host list names, each as often as it has slots there.
#[pyfunction]
pub fn hosts_of(py: Python<'_>, on: Py<Topology>, text: String) -> PyResult<Vec<u32>> {
    let topology = on.get().inner.clone();
    let found = enter(py, None, |_| files::hosts(&topology, &text))?.map_err(refuse)?;
    let slots = found.len();
    afford(py, &format!("a list of {slots} slots"), |_| {
        ResourceNeed::new(SLOT_BYTES * slots as f64, 0.0)
    })?;
    Ok(found)
}

/// The pinned processes of a text: rank and endpoint of each.
#[pyfunction]
pub fn pins_of(py: Python<'_>, on: Py<Topology>, text: String) -> PyResult<Vec<(u32, u32)>> {
    let topology = on.get().inner.clone();
    enter(py, None, |_| files::pins(&topology, &text))?.map_err(refuse)
}

/// The endpoint of each process by a mapping file, of a format or of the one that the text shows.
#[pyfunction]
#[pyo3(signature = (on, text, format=None, hosts=None, per_endpoint=None))]
pub fn mapping_of(
    py: Python<'_>,
    on: Py<Topology>,
    text: String,
    format: Option<String>,
    hosts: Option<Vec<u32>>,
    per_endpoint: Option<u32>,
) -> PyResult<Vec<u32>> {
    let topology = on.get().inner.clone();
    let work = |_: &dyn ProgressWatch| {
        let format = format.as_deref().map(files::format).transpose()?;
        let all = ProcessSlots::new(&topology, hosts.as_deref(), per_endpoint)?;
        let order = order(&all);
        files::read(&topology, &text, &order, format)
    };
    enter(py, None, work)?.map_err(refuse)
}

/// The text of a mapping in a format.
#[pyfunction]
#[pyo3(signature = (on, places, format, hosts=None, per_endpoint=None))]
pub fn mapping_text(
    py: Python<'_>,
    on: Py<Topology>,
    places: Vec<u32>,
    format: String,
    hosts: Option<Vec<u32>>,
    per_endpoint: Option<u32>,
) -> PyResult<String> {
    let topology = on.get().inner.clone();
    let work = |_: &dyn ProgressWatch| {
        let all = ProcessSlots::new(&topology, hosts.as_deref(), per_endpoint)?;
        let order = order(&all);
        files::write(&topology, &places, &order, files::format(&format)?)
    };
    enter(py, None, work)?.map_err(refuse)
}

/// What there is: methods, formats of mappings and of graphs, kinds of graphs that are made.
#[pyfunction]
pub fn mapping_names(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows = |all: Vec<(&str, &str)>| -> Value {
        all.iter().map(|(name, doc)| json!({ "name": name, "doc": doc })).collect()
    };
    let found = json!({
        "methods": rows(METHODS.iter().map(|m| (m.part.name, m.part.doc)).collect()),
        "formats": rows(FORMATS.iter().map(|(name, _, doc)| (*name, *doc)).collect()),
        "graphs": rows(GRAPHS.iter().map(|f| (f.part.name, f.part.doc)).collect()),
        "kinds": KINDS
            .iter()
            .map(|(name, doc, keys)| json!({ "name": name, "doc": doc, "keys": keys }))
            .collect::<Value>(),
    });
    to_python(py, &found)
}
