//! Graph search: bounds and annealing of the order/degree and order/radix problems.

use crate::enter::{enter, refuse, to_python};
use base::{Interrupted, ProgressWatch};
use design::search::anneal::{
    AnnealingOptions, AnnealingSearch as Annealing, random_mean_distance,
};
use design::search::host::{OrderRadixProblem, host_distances};
use design::search::{OrderDegreeProblem, bounds};
use pyo3::prelude::*;
use serde_json::json;
use std::time::{Duration, Instant};

/// Lower bounds of diameter and mean distance: a dict.
#[pyfunction]
pub fn search_bounds(py: Python<'_>, order: u32, degree: u32) -> PyResult<Bound<'_, PyAny>> {
    let found = bounds::bounds(OrderDegreeProblem::new(order, degree).map_err(refuse)?);
    let all = json!({
        "diameter": found.diameter, "distance_sum": found.distance_sum, "pairs": found.pairs,
    });
    to_python(py, &all)
}

/// Mean over random graphs of the mean distance.
#[pyfunction]
pub fn search_random(py: Python<'_>, order: u32, degree: u32, seed: u64) -> PyResult<f64> {
    let problem = OrderDegreeProblem::new(order, degree).map_err(refuse)?;
    enter(py, None, |_| random_mean_distance(problem, seed, 8))
}

/// Lower bounds of the order/radix problem, and its best `most` designs by their bounds: a dict.
#[pyfunction]
pub fn search_designs(
    py: Python<'_>,
    endpoints: u32,
    radix: u32,
    most: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let problem = OrderRadixProblem::new(endpoints, radix).map_err(refuse)?;
    let found = problem.bounds();
    let designs = enter(py, None, |_| problem.designs(most))?.map_err(refuse)?;
    let designs: Vec<_> = designs
        .iter()
        .map(|d| {
            json!({
                "switches": d.switches, "concentration": d.concentration, "degree": d.degree,
                "distance_sum": d.distance_sum, "endpoints": problem.spread(d.switches),
            })
        })
        .collect();
    let all = json!({
        "diameter": found.diameter, "distance_sum": found.distance_sum, "pairs": found.pairs,
        "designs": designs,
    });
    to_python(py, &all)
}

/// Sum of distances between endpoints and the longest, or None when not connected.
#[pyfunction]
pub fn search_host_distances(
    py: Python<'_>,
    edges: Vec<(u32, u32)>,
    endpoints: Vec<u32>,
) -> PyResult<Option<(u64, u32)>> {
    enter(py, None, |_| host_distances(&edges, &endpoints))
}

/// A search by annealing: made, advanced, looked at, written down.
#[pyclass(module = "flyloom")]
pub struct Search {
    inner: Annealing,
}

/// A watch that also stops when the time is up.
struct DeadlineWatch<'a> {
    watch: &'a dyn ProgressWatch,
    end: Option<Instant>,
}

impl ProgressWatch for DeadlineWatch<'_> {
    fn tick(&self, what: &str, done: u64, total: u64) -> Result<(), Interrupted> {
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return Err(Interrupted);
        }
        self.watch.tick(what, done, total)
    }
}

#[pymethods]
impl Search {
    /// A search that has not begun.
    #[new]
    #[pyo3(signature = (order, degree, seed, restarts, steps=None, symmetry=None))]
    fn new(
        py: Python<'_>,
        order: u32,
        degree: u32,
        seed: u64,
        restarts: u32,
        steps: Option<u64>,
        symmetry: Option<u32>,
    ) -> PyResult<Self> {
        let problem = OrderDegreeProblem::new(order, degree).map_err(refuse)?;
        let options = AnnealingOptions { steps, symmetry, restarts, seed };
        let inner = enter(py, None, |_| Annealing::new(problem, options))?.map_err(refuse)?;
        Ok(Self { inner })
    }

    /// The search written in `text`, called `name` in errors.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str, name: &str) -> PyResult<Self> {
        let inner = enter(py, None, |_| Annealing::from_json(text, name))?.map_err(refuse)?;
        Ok(Self { inner })
    }

    /// The search as text.
    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// Goes on for at most `seconds`; whether it came to its end. After Ctrl-C the search stands
    /// and can be looked at.
    #[pyo3(signature = (seconds=None, progress=None))]
    fn advance(
        &mut self,
        py: Python<'_>,
        seconds: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s.max(0.0)).ok());
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        let inner = &mut self.inner;
        Ok(enter(py, progress, |watch| inner.advance(&DeadlineWatch { watch, end }))?.is_ok())
    }

    /// The best graph so far: a dict.
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let found = enter(py, None, |_| self.inner.best())?;
        let all = json!({
            "diameter": found.score.diameter, "distance_sum": found.score.distance_sum,
            "edges": found.edges, "symmetry": found.symmetry, "steps_done": found.steps_done,
            "order": self.inner.problem().order(), "degree": self.inner.problem().degree(),
            "steps": self.inner.steps(), "seed": self.inner.seed(),
            "restarts": self.inner.restarts(),
        });
        to_python(py, &all)
    }
}
