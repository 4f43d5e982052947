//! Counters of running fabrics for Python: what they say of a network, and the traffic behind them.

use crate::classes::{Routing, Topology, Traffic};
use crate::enter::{enter, refuse, stopped, to_python};
use crate::views::array;
use base::{ComputationError, ProgressWatch, Refusal};
use formats::counters;
use measure::observed::change::CounterRules;
use measure::observed::estimate::{self, MeasuredLoads};
use measure::observed::observe;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyDict;
use serde_json::json;

/// What counters say of a network: `names` and `texts` of their files in the order of time,
/// `seconds` between samples without times, whether counters of 32 bits `wraps`, and the largest
/// share of wrong bits that a link may have. A dict as of `measure::observed::Observation`.
#[pyfunction]
pub fn observe_counters<'py>(
    py: Python<'py>,
    network: &Topology,
    names: Vec<String>,
    texts: Vec<PyBackedStr>,
    seconds: Option<f64>,
    wraps: bool,
    bit_error_rate: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let on = network.inner.clone();
    let work = |_: &dyn ProgressWatch| -> Result<_, Refusal> {
        let read = |(name, text): (&String, &PyBackedStr)| counters::read(name, text);
        let files = names.iter().zip(&texts).map(read).collect::<Result<Vec<_>, _>>()?;
        observe(&on, &files, &CounterRules { seconds, wraps }, bit_error_rate)
    };
    let found = enter(py, None, work)?.map_err(refuse)?;
    to_python(py, &json!(found))
}

/// The load of every channel, (2 * links,) float64, of `traffic` over `routing`, in its unit.
#[pyfunction]
#[pyo3(signature = (routing, traffic, progress=None))]
pub fn predicted_loads<'py>(
    py: Python<'py>,
    routing: &Routing,
    traffic: &Traffic,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (tables, demand) = (&routing.inner, &traffic.inner);
    let work = |watch: &dyn ProgressWatch| estimate::loads(tables, demand, watch);
    array(py, enter(py, progress, work)?.map_err(stopped)?)
}

/// The traffic that explains loads in Gbit/s over `routing`, NaN where one is not known: of the
/// channels of links, and of what every terminal sent and received. A dict with arrays `switch`,
/// `terminal` and `gbps`, and `unknowns`, `equations`, `residual`, `gravity_residual`, `passes`.
#[pyfunction]
#[pyo3(signature = (routing, channels, sent, received, progress=None))]
pub fn estimated_traffic<'py>(
    py: Python<'py>,
    routing: &Routing,
    channels: PyReadonlyArray1<'py, f64>,
    sent: PyReadonlyArray1<'py, f64>,
    received: PyReadonlyArray1<'py, f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let known = |values: PyReadonlyArray1<'_, f64>| -> Vec<Option<f64>> {
        values.as_array().iter().map(|x| x.is_finite().then_some(*x)).collect()
    };
    let measured =
        MeasuredLoads { channels: known(channels), sent: known(sent), received: known(received) };
    let on = routing.inner.topology();
    let (links, terminals) = (on.links().len() * 2, on.terminals().len());
    let lengths = [measured.channels.len(), measured.sent.len(), measured.received.len()];
    if lengths != [links, terminals, terminals] {
        let why = format!("{lengths:?} loads");
        let help = format!("{links} of channels and {terminals} of terminals, twice");
        return Err(refuse(Refusal::new("loads", why, help)));
    }
    let tables = &routing.inner;
    let work = |watch: &dyn ProgressWatch| -> Result<_, ComputationError> {
        estimate::estimate(tables, &measured, watch)
    };
    let found = enter(py, progress, work)?.map_err(stopped)?;
    let all = PyDict::new(py);
    all.set_item("switch", array(py, found.flows.iter().map(|f| f.0.0).collect::<Vec<u32>>())?)?;
    all.set_item("terminal", array(py, found.flows.iter().map(|f| f.1.0).collect::<Vec<u32>>())?)?;
    all.set_item("gbps", array(py, found.flows.iter().map(|f| f.2).collect::<Vec<f64>>())?)?;
    all.set_item("unknowns", found.unknowns)?;
    all.set_item("equations", found.equations)?;
    all.set_item("residual", found.residual)?;
    all.set_item("gravity_residual", found.gravity_residual)?;
    all.set_item("passes", found.passes)?;
    Ok(all)
}
