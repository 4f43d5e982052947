//! Methods one after the other, and the portfolio: several starts, short runs, a long one.
//!
//! Budgets are in units of work, never of time, so that results are the same on every machine: a
//! unit is about 3 ns.

use crate::arrangement::Arrangement;
use crate::chain::Step;
use crate::map::{Effort, Objective, Request};
use crate::method::anneal::{Cooling, Proposals, Rule, anneal, descend};
use crate::method::congestion::{self, Loads, refine};
use crate::method::{Asked, bisection, exact, fold, greedy, multicore, multilevel, rcm};
use crate::metric::Metric;
use crate::near::Near;
use crate::problem::Problem;
use base::seed::{Fast, Stream};
use base::{Interrupted, Refusal, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Slots from which a mapping is large: fewer runs, more moves.
const LARGE: usize = 4096;

/// Temperatures of a start that is good already, and of one that is to be forgotten.
const WARM: (f64, f64) = (0.05, 0.01);
const COLD: (f64, f64) = (0.2, 0.02);

/// Temperatures of refinements; a run of the largest effort takes one after the other.
const HEATS: [(f64, f64); 4] = [(0.005, 0.0007), (0.01, 0.001), (0.003, 0.0004), (0.03, 0.002)];

/// A request with all that is known of it.
pub(crate) struct Run<'a, M> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) metric: &'a M,
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) near: &'a Near,
    pub(crate) proposals: &'a Proposals<'a>,
    pub(crate) watch: &'a dyn Watch,
    /// Whether the watch has said stop.
    pub(crate) stopped: AtomicBool,
}

