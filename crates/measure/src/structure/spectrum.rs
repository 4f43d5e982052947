//! Eigenvalues of the adjacency matrix and of the Laplacian.
//!
//! Source: Fiedler, "Algebraic connectivity of graphs", Czech. Math. J. 1973.

use super::lanczos::{RitzValue, SymmetricOperator, extremes};
use super::planes_of;
use base::{Graph, Interrupted, ProgressWatch};
use fabric::network::Topology;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// Eigenvalues of the graph of working switches and links; parallel links add up in its matrices.
///
/// A network of several planes has the spectrum of its plane of least algebraic connectivity.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Spectrum")]
pub struct GraphSpectrum {
    /// Largest eigenvalue of the adjacency matrix: the degree, where all switches have the same.
    pub adjacency_largest: f64,
    /// Second largest eigenvalue, equal to the largest where the graph is not connected; none for a
    /// graph of one switch.
    pub adjacency_second: Option<f64>,
    /// Least eigenvalue of the adjacency matrix.
    pub adjacency_least: f64,
    /// Largest eigenvalue minus the second largest.
    pub spectral_gap: Option<f64>,
    /// Second least eigenvalue of the Laplacian (degrees minus adjacency); 0 where the graph is not
    /// connected.
    pub algebraic_connectivity: Option<f64>,
    /// Each of these is no farther than this from an eigenvalue (the largest residual).
    pub error: f64,
}

