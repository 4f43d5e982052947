//! Annealing of the weighted sum of distances, by swaps that bring partners near to one another.
//!
//! Source: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated annealing", Science 1983; Dueck
//! & Scheuer, "Threshold accepting", J. Computational Physics 1990; gains of the sparse quadratic
//! assignment problem: Schulz & Träff, "Better process mapping and sparse quadratic assignment",
//! SEA 2017.

use crate::arrangement::Arrangement;
use crate::metric::Metric;
use crate::near::Near;
use crate::problem::Problem;
use base::seed::{Fast, exponentials};
use base::{Interrupted, Watch};

/// What decides whether a move that makes things worse is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// With probability exp(-worse / temperature).
    Annealing,
    /// When it is worse by less than the temperature.
    Threshold,
}

/// How an annealing goes: temperatures in units of the mean worsening of a move, and moves.
#[derive(Debug, Clone, Copy)]
pub struct Cooling {
    /// The rule.
    pub rule: Rule,
    /// Temperature at the start.
    pub from: f64,
    /// Temperature at the end.
    pub to: f64,
    /// Moves that are tried.
    pub moves: u64,
}

/// Where swaps are proposed from, and what they are proposed on.
pub struct Proposals<'a> {
    /// The problem.
    pub problem: &'a Problem<'a>,
    /// Sites around sites.
    pub near: &'a Near,
    /// Processes that may move and have partners.
    movers: Vec<u32>,
}

impl<'a> Proposals<'a> {
    /// For a problem.
    pub fn new(problem: &'a Problem<'a>, near: &'a Near) -> Self {
        let moves = |p: &u32| !problem.is_pinned(*p) && !problem.row(*p).is_empty();
        let movers = (0..problem.processes as u32).filter(moves).collect();
        Self { problem, near, movers }
    }

    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.movers.is_empty()
    }

    /// A process that may move.
    #[inline]
    pub fn mover(&self, draw: &mut Fast) -> u32 {
        self.movers[draw.below(self.movers.len() as u32) as usize]
    }

    /// Whom `u` might change places with: somebody on or near the site of one of its partners.
    #[inline]
    pub fn other(&self, at: &Arrangement, u: u32, draw: &mut Fast) -> Option<u32> {
        let row = self.problem.row(u);
        let bits = draw.next_u64();
        let pick = |bits: u64, count: usize| (((bits & 0xffff) * count as u64) >> 16) as usize;
        let x = if row.len() < 1 << 16 {
            row[pick(bits, row.len())].0
        } else {
            row[draw.below(row.len() as u32) as usize].0
        };
        let mut site = at.site(x);
        let around = self.near.of(site);
        let stays = self.problem.slots.of_site(site).len() > 1 && bits >> 62 == 0;
        if !stays && !around.is_empty() {
            site = around[pick(bits >> 16, around.len())];
        }
        let slots = self.problem.slots.of_site(site);
        let v = at.process(slots[pick(bits >> 32, slots.len())]);
        (v != u && site != at.site(u) && !self.problem.is_pinned(v)).then_some(v)
    }
}

/// Moves between two looks at the watch, and between two temperatures.
const STEP: u64 = 1 << 12;

/// The mean of the worsening among some moves that are tried, not made.
fn mean_worsening<M: Metric>(
    proposals: &Proposals<'_>,
    metric: &M,
    at: &Arrangement,
    draw: &mut Fast,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for _ in 0..2000 {
        let u = proposals.mover(draw);
        if let Some(v) = proposals.other(at, u, draw) {
            let gain = at.gain(proposals.problem, metric, u, v);
            if gain > 0 {
                sum += f64::from(gain);
                count += 1.0;
            }
        }
    }
    if count > 0.0 { sum / count } else { 1.0 }
}

/// Anneals an arrangement; where it is interrupted, as far as it came.
///
/// O(moves * mean degree).
///
/// # Errors
/// When `watch` says stop: the arrangement is a good one all the same.
pub fn anneal<M: Metric>(
    proposals: &Proposals<'_>,
    metric: &M,
    at: &mut Arrangement,
    cooling: Cooling,
    draw: &mut Fast,
    watch: &dyn Watch,
) -> Result<(), Interrupted> {
    if proposals.is_empty() {
        return Ok(());
    }
    let scale = mean_worsening(proposals, metric, at, draw);
    let quantiles = exponentials();
    let mut done = 0;
    while done < cooling.moves {
        watch.tick("annealing", done, cooling.moves)?;
        let part = done as f64 / cooling.moves as f64;
        let heat = (scale * cooling.from * (cooling.to / cooling.from).powf(part)) as f32;
        for _ in 0..STEP.min(cooling.moves - done) {
            let u = proposals.mover(draw);
            let Some(v) = proposals.other(at, u, draw) else { continue };
            let gain = at.gain(proposals.problem, metric, u, v);
            let room = match cooling.rule {
                Rule::Annealing => heat * quantiles[(draw.next_u64() >> 52) as usize],
                Rule::Threshold => heat,
            };
            if gain <= 0 || (gain as f32) < room {
                at.swap(u, v);
            }
        }
        done += STEP;
    }
    Ok(())
}

/// Swaps near partners until none of them helps any more, or so many sweeps are done.
///
/// # Errors
/// When `watch` says stop.
pub fn descend<M: Metric>(
    proposals: &Proposals<'_>,
    metric: &M,
    at: &mut Arrangement,
    sweeps: u32,
    watch: &dyn Watch,
) -> Result<(), Interrupted> {
    let problem = proposals.problem;
    for sweep in 0..sweeps {
        watch.tick("local search", u64::from(sweep), u64::from(sweeps))?;
        let mut better = false;
        for &u in &proposals.movers {
            for i in 0..problem.row(u).len() {
                let home = at.site(problem.row(u)[i].0);
                let around = proposals.near.of(home).iter().copied();
                let mut looked = 0;
                for site in std::iter::once(home).chain(around) {
                    for &slot in problem.slots.of_site(site) {
                        let v = at.process(slot);
                        let moves = site != at.site(u) && v != u && !problem.is_pinned(v);
                        if moves && at.gain(problem, metric, u, v) < 0 {
                            at.swap(u, v);
                            better = true;
                        }
                        looked += 1;
                    }
                    if looked >= Near::MOST {
                        break;
                    }
                }
            }
        }
        if !better {
            break;
        }
    }
    Ok(())
}
