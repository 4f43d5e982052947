//! The portfolio of methods: several starts, short runs, and a long run from the best of them.

use super::anneal::{AcceptanceRule, COLD, WARM, annealed};
use super::congestion::{HEATS, refined};
use super::{bisection, exact, fold, greedy};
use crate::arrangement::ProcessArrangement;
use crate::effort::{MappingObjective, SearchEffort};
use crate::loads::{ArrangementMerit, ChannelLoads, is_better};
use crate::metric::SiteMetric;
use crate::run::{LARGE, NORMAL, PreparedMappingProblem};
use rayon::prelude::*;

/// Runs the portfolio and returns its best arrangement.
pub(crate) fn auto<M: SiteMetric>(run: &PreparedMappingProblem<'_, M>) -> ProcessArrangement {
    let starts = starts(run);
    let hops = run.objective == MappingObjective::Hops;
    let best = run.effort == SearchEffort::Best && run.problem.slots.count() < LARGE;
    let quick = || one(run, &starts, NORMAL.min(run.budget()) / if hops { 1 } else { 2 });
    let (mut found, mut least) = if best {
        // the limit on hop-bytes is relative to a normal effort, so that more effort cannot tighten
        // it
        let least = if hops { 0 } else { run.cost(&quick()) };
        (many(run, &starts), least)
    } else {
        let only = if run.problem.slots.count() < LARGE {
            quick()
        } else {
            one(run, &starts, run.budget())
        };
        let least = run.cost(&only);
        (vec![only], least)
    };
    if let Some(exact) = exact::exact(run.problem, run.metric, &found[0]) {
        found.insert(0, exact);
    }
    if hops || run.is_over() {
        return found.swap_remove(0);
    }
    if run.problem.processes <= exact::MOST {
        least = run.cost(&found[0]); // an exhaustive search found it
    }
    least_congested(run, &found, least.max(run.cost(&found[0])))
}

/// Arrangements of quick methods, the one with the least hop-bytes first.
fn starts<M: SiteMetric>(run: &PreparedMappingProblem<'_, M>) -> Vec<ProcessArrangement> {
    let input = run.input();
    let mut starts = vec![ProcessArrangement::linear(run.problem)];
    starts.extend(fold::fold(&input, run.metric));
    let large = run.problem.slots.count() >= LARGE;
    if !large || starts.len() == 1 && run.effort != SearchEffort::Fast {
        match bisection::bisection(&input, run.metric, run.watch) {
            Ok(halved) => starts.push(halved),
            Err(stop) => run.note_stop(Err(stop)),
        }
    }
    if run.problem.slots.count() <= 2 * LARGE {
        starts.push(greedy::greedy(&input, run.metric));
    }
    starts.sort_by_key(|at| run.cost(at));
    starts
}

/// One arrangement within the budget: after short runs from all starts, a long run from the best
/// result.
fn one<M: SiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    starts: &[ProcessArrangement],
    budget: u64,
) -> ProcessArrangement {
    let mut best = starts[0].clone();
    if run.effort == SearchEffort::Fast || run.problem.slots.count() >= LARGE {
        annealed(run, &mut best, AcceptanceRule::Annealing, WARM, budget, 0);
        return best;
    }
    let mut tried: Vec<(ProcessArrangement, (f64, f64))> = Vec::new();
    for (i, (start, heat)) in (1..)
        .zip([(0, WARM), (1, WARM), (0, COLD)].map(|(s, h)| (&starts[s.min(starts.len() - 1)], h)))
    {
        let mut at = start.clone();
        annealed(run, &mut at, AcceptanceRule::Annealing, heat, budget / 6, i);
        tried.push((at, heat));
    }
    let short = tried.iter().min_by_key(|(at, _)| run.cost(at)).expect("three were tried");
    let (mut long, heat) = short.clone();
    annealed(run, &mut long, AcceptanceRule::Annealing, heat, budget / 2, 4);
    for at in tried.into_iter().map(|(at, _)| at).chain([long]) {
        if run.cost(&at) < run.cost(&best) {
            best = at;
        }
    }
    best
}

/// The arrangements of many long runs, the one with the least hop-bytes first.
fn many<M: SiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    starts: &[ProcessArrangement],
) -> Vec<ProcessArrangement> {
    let heats = [COLD, WARM, (0.1, 0.015), (0.25, 0.025)];
    let runs: Vec<ProcessArrangement> = (0..8_usize)
        .into_par_iter()
        .map(|i| {
            let mut at = starts[(i / 4).min(starts.len() - 1)].clone();
            let heat = heats[i % 4];
            annealed(run, &mut at, AcceptanceRule::Annealing, heat, run.budget(), 16 + i as u64);
            at
        })
        .collect();
    let mut found = starts[..1].to_vec();
    found.extend(runs);
    found.sort_by_key(|at| run.cost(at));
    found
}

/// The least congested arrangement after refinement of each given one; its hop-bytes stay within
/// the limit, which is relative to `least`.
fn least_congested<M: SiteMetric>(
    run: &PreparedMappingProblem<'_, M>,
    found: &[ProcessArrangement],
    least: i64,
) -> ProcessArrangement {
    let starts: Vec<&ProcessArrangement> = if run.effort == SearchEffort::Best {
        (0..16).map(|i| &found[(i / HEATS.len()).min(found.len() - 1)]).collect()
    } else {
        vec![&found[0]]
    };
    let runs: Vec<ProcessArrangement> = starts
        .into_par_iter()
        .enumerate()
        .map(|(i, start)| {
            let mut at = start.clone();
            if !run.is_over() {
                let budget = run.budget().min(250_000_000);
                refined(run, &mut at, least, HEATS[i % HEATS.len()], budget, i as u64);
            }
            at
        })
        .collect();
    let mut loads = ChannelLoads::new(run.paths, run.proposals, run.graph);
    let mut merit = |at: &ProcessArrangement| {
        loads.count(at);
        let (most, count) = loads.worst();
        (most, count, run.cost(at))
    };
    let all = std::iter::once(found[0].clone()).chain(runs);
    let mut best: Option<(ArrangementMerit, ProcessArrangement)> = None;
    for at in all {
        let own = merit(&at);
        if best.as_ref().is_none_or(|known| is_better(own, known.0)) {
            best = Some((own, at));
        }
    }
    best.expect("there is at least one").1
}
