//! The structure of a network: counts, distances, girth, closeness to the Moore bound.
//!
//! Everything is exact, measured on the working switches, links and endpoints, and independent of
//! the number of threads. [`paths`] counts minimal paths in a separate function, because it costs
//! more.

pub mod bisection;
mod bounded;
pub mod channel_load;
pub mod disjoint;
mod flow;
pub mod girth;
mod heaviest;
mod lanczos;
mod packing;
pub mod paths;
mod pattern_load;
pub mod spectrum;
mod symmetry;
mod terminals;
mod union;

// gen:begin
pub mod resilience;
pub mod surveyed;
pub mod traffic_limits;
// gen:end

pub use bisection::{BisectionInterval, bisection};
pub use channel_load::{MinimalPathChannelLoads, minimal_load};
pub use disjoint::{DisjointPathCounts, DisjointPathParameters, disjoint_paths};
pub use girth::girth;
pub use paths::{PathCounts, ShortPathCounts, short_paths};
pub use resilience::{
    FailureCountStatistics, RemovalEndCriterion, RemovedComponentKind, ResilienceParameters,
    ResilienceResult, resilience,
};
pub use spectrum::{GraphSpectrum, spectrum};

use base::distance::{HopDistanceHistogram, distances_among, distances_by_source};
use base::moore::moore_bound;
use base::{Interrupted, LinkId, ProgressWatch, TerminalId};
use fabric::network::Topology;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The structure of a network, as [`structure`] measures it.
///
/// Distances are in hops (switch-to-switch links). A network of several planes is measured plane by
/// plane: no pair joins two planes. Switches that are down are left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Structure")]
pub struct StructureFigures {
    /// Working switches, of all planes.
    pub switches: u64,
    /// Endpoints with at least one working terminal.
    pub endpoints: u64,
    /// Working terminals (rails of endpoints).
    pub terminals: u64,
    /// Working switch-to-switch links, parallel ones counted apart.
    pub links: u64,
    /// Most switch-to-switch ports of any switch, failed cables included.
    pub network_radix: u32,
    /// Most terminals on any switch, failed ones included.
    pub concentration: u32,
    /// Most ports in use of any switch, failed cables included.
    pub radix: u32,
    /// Number of planes.
    pub planes: u16,
    /// Longest distance between connected switches that carry endpoints, hops.
    pub diameter: u32,
    /// Mean distance over connected ordered pairs of switches with endpoints, hops; none without
    /// pairs.
    // the sum and the number of pairs; written as their quotient
    #[serde(serialize_with = "mean")]
    #[schemars(with = "Option<f64>")]
    pub mean_distance: (u64, u64),
    /// Mean distance over connected ordered pairs of distinct terminals of one plane, hops;
    /// terminals on one switch are 0 hops apart.
    #[serde(serialize_with = "mean")]
    #[schemars(with = "Option<f64>")]
    pub mean_distance_endpoints: (u64, u64),
    /// Entry d: ordered pairs of distinct switches with endpoints that are d hops apart.
    pub histogram: Vec<u64>,
    /// Ordered pairs of switches with endpoints that are not connected.
    pub unreachable: u64,
    /// Longest distance between any two connected switches, hops.
    pub diameter_all_switches: u32,
    /// As `mean_distance`, over all switches.
    #[serde(serialize_with = "mean")]
    #[schemars(with = "Option<f64>")]
    pub mean_distance_all_switches: (u64, u64),
    /// Ordered pairs of switches of one plane that are not connected.
    pub unreachable_all_switches: u64,
    /// Length of the shortest cycle, links; 2 with parallel links; none without a cycle.
    pub girth: Option<u32>,
    /// Most switches any network of this network radix and `diameter_all_switches` can have
    /// (saturating); none where a plane is not connected.
    #[serde(serialize_with = "optional_number")]
    #[schemars(with = "Option<f64>")]
    pub moore_bound: Option<u128>,
    /// Switches of the largest plane over `moore_bound`; none without it.
    pub moore_fraction: Option<f64>,
}

impl StructureFigures {
    /// Mean distance over connected ordered pairs of switches with endpoints, hops.
    pub fn mean_distance_hops(&self) -> Option<f64> {
        quotient(self.mean_distance)
    }
}