/// The spectrum, `None` for a network without working switches.
///
/// Lanczos iterations with full reorthogonalisation to a residual of 1e-9 of the largest degree, on
/// each connected part of each plane. O(steps * links + steps^2 * switches), where steps are at
/// most 1500: tens for expanders, hundreds for large tori. Long rings and chains do not converge
/// within 1500 steps, which `error` shows.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn spectrum(
    t: &Topology,
    watch: &dyn ProgressWatch,
) -> Result<Option<GraphSpectrum>, Interrupted> {
    let working: Vec<u32> =
        (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect();
    let mut least: Option<GraphSpectrum> = None;
    for plane in planes_of(t, &working).iter().filter(|p| !p.is_empty()) {
        let found = of_set(t.graph(), plane, watch)?;
        let connectivity = |s: &GraphSpectrum| s.algebraic_connectivity.unwrap_or(f64::INFINITY);
        if least.as_ref().is_none_or(|l| connectivity(&found) < connectivity(l)) {
            least = Some(found);
        }
    }
    Ok(least)
}

/// A connected part of a graph, with its own numbering of switches.
pub(super) struct ConnectedComponent {
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl ConnectedComponent {
    /// The part of `graph` with the switches `members`, in rising order; no link leads out of it.
    pub(super) fn new(graph: &Graph, members: &[u32]) -> Self {
        let mut place = vec![u32::MAX; graph.switches()];
        for (i, &v) in members.iter().enumerate() {
            place[v as usize] = i as u32;
        }
        let (mut offsets, mut targets) = (vec![0], Vec::new());
        for &v in members {
            targets.extend(graph.neighbours(v as usize).iter().map(|&w| place[w as usize]));
            offsets.push(targets.len() as u32);
        }
        Self { offsets, targets }
    }

    pub(super) fn size(&self) -> usize {
        self.offsets.len() - 1
    }

    fn row(&self, v: usize) -> &[u32] {
        &self.targets[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }

    fn degrees(&self) -> (usize, usize) {
        let degree = |v: usize| self.row(v).len();
        let all = (0..self.size()).map(degree);
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    }

    /// Adds the adjacency matrix's product with `x` to `y`.
    fn adjacency(&self, x: &[f64], y: &mut [f64]) {
        y.par_iter_mut().with_min_len(256).enumerate().for_each(|(v, y)| {
            *y += self.row(v).iter().map(|&w| x[w as usize]).sum::<f64>();
        });
    }

    /// Adds the Laplacian's product with `x` to `y`.
    fn laplacian(&self, x: &[f64], y: &mut [f64]) {
        y.par_iter_mut().with_min_len(256).enumerate().for_each(|(v, y)| {
            *y += self.row(v).iter().map(|&w| x[v] - x[w as usize]).sum::<f64>();
        });
    }

    /// The rows of the adjacency matrix: the index at which each begins, and the neighbours.
    pub(super) fn into_rows(self) -> (Vec<u32>, Vec<u32>) {
        (self.offsets, self.targets)
    }

    /// The Laplacian's quadratic form: the sum over links of the squared differences of `x`.
    pub(super) fn quadratic_form(&self, x: &[f64]) -> f64 {
        let ends = (0..self.size()).flat_map(|v| self.row(v).iter().map(move |&w| (v, w)));
        ends.map(|(v, w)| (x[v] - x[w as usize]).powi(2)).sum::<f64>() / 2.0
    }

    /// The least eigenvalue of the Laplacian on vectors orthogonal to `weight`; for equal weights
    /// in a connected part this is the algebraic connectivity. `None` for a single switch.
    pub(super) fn least_without(
        &self,
        weight: &[f64],
        watch: &dyn ProgressWatch,
    ) -> Result<Option<RitzValue>, Interrupted> {
        let length = weight.iter().map(|w| w * w).sum::<f64>().sqrt();
        if self.size() < 2 || length == 0.0 {
            return Ok(None);
        }
        let unit: Vec<f64> = weight.iter().map(|w| w / length).collect();
        let scale = 2.0 * self.degrees().1 as f64;
        let apply = |x: &[f64], y: &mut [f64]| self.laplacian(x, y);
        let op =
            SymmetricOperator { size: self.size(), apply: &apply, without: Some(&unit), scale };
        let [low, _] = extremes(&op, [1, 0], watch)?;
        Ok(low.first().copied())
    }
}

fn of_set(
    graph: &Graph,
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<GraphSpectrum, Interrupted> {
    let parts = connected(graph, set);
    let (mut tops, mut least, mut error) = (Vec::new(), f64::INFINITY, 0.0_f64);
    let mut connectivity = (parts.len() > 1).then_some(0.0);
    for members in &parts {
        let part = ConnectedComponent::new(graph, members);
        let (fewest, most) = part.degrees();
        let apply = |x: &[f64], y: &mut [f64]| part.adjacency(x, y);
        let scale = most as f64;
        let op = SymmetricOperator { size: part.size(), apply: &apply, without: None, scale };
        let [low, high] = extremes(&op, [1, 2], watch)?;
        let errors = low.iter().chain(&high).map(|r| r.error);
        error = errors.fold(error, f64::max);
        least = low.iter().map(|r| r.value).fold(least, f64::min);
        tops.extend(high.iter().map(|r| r.value));
        if parts.len() > 1 || part.size() < 2 {
            continue;
        }
        if fewest == most {
            // the second least eigenvalue of a matrix k - A is k minus the second largest of A
            connectivity = Some(scale - high[0].value);
        } else if let Some(found) = part.least_without(&vec![1.0; part.size()], watch)? {
            connectivity = Some(found.value);
            error = error.max(found.error);
        }
    }
    tops.sort_by(|a, b| b.total_cmp(a));
    let second = tops.get(1).copied();
    Ok(GraphSpectrum {
        adjacency_largest: tops[0],
        adjacency_second: second,
        adjacency_least: least,
        spectral_gap: second.map(|s| tops[0] - s),
        algebraic_connectivity: connectivity,
        error,
    })
}

/// The connected parts of `set`, in the order of their smallest switches; no link leads out of
/// `set`.
pub(super) fn connected(graph: &Graph, set: &[u32]) -> Vec<Vec<u32>> {
    let (component, count) = graph.components();
    let mut parts = vec![Vec::new(); count as usize];
    for &v in set {
        parts[component[v as usize] as usize].push(v);
    }
    parts.retain(|p| !p.is_empty());
    parts
}