impl<M: Metric> Run<'_, M> {
    /// Notes a stop; what was found so far stands.
    fn heard(&self, ended: Result<(), Interrupted>) {
        if ended.is_err() {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn asked(&self, seed: u64) -> Asked<'_> {
        let on = self.request.ways.topology();
        Asked { problem: self.problem, near: self.near, on, seed }
    }

    fn cost(&self, at: &Arrangement) -> i64 {
        at.cost(self.problem, self.metric)
    }

    /// The steps of a method, one after the other.
    pub(crate) fn chain(&self, steps: &[Step]) -> Result<Arrangement, Refusal> {
        let mut at = match self.request.start {
            Some(places) => Arrangement::placed(self.problem, places)?,
            None => Arrangement::linear(self.problem),
        };
        for (i, step) in (0..).zip(steps) {
            if self.is_over() {
                break;
            }
            self.step(*step, &mut at, i)?;
        }
        Ok(at)
    }

    fn step(&self, step: Step, at: &mut Arrangement, index: u64) -> Result<(), Refusal> {
        let asked = self.asked(self.request.seed);
        let budget = self.budget();
        match step {
            Step::Linear => {}
            Step::Random => *at = self.random(),
            Step::Greedy => *at = greedy::greedy(&asked, self.metric),
            Step::Rcm => *at = rcm::rcm(&asked),
            Step::Fold => {
                let help = "as many processes as slots, row-major, on a grid of switches";
                let none = || Refusal::new("method", "fold: these are no two grids", help);
                *at = fold::fold(&asked, self.metric).ok_or_else(none)?;
            }
            Step::Bisection => match bisection::bisection(&asked, self.metric, self.watch) {
                Ok(found) => *at = found,
                Err(stop) => self.heard(Err(stop)),
            },
            Step::Multicore => match multicore::multicore(&asked, self.metric, self.watch)? {
                Ok(found) => *at = found,
                Err(stop) => self.heard(Err(stop)),
            },
            Step::Multilevel => match multilevel::multilevel(&asked, self.metric, self.watch)? {
                Ok(found) => {
                    *at = found;
                    self.heard(descend(self.proposals, self.metric, at, 50, self.watch));
                }
                Err(stop) => self.heard(Err(stop)),
            },
            Step::Anneal => self.anneal(at, Rule::Annealing, COLD, budget, index),
            Step::Threshold => self.anneal(at, Rule::Threshold, (0.1, 0.01), budget, index),
            Step::Local => {
                self.heard(descend(self.proposals, self.metric, at, 1000, self.watch));
            }
            Step::Congestion => {
                let least = self.cost(at);
                self.refine(at, least, HEATS[0], budget, index);
            }
        }
        Ok(())
    }

    fn random(&self) -> Arrangement {
        let mut slots: Vec<u32> = (0..self.problem.slots.count() as u32).collect();
        Stream::new(self.request.seed, "mapping", 0).shuffle(&mut slots);
        let order: Vec<u32> = (0..self.problem.processes as u32).collect();
        Arrangement::in_order(self.problem, &order, &slots)
    }

    /// Units of work of a normal effort, at most.
    const NORMAL: u64 = 220_000_000;

    /// Units of work for annealing.
    fn budget(&self) -> u64 {
        let processes = self.problem.processes as u64;
        match self.request.effort {
            Effort::Fast => {
                let most = 22_000_000_u64.saturating_sub(processes * 16_000).max(11_000_000);
                (processes * 100_000).min(most).max(processes * 500)
            }
            Effort::Normal => (processes * 1_500_000).min(Self::NORMAL).max(processes * 4_000),
            Effort::Best => (processes * 4_000_000).min(900_000_000).max(processes * 40_000),
        }
    }

    /// Anneals and descends; the better of that and what it began with.
    fn anneal(
        &self,
        at: &mut Arrangement,
        rule: Rule,
        (from, to): (f64, f64),
        budget: u64,
        index: u64,
    ) {
        let start = at.clone();
        let mean = 2 * self.problem.entries() / self.problem.processes.max(1);
        let cooling = Cooling { rule, from, to, moves: budget / (mean as u64 + 12) };
        let mut draw = Fast::new(self.request.seed, "annealing", index);
        let ended = anneal(self.proposals, self.metric, at, cooling, &mut draw, self.watch);
        self.heard(ended);
        if ended.is_ok() && self.problem.slots.count() < LARGE {
            self.heard(descend(self.proposals, self.metric, at, 50, self.watch));
        }
        if self.cost(&start) < self.cost(at) {
            *at = start;
        }
    }

    /// Refines congestion; hop-bytes stay within the limit over `least`.
    fn refine(
        &self,
        at: &mut Arrangement,
        least: i64,
        (from, to): (f64, f64),
        budget: u64,
        index: u64,
    ) {
        let mut loads = Loads::new(self.request.ways, self.proposals, self.request.graph);
        let mean = loads.mean_work(at);
        let most_hops = (least as f64 * (1.0 + self.request.hops_limit)).floor() as i64;
        let effort = congestion::Effort { moves: budget / (mean + 30), from, to, most_hops };
        let mut draw = Fast::new(self.request.seed, "congestion", index);
        let ended =
            refine(&mut loads, self.proposals, self.metric, at, effort, &mut draw, self.watch);
        self.heard(ended);
    }

    /// The portfolio.
    pub(crate) fn auto(&self) -> Arrangement {
        let starts = self.starts();
        let hops = self.request.objective == Objective::Hops;
        let best = self.request.effort == Effort::Best && self.problem.slots.count() < LARGE;
        let quick =
            || self.one(&starts, Self::NORMAL.min(self.budget()) / if hops { 1 } else { 2 });
        let (mut found, mut least) = if best {
            // the limit on hop-bytes is that of a normal effort: more runs are to find more
            let least = if hops { 0 } else { self.cost(&quick()) };
            (self.many(&starts), least)
        } else {
            let only = if self.problem.slots.count() < LARGE {
                quick()
            } else {
                self.one(&starts, self.budget())
            };
            let least = self.cost(&only);
            (vec![only], least)
        };
        if let Some(exact) = exact::exact(self.problem, self.metric, &found[0]) {
            found.insert(0, exact);
        }
        if hops || self.is_over() {
            return found.swap_remove(0);
        }
        if self.problem.processes <= exact::MOST {
            least = self.cost(&found[0]); // that of a search through all mappings
        }
        self.least_congested(&found, least.max(self.cost(&found[0])))
    }

    /// Mappings that are quick to make, the least hop-bytes first.
    fn starts(&self) -> Vec<Arrangement> {
        let asked = self.asked(self.request.seed);
        let mut starts = vec![Arrangement::linear(self.problem)];
        starts.extend(fold::fold(&asked, self.metric));
        let large = self.problem.slots.count() >= LARGE;
        if !large || starts.len() == 1 && self.request.effort != Effort::Fast {
            match bisection::bisection(&asked, self.metric, self.watch) {
                Ok(halved) => starts.push(halved),
                Err(stop) => self.heard(Err(stop)),
            }
        }
        if self.problem.slots.count() <= 2 * LARGE {
            starts.push(greedy::greedy(&asked, self.metric));
        }
        starts.sort_by_key(|at| self.cost(at));
        starts
    }

    /// One result within the budget: short runs, and a long one from the best of them.
    fn one(&self, starts: &[Arrangement], budget: u64) -> Arrangement {
        let mut best = starts[0].clone();
        if self.request.effort == Effort::Fast || self.problem.slots.count() >= LARGE {
            self.anneal(&mut best, Rule::Annealing, WARM, budget, 0);
            return best;
        }
        let mut tried: Vec<(Arrangement, (f64, f64))> = Vec::new();
        for (i, (start, heat)) in (1..).zip(
            [(0, WARM), (1, WARM), (0, COLD)].map(|(s, h)| (&starts[s.min(starts.len() - 1)], h)),
        ) {
            let mut at = start.clone();
            self.anneal(&mut at, Rule::Annealing, heat, budget / 6, i);
            tried.push((at, heat));
        }
        let short = tried.iter().min_by_key(|(at, _)| self.cost(at)).expect("three were tried");
        let (mut long, heat) = short.clone();
        self.anneal(&mut long, Rule::Annealing, heat, budget / 2, 4);
        for at in tried.into_iter().map(|(at, _)| at).chain([long]) {
            if self.cost(&at) < self.cost(&best) {
                best = at;
            }
        }
        best
    }

    /// Results of many long runs, the least hop-bytes first.
    fn many(&self, starts: &[Arrangement]) -> Vec<Arrangement> {
        let heats = [COLD, WARM, (0.1, 0.015), (0.25, 0.025)];
        let runs: Vec<Arrangement> = (0..8_usize)
            .into_par_iter()
            .map(|i| {
                let mut at = starts[(i / 4).min(starts.len() - 1)].clone();
                let heat = heats[i % 4];
                self.anneal(&mut at, Rule::Annealing, heat, self.budget(), 16 + i as u64);
                at
            })
            .collect();
        let mut found = starts[..1].to_vec();
        found.extend(runs);
        found.sort_by_key(|at| self.cost(at));
        found
    }

    /// The least congested of the refinements of some mappings, whose hop-bytes keep to the limit
    /// over `least`.
    fn least_congested(&self, found: &[Arrangement], least: i64) -> Arrangement {
        let starts: Vec<&Arrangement> = if self.request.effort == Effort::Best {
            (0..16).map(|i| &found[(i / HEATS.len()).min(found.len() - 1)]).collect()
        } else {
            vec![&found[0]]
        };
        let runs: Vec<Arrangement> = starts
            .into_par_iter()
            .enumerate()
            .map(|(i, start)| {
                let mut at = start.clone();
                if !self.is_over() {
                    let budget = self.budget().min(250_000_000);
                    self.refine(&mut at, least, HEATS[i % HEATS.len()], budget, i as u64);
                }
                at
            })
            .collect();
        let mut loads = Loads::new(self.request.ways, self.proposals, self.request.graph);
        let mut merit = |at: &Arrangement| {
            loads.count(at);
            let (most, count) = loads.worst();
            (most, count, self.cost(at))
        };
        let all = std::iter::once(found[0].clone()).chain(runs);
        let mut best: Option<(congestion::Merit, Arrangement)> = None;
        for at in all {
            let own = merit(&at);
            if best.as_ref().is_none_or(|known| congestion::is_better(own, known.0)) {
                best = Some((own, at));
            }
        }
        best.expect("there is at least one").1
    }
}