/// Writes `n` as a JSON number, rounded to floating point above 2^64 - 1.
fn number<S: Serializer>(n: &u128, to: S) -> Result<S::Ok, S::Error> {
    match u64::try_from(*n) {
        Ok(n) => to.serialize_u64(n),
        Err(_) => to.serialize_f64(*n as f64),
    }
}

/// Writes a sum and a count as their quotient.
fn mean<S: Serializer>(of: &(u64, u64), to: S) -> Result<S::Ok, S::Error> {
    quotient(*of).serialize(to)
}

/// As [`number`]; null for none.
#[allow(clippy::ref_option)]
fn optional_number<S: Serializer>(n: &Option<u128>, to: S) -> Result<S::Ok, S::Error> {
    match n {
        Some(n) => number(n, to),
        None => to.serialize_none(),
    }
}

fn quotient((sum, count): (u64, u64)) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

/// Measures `t`.
///
/// O(switches / 512 * diameter * links) word operations for the distances, twice when some switches
/// carry no endpoint; girth as [`girth()`].
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn structure(t: &Topology, watch: &dyn ProgressWatch) -> Result<StructureFigures, Interrupted> {
    let working: Vec<u32> =
        (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect();
    let edge = t.edge_switches();
    let among_edge = by_plane(t, &edge, watch)?;
    let among_all =
        if edge == working { among_edge.clone() } else { by_plane(t, &working, watch)? };
    let between = terminals::between_terminals(t, &edge, &among_edge, watch)?;
    let network_radix = t.network_radix();
    let connected = among_all.unreachable == 0 && !working.is_empty();
    let moore_bound = connected.then(|| moore_bound(network_radix, among_all.diameter()));
    let largest = planes_of(t, &working).iter().map(Vec::len).max().unwrap_or(0);
    let up: Vec<bool> =
        (0..t.terminals().len()).map(|i| t.terminal_is_up(TerminalId::from(i))).collect();
    let mut attached = vec![false; t.endpoints().len()];
    for (terminal, &up) in t.terminals().iter().zip(&up) {
        attached[terminal.endpoint.ix()] |= up;
    }
    Ok(StructureFigures {
        switches: working.len() as u64,
        endpoints: attached.iter().filter(|&&a| a).count() as u64,
        terminals: up.iter().filter(|&&u| u).count() as u64,
        links: (0..t.links().len()).filter(|&l| t.link_is_up(LinkId::from(l))).count() as u64,
        network_radix,
        concentration: t.concentration(),
        radix: t.radix(),
        planes: t.planes(),
        diameter: among_edge.diameter(),
        mean_distance: among_edge.sum_and_pairs(),
        mean_distance_endpoints: between,
        unreachable: among_edge.unreachable,
        histogram: among_edge.histogram,
        diameter_all_switches: among_all.diameter(),
        mean_distance_all_switches: among_all.sum_and_pairs(),
        unreachable_all_switches: among_all.unreachable,
        girth: girth(t.graph(), watch)?,
        moore_bound,
        moore_fraction: moore_bound.map(|bound| largest as f64 / bound as f64),
    })
}

/// The members of `set` in groups, one for each plane.
fn planes_of(t: &Topology, set: &[u32]) -> Vec<Vec<u32>> {
    let mut planes = vec![Vec::new(); usize::from(t.planes())];
    for &v in set {
        planes[usize::from(t.switches()[v as usize].plane)].push(v);
    }
    planes
}

/// Distances among the members of `set` in hops, for pairs of the same plane. Of switches that
/// automorphisms of the network take to one another only one is a source of searches, where such
/// are found.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn by_plane(
    t: &Topology,
    set: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<HopDistanceHistogram, Interrupted> {
    let mut total = HopDistanceHistogram { histogram: Vec::new(), unreachable: 0 };
    for plane in planes_of(t, set) {
        let part = match symmetry::orbits(t, &plane) {
            Some(sources) => distances_by_source(t.graph(), &sources, &plane, watch)?,
            None => distances_among(t.graph(), &plane, watch)?,
        };
        total.unreachable += part.unreachable;
        if total.histogram.len() < part.histogram.len() {
            total.histogram.resize(part.histogram.len(), 0);
        }
        for (sum, n) in total.histogram.iter_mut().zip(&part.histogram) {
            *sum += n;
        }
    }
    Ok(total)
}

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod resilience_tests;
#[cfg(test)]
mod tests;
