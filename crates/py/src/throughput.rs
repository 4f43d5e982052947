//! Traffic matrices and throughput for Python: demands, routes, bounds.

use crate::enter::{enter, interrupted, refuse};
use crate::routing::Routing;
use crate::topology::Topology;
use base::{EndpointId, Refusal, SwitchId};
use net::load::demand::{self, Demand, Party};
use net::load::{routes, throughput};
use net::structure::MeasureError;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What endpoints want to send to one another on a network.
#[pyclass(frozen, module = "flyloom")]
pub struct Traffic {
    on: Py<Topology>,
    inner: Demand,
    /// Whether a matching is known to be the longest; None for other traffic.
    #[pyo3(get)]
    exact_matching: Option<bool>,
}

fn failed(error: MeasureError) -> PyErr {
    match error {
        MeasureError::Refused(refusal) => refuse(refusal),
        MeasureError::Interrupted(_) => interrupted(),
    }
}

#[pymethods]
impl Traffic {
    /// `uniform`, `longest_matching` or `elephant` traffic on `network`; the fraction `elephants`
    /// and the `seed` are for the last.
    #[staticmethod]
    fn named(
        py: Python<'_>,
        network: Py<Topology>,
        name: &str,
        elephants: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let t = network.get().inner.clone();
        let work = |_: &dyn base::Watch| -> Result<(Demand, Option<bool>), Refusal> {
            if name == "uniform" {
                return Ok((Demand::uniform(&t)?, None));
            }
            let large = match name {
                "longest_matching" => None,
                "elephant" => Some((elephants, seed)),
                other => {
                    let why = format!("there is no '{other}'");
                    let help = "uniform, longest_matching, elephant, or a CSV file";
                    return Err(Refusal::new("traffic", why, help));
                }
            };
            let matching = demand::longest_matching(&t)?;
            Ok((Demand::matched(&t, &matching, large)?, Some(matching.exact)))
        };
        let (inner, exact_matching) = enter(py, None, work)?.map_err(refuse)?;
        Ok(Self { on: network, inner, exact_matching })
    }

    /// The traffic of rows (source is a switch, its number, destination is a switch, its number,
    /// amount) on `network`.
    #[staticmethod]
    fn listed(
        py: Python<'_>,
        network: Py<Topology>,
        rows: Vec<(bool, u32, bool, u32, f64)>,
    ) -> PyResult<Self> {
        let party = |switch, number| match switch {
            true => Party::Switch(SwitchId(number)),
            false => Party::Endpoint(EndpointId(number)),
        };
        let pairs: Vec<_> =
            rows.into_iter().map(|(s, a, d, b, x)| (party(s, a), party(d, b), x)).collect();
        let t = network.get().inner.clone();
        let inner = enter(py, None, |_| Demand::between(&t, &pairs))?.map_err(refuse)?;
        Ok(Self { on: network, inner, exact_matching: None })
    }

    /// Source switch, destination switch and amount of all that leaves its switch: three arrays.
    fn by_switch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let t = self.on.get().inner.clone();
        let all = enter(py, None, |_| self.inner.by_switch(&t))?.map_err(refuse)?;
        let rows = || all.iter().flat_map(|(s, to)| to.iter().map(move |&(d, x)| (*s, d, x)));
        let found = PyDict::new(py);
        found.set_item("source", PyArray1::from_iter(py, rows().map(|r| r.0)))?;
        found.set_item("destination", PyArray1::from_iter(py, rows().map(|r| r.1)))?;
        found.set_item("amount", PyArray1::from_iter(py, rows().map(|r| r.2)))?;
        Ok(found)
    }

    /// Capacity of every channel, (2 * links,) float64: 1 is what one endpoint can fill, 0 down.
    fn capacities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, demand::capacities(&self.on.get().inner))
    }

    /// Bounds on the maximum achievable throughput over any paths, within `epsilon`:
    /// (lower, upper, phases).
    #[pyo3(signature = (epsilon, progress=None))]
    fn bounds(
        &self,
        py: Python<'_>,
        epsilon: f64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(f64, f64, u32)> {
        let t = self.on.get().inner.clone();
        let work = |watch: &dyn base::Watch| throughput::bounds(&t, &self.inner, epsilon, watch);
        let b = enter(py, progress, work)?.map_err(failed)?;
        Ok((b.lower, b.upper, b.phases))
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
        let work = |watch: &dyn base::Watch| routes::choices(&routing.inner, &self.inner, watch);
        let all = enter(py, progress, work)?.map_err(failed)?;
        let of_all =
            || all.iter().enumerate().flat_map(|(i, c)| c.routes.iter().map(move |r| (i, r)));
        let found = PyDict::new(py);
        found.set_item("amount", PyArray1::from_iter(py, all.iter().map(|c| c.amount)))?;
        found.set_item("choice", PyArray1::from_iter(py, of_all().map(|(i, _)| i as u32)))?;
        found.set_item("hops", PyArray1::from_iter(py, of_all().map(|(_, r)| r.len() as u32)))?;
        let channels = of_all().flat_map(|(_, r)| r.iter().copied());
        found.set_item("channels", PyArray1::from_iter(py, channels))?;
        Ok(found)
    }
}
