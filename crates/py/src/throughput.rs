//! Traffic matrices and throughput for Python: demands, routes, bounds.

pub use crate::classes::Traffic;
use crate::classes::{Routing, Topology};
use crate::enter::{enter, refuse, stopped, to_python};
use crate::views::array;
use base::{ComputationError, EndpointId, Refusal, SwitchId};
use measure::load::busiest;
use measure::load::routes;
use measure::load::routes::DemandRoutes;
use measure::load::throughput;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use traffic::demand;
use traffic::demand::DemandEnd;
use traffic::pattern::CommunicationPattern;
use traffic::sending::{self, OfferedTraffic};

#[pymethods]
impl Traffic {
    /// The traffic of a name on `network`: see `traffic::sending`. The fraction `elephants` is for
    /// `elephant`, the `seed` for what is drawn at random.
    #[staticmethod]
    fn named(
        py: Python<'_>,
        network: Py<Topology>,
        name: &str,
        elephants: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let t = network.get().inner.clone();
        let work = |watch: &dyn base::ProgressWatch| -> Result<_, ComputationError> {
            let (sending, exact) = OfferedTraffic::named(&t, name, elephants, seed, watch)?;
            Ok((sending.demand(&t)?, sending, exact))
        };
        let (inner, sending, exact_matching) = enter(py, None, work)?.map_err(stopped)?;
        Ok(Self { on: network, inner, sending, exact_matching })
    }

    /// The names that `named` takes: those of traffic, then those of patterns.
    #[staticmethod]
    fn names() -> (Vec<&'static str>, Vec<&'static str>) {
        (sending::NAMES.to_vec(), CommunicationPattern::names())
    }

    /// The traffic of rows on `network`: sources, destinations and amounts, of equal length. Party
    /// i is endpoint i, or switch -1 - i where it is negative.
    #[staticmethod]
    fn listed(
        py: Python<'_>,
        network: Py<Topology>,
        sources: PyReadonlyArray1<'_, i64>,
        destinations: PyReadonlyArray1<'_, i64>,
        amounts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let party = |&number: &i64| match u32::try_from(number) {
            Ok(endpoint) => DemandEnd::Endpoint(EndpointId(endpoint)),
            Err(_) => DemandEnd::Switch(SwitchId((-1 - number) as u32)),
        };
        let (from, to, much) = (sources.as_array(), destinations.as_array(), amounts.as_array());
        let ends = from.iter().zip(to.iter()).zip(much.iter());
        let pairs = ends.map(|((a, b), x)| (party(a), party(b), *x)).collect();
        let t = network.get().inner.clone();
        let work = |_: &dyn base::ProgressWatch| -> Result<_, Refusal> {
            let sending = OfferedTraffic::between(pairs);
            Ok((sending.demand(&t)?, sending))
        };
        let (inner, sending) = enter(py, None, work)?.map_err(refuse)?;
        Ok(Self { on: network, inner, sending, exact_matching: None })
    }

    /// The network that it is on.
    #[getter]
    fn topology(&self, py: Python<'_>) -> Py<Topology> {
        self.on.clone_ref(py)
    }

    /// Every message, in order: arrays `source` and `destination` of endpoints, and `amount`.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = self.on.get().inner.clone();
        let all = enter(py, None, |_| self.sending.messages(&t))?.map_err(refuse)?;
        let found = PyDict::new(py);
        found.set_item("source", array(py, all.iter().map(|m| m.0.0).collect())?)?;
        found.set_item("destination", array(py, all.iter().map(|m| m.1.0).collect())?)?;
        found.set_item("amount", array(py, all.iter().map(|m| m.2).collect())?)?;
        Ok(found)
    }

    /// Source switch, destination switch and amount of all that leaves its switch: three arrays.
    fn by_switch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = self.on.get().inner.clone();
        let all = enter(py, None, |_| self.inner.by_switch(&t))?.map_err(refuse)?;
        let rows = || all.iter().flat_map(|(s, to)| to.iter().map(move |&(d, x)| (*s, d, x)));
        let found = PyDict::new(py);
        found.set_item("source", array(py, rows().map(|r| r.0).collect())?)?;
        found.set_item("destination", array(py, rows().map(|r| r.1).collect())?)?;
        found.set_item("amount", array(py, rows().map(|r| r.2).collect())?)?;
        Ok(found)
    }

    /// Every flow: source switch, destination terminal, amount.
    fn flows(&self) -> Vec<(u32, u32, f64)> {
        self.inner.flows.iter().map(|(s, t, x)| (s.0, t.0, *x)).collect()
    }

    /// Capacity of every channel, (2 * links,) float64: 1 is what one endpoint can fill, 0 down.
    fn capacities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        array(py, demand::capacities(&self.on.get().inner))
    }

    /// The `top` channels of the largest `loads`, (2 * links,) float64, the busiest first, by the
    /// names and ports of the devices at their ends; see docs/measures.md.
    fn busiest<'py>(
        &self,
        py: Python<'py>,
        loads: PyReadonlyArray1<'_, f64>,
        top: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let t = self.on.get().inner.clone();
        let loads = loads.as_array().to_vec();
        let all = enter(py, None, |_| busiest::busiest(&t, &loads, top))?;
        to_python(py, &serde_json::json!(all))
    }

    /// Bounds on the maximum achievable throughput within `epsilon`, over any paths or over the
    /// routes of `routing`: dict of `lower`, `upper`, `rounds`, and what proves them: `lengths` of
    /// all channels; the demands and routes as in `routes`; what each route carries, `share`.
    #[pyo3(signature = (epsilon, routing=None, progress=None))]
    fn bounds<'py>(
        &self,
        py: Python<'py>,
        epsilon: f64,
        routing: Option<&Routing>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let t = self.on.get().inner.clone();
        let work = |watch: &dyn base::ProgressWatch| match routing {
            Some(tables) => throughput::bounds_over(&tables.inner, &self.inner, epsilon, watch),
            None => throughput::bounds(&t, &self.inner, epsilon, watch),
        };
        let b = enter(py, progress, work)?.map_err(stopped)?;
        let found = arrays(py, &b.routes)?;
        found.set_item("lower", b.lower)?;
        found.set_item("upper", b.upper)?;
        found.set_item("rounds", b.rounds)?;
        found.set_item("lengths", array(py, b.lengths)?)?;
        found.set_item("share", array(py, b.share)?)?;
        Ok(found)
    }

    /// The routes that `routing` leaves to the demands: dict of arrays. `amount` by choice; by
    /// route `choice` and `hops`; `channels` of all routes, one after the other.
    #[pyo3(signature = (routing, progress=None))]
    fn routes<'py>(
        &self,
        py: Python<'py>,
        routing: &Routing,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let work =
            |watch: &dyn base::ProgressWatch| routes::choices(&routing.inner, &self.inner, watch);
        let all = enter(py, progress, work)?.map_err(stopped)?;
        arrays(py, &all)
    }
}

fn arrays<'py>(py: Python<'py>, all: &DemandRoutes) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let choices = 0..all.amount.len();
    let of_route = choices.flat_map(|i| all.of(i).map(move |_| i as u32));
    let hops = (0..all.count()).map(|r| all.channels(r).len() as u32);
    found.set_item("amount", array(py, all.amount.clone())?)?;
    found.set_item("choice", array(py, of_route.collect())?)?;
    found.set_item("hops", array(py, hops.collect())?)?;
    found.set_item("channels", array(py, all.all_channels().to_vec())?)?;
    Ok(found)
}
