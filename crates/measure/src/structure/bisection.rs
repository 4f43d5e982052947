//! Bisection: the fewest links that separate the endpoints into two equal halves, as an interval.
//!
//! Source: Fiedler, "Algebraic connectivity of graphs", 1973 (the bound by the spectrum); Valiant &
//! Brebner, "Universal schemes for parallel communication", STOC 1981 (the routing in two phases on
//! which the bound by flow is based). For the search of a cut see [`base::partition`].

use super::channel_load::{split_evenly, terminal_weights, unit_load};
use super::planes_of;
use super::spectrum::{ConnectedComponent, connected};
use super::symmetry::alike;
use base::ComputationError;
use base::partition::{GraphBisection, WeightedGraph, halve};
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch, Refusal};
use fabric::network::Topology;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The interval in which the bisection lies.
///
/// The switches are put on two sides such that the numbers of terminals on them differ as little as
/// possible; switches without terminals may be on either side. The bisection is the fewest working
/// links between the sides. Planes are divided separately, and their links added up.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Bisection")]
pub struct BisectionInterval {
    /// A lower bound: every such partition has at least this number of links between its sides.
    pub low: u64,
    /// The number of links of the best partition found.
    pub high: u64,
    /// The lower bound by the spectrum alone.
    pub low_by_spectrum: u64,
    /// The lower bound by flow alone.
    pub low_by_flow: u64,
    /// The difference of the numbers of terminals on the two sides, summed over all planes.
    pub difference: u64,
    /// The side of each switch in the partition found.
    #[serde(skip)]
    pub side: Vec<bool>,
}

/// The largest number of runs of the search for a cut.
pub const MOST_STARTS: u32 = 1 << 20;

/// Measures the bisection with `starts` runs of the search for a cut, which draw from `seed`.
///
/// Both lower bounds hold for every partition whose sides differ by no more than `difference`. By
/// the spectrum: with +1 and -1 for the sides, the cut is a quarter of the Laplacian's quadratic
/// form, at least its least eigenvalue on vectors orthogonal to the terminals times their length.
/// By flow: if every switch spreads its terminals' traffic evenly over some intermediate switches,
/// and from there to its targets, then any permutation of the terminals loads a link by no more
/// than the spreading loads both its channels; a permutation that sends all terminals to the other
/// side loads the cut with half of them. O(starts * links * log(links)), in parallel, and the cost
/// of [`super::spectrum()`] and [`super::minimal_load`].
///
/// # Errors
/// When `starts` is 0 or above [`MOST_STARTS`], or `watch` says stop.
pub fn bisection(
    t: &Topology,
    starts: u32,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<BisectionInterval, ComputationError> {
    bisection_with(t, starts, seed, None, watch)
}

/// As [`bisection`], for callers that may already have the load of unit traffic over minimal paths.
///
/// # Errors
/// As [`bisection`].
pub(super) fn bisection_with(
    t: &Topology,
    starts: u32,
    seed: u64,
    unit: Option<&[f64]>,
    watch: &dyn ProgressWatch,
) -> Result<BisectionInterval, ComputationError> {
    if !(1..=MOST_STARTS).contains(&starts) {
        let help = format!("1 to {MOST_STARTS}");
        return Err(Refusal::new("starts", format!("{starts} runs"), help).into());
    }
    let working: Vec<u32> =
        (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect();
    let mass = terminal_weights(t);
    let mut total = BisectionInterval {
        low: 0,
        high: 0,
        low_by_spectrum: 0,
        low_by_flow: 0,
        difference: 0,
        side: vec![false; t.switches().len()],
    };
    let mut measured: Vec<PlaneBisectionInterval> = Vec::new();
    for switches in planes_of(t, &working).into_iter().filter(|p| !p.is_empty()) {
        let masses: Vec<u64> = switches.iter().map(|&v| mass[v as usize] as u64).collect();
        let here = |p: &&PlaneBisectionInterval| {
            p.masses == masses && alike(t.graph(), &p.switches, &switches)
        };
        if let Some(like) = measured.iter().find(here) {
            total.add(like, &switches);
            continue;
        }
        let found = best_cut(t, &switches, &masses, starts, seed, watch)?;
        let (mut by_spectrum, mut by_flow) = (0, 0);
        // a disconnected plane has no lower bound: its parts may lie on either side
        if connected(t.graph(), &switches).len() == 1 {
            by_spectrum = bound_by_spectrum(t, &switches, &mass, found.difference, watch)?;
            by_flow = bound_by_flow(t, &switches, &mass, found.difference, unit, watch)?;
        }
        let plane = PlaneBisectionInterval { switches, masses, found, by_spectrum, by_flow };
        total.add(&plane, &plane.switches);
        measured.push(plane);
    }
    Ok(total)
}

/// The bisection of one plane.
struct PlaneBisectionInterval {
    switches: Vec<u32>,
    masses: Vec<u64>,
    found: GraphBisection,
    by_spectrum: u64,
    by_flow: u64,
}

impl BisectionInterval {
    /// Adds the bisection of another plane with these `switches`, which is equal to that of
    /// `plane`.
    fn add(&mut self, plane: &PlaneBisectionInterval, switches: &[u32]) {
        self.low_by_spectrum += plane.by_spectrum;
        self.low_by_flow += plane.by_flow;
        self.low += plane.by_spectrum.max(plane.by_flow);
        self.high += plane.found.cut;
        self.difference += plane.found.difference;
        for (&v, &side) in switches.iter().zip(&plane.found.side) {
            self.side[v as usize] = side;
        }
    }
}

fn best_cut(
    t: &Topology,
    plane: &[u32],
    masses: &[u64],
    starts: u32,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<GraphBisection, ComputationError> {
    let slack = least_difference(masses);
    let part = ConnectedComponent::new(t.graph(), plane);
    let (offsets, targets) = part.into_rows();
    let weights = vec![1; targets.len()];
    let graph = WeightedGraph { offsets, targets, weights, masses: masses.to_vec(), held: 0 };
    let done = AtomicU64::new(0);
    let tick = || watch.tick("bisection", done.load(Ordering::Relaxed), starts.into());
    let key = |(start, h): &(u32, GraphBisection)| (h.difference, h.cut, *start);
    let best = (0..starts)
        .into_par_iter()
        .map(|start| {
            let mut draw = RandomStream::new(seed, "halves", start.into());
            let found = halve(&graph, slack, &mut draw, &tick)?;
            done.fetch_add(1, Ordering::Relaxed);
            Ok((start, found))
        })
        .try_reduce_with(|a, b| Ok(if key(&a) <= key(&b) { a } else { b }));
    let best: Result<_, Interrupted> = best.expect("there is at least one start");
    Ok(best?.1)
}

/// The least difference of the masses of two sides. It is found from a bit set of all sums that
/// subsets can have.
fn least_difference(masses: &[u64]) -> u64 {
    let total: u64 = masses.iter().sum();
    let mut sorted = masses.to_vec();
    sorted.sort_unstable();
    let words = (total / 2 / 64 + 1) as usize;
    let mut reachable = vec![0_u64; words];
    reachable[0] = 1;
    for same in sorted.chunk_by(|a, b| a == b).filter(|same| same[0] > 0) {
        // groups of 1, 2, 4, ... equal masses and the remainder can form every number of these
        // masses
        let (mut left, mut step) = (same.len() as u64, 1);
        while left > 0 {
            let take = step.min(left);
            add_shifted(&mut reachable, same[0] * take);
            left -= take;
            step *= 2;
        }
    }
    let is_reachable = |s: &u64| reachable[(s / 64) as usize] >> (s % 64) & 1 == 1;
    let nearest = (0..=total / 2).rev().find(is_reachable).unwrap_or(0);
    total - 2 * nearest
}

/// Sets, for every bit that is set, also the bit that is `shift` positions higher.
fn add_shifted(bits: &mut [u64], shift: u64) {
    let (words, rest) = ((shift / 64) as usize, shift % 64);
    for i in (words..bits.len()).rev() {
        let mut moved = bits[i - words] << rest;
        if rest > 0 && i > words {
            moved |= bits[i - words - 1] >> (64 - rest);
        }
        bits[i] |= moved;
    }
}

/// Rounds a bound up, after subtracting what rounding errors may have added.
fn whole(bound: f64) -> u64 {
    (bound * (1.0 - 1e-9) - 1e-9).ceil().max(0.0) as u64
}

/// The bound (sqrt(least (n - a^2)) - a sqrt(u L u))^2 / 4. Here u is the vector of terminals,
/// scaled to length 1, and a is the largest component along u of a vector of +1 and -1 with this
/// difference.
fn bound_by_spectrum(
    t: &Topology,
    plane: &[u32],
    mass: &[f64],
    difference: u64,
    watch: &dyn ProgressWatch,
) -> Result<u64, ComputationError> {
    let part = ConnectedComponent::new(t.graph(), plane);
    let weight: Vec<f64> = plane.iter().map(|&v| mass[v as usize]).collect();
    let Some(least) = part.least_without(&weight, watch)? else { return Ok(0) };
    let least = (least.value - least.error).max(0.0);
    let length_squared: f64 = weight.iter().map(|w| w * w).sum();
    let along_squared = (difference * difference) as f64 / length_squared;
    let own = part.quadratic_form(&weight) / length_squared;
    let across = (least * (plane.len() as f64 - along_squared).max(0.0)).sqrt();
    let rest = (across - (along_squared * own).sqrt()).max(0.0);
    Ok(whole(rest * rest / 4.0))
}

fn bound_by_flow(
    t: &Topology,
    plane: &[u32],
    mass: &[f64],
    difference: u64,
    unit: Option<&[f64]>,
    watch: &dyn ProgressWatch,
) -> Result<u64, ComputationError> {
    let graph = t.graph();
    let edge: Vec<u32> = plane.iter().copied().filter(|&v| mass[v as usize] > 0.0).collect();
    let sources: Vec<(u32, f64)> = edge.iter().map(|&v| (v, mass[v as usize])).collect();
    let terminals: f64 = sources.iter().map(|s| s.1).sum();
    let crossing = (terminals - difference as f64) / 2.0;
    let mut best = 0.0_f64;
    let same = sources.iter().all(|s| s.1.total_cmp(&sources[0].1).is_eq());
    for (i, middle) in middles(t, plane, &edge).iter().enumerate() {
        let share = 1.0 / middle.len() as f64;
        let busiest = if i == 0 && same && !sources.is_empty() {
            // all terminals have the same weight, so this is unit traffic up to a factor
            let own = unit.is_none().then(|| unit_load(t, watch)).transpose()?;
            let load = unit.or(own.as_deref()).unwrap_or_default();
            sources[0].1 * share * busiest_link(t, plane[0], load)
        } else {
            let mut wanted = vec![0.0; graph.switches()];
            for &v in middle {
                wanted[v as usize] = share;
            }
            busiest_link(t, plane[0], &split_evenly(graph, &sources, &wanted, watch)?)
        };
        if busiest > 0.0 {
            best = best.max(crossing / busiest);
        }
    }
    Ok(whole(best))
}

/// The largest load of a link in the plane of switch `of`, adding both directions.
fn busiest_link(t: &Topology, of: u32, load: &[f64]) -> f64 {
    let plane = |v: usize| t.switches()[v].plane;
    let links = t.links().iter().zip(load.chunks_exact(2));
    let inside = links.filter(|(l, _)| plane(l.a.switch.ix()) == plane(of as usize));
    inside.map(|(_, both)| both[0] + both[1]).fold(0.0, f64::max)
}

/// Sets of intermediate switches to spread traffic over: those with terminals, and those farthest
/// from them.
fn middles(t: &Topology, plane: &[u32], edge: &[u32]) -> Vec<Vec<u32>> {
    let far = t.graph().distances_from_any(edge);
    let farthest = plane.iter().map(|&v| far[v as usize]).max().unwrap_or(0);
    let mut all = vec![edge.to_vec()];
    if farthest > 0 {
        all.push(plane.iter().copied().filter(|&v| far[v as usize] == farthest).collect());
    }
    all
}
