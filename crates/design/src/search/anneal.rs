//! Simulated annealing over exchanges of edges: good graphs of any size.
//!
//! Several independent restarts, each with its own rotational symmetry, cool from a temperature
//! that is estimated from a sample of exchanges. Where diameter 2 is within reach, three of four
//! restarts begin with a known graph, and colder; the others begin with random graphs. A search is
//! a value that can be advanced, stopped after any block of steps, saved and continued later, with
//! the same outcome.
//!
//! Source: Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 220,
//! 1983; Nakao et al., 2021 (see `orbits`).

use super::bounds::bounds;
use super::orbits::{DrawnOrbitExchange, OrbitEdge, SymmetricGraph};
use super::reach::{GraphScore, MultiSourceDistanceSearch};
use super::walks::{self, WalkCounts};
use super::{MAX_ARCS, OrderDegreeProblem, starts};
use base::exp::exp_minus;
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch, Refusal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of steps between two calls of the watch.
const BLOCK: u64 = 256;
/// Exchanges sampled for the first temperature.
const SAMPLE: usize = 200;
/// The first temperature of a restart from a random graph, in units of the mean cost of an exchange
/// that makes the graph worse, and the natural logarithm of the first temperature over the last.
const HOT: (f64, f64) = (0.12, 1.5);
/// The temperatures of a restart from a known graph: hot enough to move, too cold to destroy its
/// structure.
const COLD: (f64, f64) = (0.036, 0.5);
/// Most restarts of a search.
pub const MAX_RESTARTS: u32 = 1024;
/// Most steps of a restart.
pub const MAX_STEPS: u64 = 1 << 40;

/// The options of a search. The same options give the same graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnnealingOptions {
    /// The number of exchanges tried in each restart; `None`: [`default_steps`].
    pub steps: Option<u64>,
    /// The order of the rotational symmetry, a divisor of the number of vertices; `None`: a
    /// different divisor for each restart.
    pub symmetry: Option<u32>,
    /// The number of independent restarts.
    pub restarts: u32,
    /// Seed of all random draws.
    pub seed: u64,
}

/// A search for a graph: the problem, the options, and the progress of each restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnealingSearch {
    order: u32,
    degree: u32,
    steps: u64,
    seed: u64,
    restarts: Vec<SavedAnnealingRestart>,
}

/// One restart of the annealing. Each edge stands for its orbit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedAnnealingRestart {
    symmetry: u32,
    /// The length of the longest walks counted, 0 where distances are measured.
    longest: usize,
    /// Steps done.
    done: u64,
    /// Whether it began with a known graph, and so cools as [`COLD`] says.
    cold: bool,
    /// The mean cost of a random exchange that makes the graph worse: the unit of the temperature.
    heat: f64,
    edges: Vec<OrbitEdge>,
    best: Vec<OrbitEdge>,
}

/// The best graph of a search so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestGraphSoFar {
    /// Its diameter and sum of distances.
    pub score: GraphScore,
    /// Its edges, smaller end first, sorted.
    pub edges: Vec<(u32, u32)>,
    /// Order of its rotational symmetry by v -> v + order / symmetry.
    pub symmetry: u32,
    /// Steps done, over all restarts.
    pub steps_done: u64,
}

/// The default number of steps of a restart: at most four million, fewer where exchanges cost more.
pub fn default_steps(problem: OrderDegreeProblem) -> u64 {
    let (n, d) = (u64::from(problem.order), u64::from(problem.degree));
    let searched = 1_000_000_000_000 / (n * d * n.div_ceil(64));
    // the cost depends on whether walks of two or of three links are counted
    let counted = if n <= 1 + d * d { 32_000_000 / d } else { 20_000_000 / (d * d) };
    searched.min(counted).clamp(2_000, 4_000_000)
}

impl AnnealingSearch {
    /// A search that has not begun.
    ///
    /// # Errors
    /// When an option is out of range, the symmetry does not divide the order, or order and degree
    /// are odd and it is not 1.
    pub fn new(problem: OrderDegreeProblem, options: AnnealingOptions) -> Result<Self, Refusal> {
        let AnnealingOptions { steps, symmetry, restarts, seed } = options;
        let steps = steps.unwrap_or_else(|| default_steps(problem));
        if !(1..=MAX_STEPS).contains(&steps) {
            let why = format!("{steps} is out of range");
            return Err(Refusal::new("steps", why, format!("1 to {MAX_STEPS}")));
        }
        if !(1..=MAX_RESTARTS).contains(&restarts) {
            let why = format!("{restarts} is out of range");
            return Err(Refusal::new("restarts", why, format!("1 to {MAX_RESTARTS}")));
        }
        if u64::from(restarts) * u64::from(problem.order) * u64::from(problem.degree) > 4 * MAX_ARCS
        {
            let why = format!("{restarts} graphs of this size are too many");
            return Err(Refusal::new("restarts", why, "fewer restarts"));
        }
        let turns = symmetries(problem);
        if let Some(g) = symmetry
            && !turns.contains(&g)
        {
            return Err(no_symmetry(problem, g, &turns));
        }
        let known = starts::recipes(problem);
        let restarts = (0..restarts as usize)
            .into_par_iter()
            .map(|i| {
                // three of four restarts from a known graph
                let known = known.get(i % known.len().max(1)).filter(|_| i % 8 < 6);
                let known = known.filter(|_| symmetry.is_none_or(|g| g == 1));
                let g = symmetry.unwrap_or(turns[i % turns.len().min(8)]);
                match known {
                    Some(recipe) => {
                        SavedAnnealingRestart::new(problem, 1, Some(recipe), (seed, i as u64))
                    }
                    None => SavedAnnealingRestart::new(problem, g, None, (seed, i as u64)),
                }
            })
            .collect();
        Ok(Self { order: problem.order, degree: problem.degree, steps, seed, restarts })
    }

    /// The search that [`AnnealingSearch::to_json`] wrote. `name` stands for the text in refusals.
    ///
    /// # Errors
    /// When the text is not such a search.
    pub fn from_json(text: &str, name: &str) -> Result<Self, Refusal> {
        let help = "a file that a search wrote";
        let bad = |why: String| Refusal::new(name, why, help);
        let search: Self = serde_json::from_str(text).map_err(|e| bad(e.to_string()))?;
        let problem =
            OrderDegreeProblem::new(search.order, search.degree).map_err(|r| r.within(name))?;
        let turns = symmetries(problem);
        let count = search.restarts.len();
        if !(1..=MAX_STEPS).contains(&search.steps) || !(1..=MAX_RESTARTS as usize).contains(&count)
        {
            return Err(bad("steps or restarts are out of range".into()));
        }
        let regular = |edges: &[OrbitEdge], g: u32| {
            SymmetricGraph::new(problem, g, edges).is_some_and(|graph| {
                let all = u64::from(problem.order) * u64::from(problem.degree);
                2 * graph.all_edges().len() as u64 == all - u64::from(problem.is_odd())
            })
        };
        for (i, r) in search.restarts.iter().enumerate() {
            let sound = turns.contains(&r.symmetry)
                && matches!(r.longest, 0 | 2 | 3)
                && r.done <= search.steps
                && r.heat.is_finite()
                && r.heat > 0.0
                && regular(&r.edges, r.symmetry)
                && regular(&r.best, r.symmetry);
            if !sound {
                return Err(bad(format!("restart {i} is no state of this search")));
            }
        }
        Ok(search)
    }

    /// The search as JSON text, from which [`AnnealingSearch::from_json`] continues it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and lists")
    }

    /// The problem that is searched.
    pub fn problem(&self) -> OrderDegreeProblem {
        OrderDegreeProblem { order: self.order, degree: self.degree }
    }

    /// Seed of all random draws.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Steps of each restart.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Number of restarts.
    pub fn restarts(&self) -> usize {
        self.restarts.len()
    }

    /// Runs all restarts to their end, in parallel.
    ///
    /// A step costs O(degree) where the graphs have diameter 3, O(degree^2) for 4 or 5, else a
    /// search from every vertex of the base.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop; the search then has done whole blocks of steps
    /// and can continue.
    pub fn advance(&mut self, watch: &dyn ProgressWatch) -> Result<(), Interrupted> {
        let (problem, steps, seed) = (self.problem(), self.steps, self.seed);
        let all = steps * self.restarts.len() as u64;
        let done = AtomicU64::new(self.restarts.iter().map(|r| r.done).sum());
        let ends: Vec<Result<(), Interrupted>> = self
            .restarts
            .par_iter_mut()
            .enumerate()
            .map(|(i, restart)| {
                restart.run(problem, steps, (seed, i as u64), |block| {
                    let now = done.fetch_add(block, Ordering::Relaxed) + block;
                    watch.tick("annealing", now, all)
                })
            })
            .collect();
        ends.into_iter().collect()
    }

    /// The best graph so far; among equals that of the first restart.
    pub fn best(&self) -> BestGraphSoFar {
        let scored = self.restarts.iter().map(|r| {
            let graph = r.graph(self.problem(), &r.best);
            (MultiSourceDistanceSearch::default().score(&graph), graph)
        });
        let (score, graph) = scored.min_by_key(|(score, _)| *score).expect("at least one restart");
        BestGraphSoFar {
            score,
            edges: graph.all_edges(),
            symmetry: graph.symmetry(),
            steps_done: self.restarts.iter().map(|r| r.done).sum(),
        }
    }
}

/// The orders of rotational symmetry that a graph of this order and degree can have, rising.
fn symmetries(problem: OrderDegreeProblem) -> Vec<u32> {
    let n = problem.order;
    if problem.is_odd() {
        return vec![1]; // one vertex has a lower degree than all others
    }
    (1..=n).filter(|&g| n.is_multiple_of(g)).collect()
}

fn no_symmetry(problem: OrderDegreeProblem, g: u32, turns: &[u32]) -> Refusal {
    let (below, above) = (turns.iter().rfind(|&&t| t < g), turns.iter().find(|&&t| t > g).copied());
    let nearest: Vec<String> =
        below.copied().into_iter().chain(above).map(|t| t.to_string()).collect();
    let why = if problem.is_odd() {
        format!("{g}: order and degree are odd, so one vertex differs from all others")
    } else {
        format!("{g} does not divide the order {}", problem.order)
    };
    Refusal::new("symmetry", why, format!("nearest: {}", nearest.join(", ")))
}

/// The mean distance in hops, averaged over `samples` random graphs of the problem. A pair that is
/// not connected counts with the number of vertices.
///
/// The graphs are drawn by enough random exchanges to forget the start. A search must find a
/// smaller mean distance.
pub fn random_mean_distance(problem: OrderDegreeProblem, seed: u64, samples: u32) -> f64 {
    let pairs = u64::from(problem.order) * u64::from(problem.order - 1);
    let sums: Vec<u64> = (0..samples)
        .into_par_iter()
        .map(|i| {
            let mut random = RandomStream::new(seed, "search random", u64::from(i));
            MultiSourceDistanceSearch::default()
                .score(&shuffled(problem, 1, &mut random))
                .distance_sum
        })
        .collect();
    sums.iter().map(|&sum| sum as f64 / pairs as f64).sum::<f64>() / f64::from(samples)
}

/// A random graph with this symmetry, made by exchanges from the circulant graph.
fn shuffled(problem: OrderDegreeProblem, g: u32, random: &mut RandomStream) -> SymmetricGraph {
    let mut graph = SymmetricGraph::circulant(problem, g);
    for _ in 0..20 * graph.edges().len() {
        if let Some(drawn) = graph.draw(random) {
            graph.apply(&drawn, |_, _, _| {});
        }
    }
    graph
}

/// The cost of exchanges, either updated incrementally or measured anew.
enum EdgeExchangeCostEvaluator {
    WalkCounts(WalkCounts),
    DistanceSweep(MultiSourceDistanceSearch, GraphScore),
}

impl EdgeExchangeCostEvaluator {
    /// Counts walks of up to `longest` edges; measures distances where that is 0.
    fn new(graph: &SymmetricGraph, longest: usize) -> Self {
        if longest > 0 {
            return Self::WalkCounts(WalkCounts::new(graph, longest));
        }
        let mut reach = MultiSourceDistanceSearch::default();
        let score = reach.score(graph);
        Self::DistanceSweep(reach, score)
    }

    /// The sum of distances from the base vertices, up to a constant.
    fn energy(&self, graph: &SymmetricGraph) -> u64 {
        match self {
            Self::WalkCounts(walks) => walks.energy(),
            Self::DistanceSweep(_, score) => score.distance_sum / u64::from(graph.symmetry()),
        }
    }

    fn apply(&mut self, graph: &mut SymmetricGraph, drawn: &DrawnOrbitExchange) {
        match self {
            Self::WalkCounts(walks) => walks.apply(graph, drawn),
            Self::DistanceSweep(reach, score) => {
                graph.apply(drawn, |_, _, _| {});
                *score = reach.score(graph);
            }
        }
    }

    /// Undoes `drawn`, the last exchange done, before which the score was `before`.
    fn undo(
        &mut self,
        graph: &mut SymmetricGraph,
        drawn: &DrawnOrbitExchange,
        before: Option<GraphScore>,
    ) {
        let reverse = graph.reverse(drawn);
        match (self, before) {
            (Self::DistanceSweep(_, score), Some(before)) => {
                graph.apply(&reverse, |_, _, _| {});
                *score = before;
            }
            (gauge, _) => gauge.apply(graph, &reverse),
        }
    }

    /// The score where it is known without a search.
    fn score(&self) -> Option<GraphScore> {
        match self {
            Self::WalkCounts(_) => None,
            Self::DistanceSweep(_, score) => Some(*score),
        }
    }
}

/// The length of the longest walks to count in a search from `graph`, or 0 for none: its diameter
/// minus one where that is 2 or 3 (a diameter of 5 can fall to 4), where the degree fits and the
/// counts fit in memory.
fn longest_walks(graph: &SymmetricGraph, problem: OrderDegreeProblem) -> usize {
    let cells = graph.base() as u64 * graph.order() as u64;
    if problem.degree > walks::MAX_DEGREE || cells > MAX_ARCS {
        return 0;
    }
    match MultiSourceDistanceSearch::default().score(graph).diameter {
        Some(..=3) => 2,
        Some(4 | 5) => 3,
        _ => 0,
    }
}

impl SavedAnnealingRestart {
    fn new(
        problem: OrderDegreeProblem,
        symmetry: u32,
        known: Option<&String>,
        (seed, index): (u64, u64),
    ) -> Self {
        let mut random = RandomStream::new(seed, "search start", index);
        let known = known.and_then(|recipe| starts::start(problem, recipe, &mut random));
        let known = known.and_then(|edges| SymmetricGraph::new(problem, symmetry, &edges));
        let cold = known.is_some();
        let mut graph = known.unwrap_or_else(|| shuffled(problem, symmetry, &mut random));
        let edges = graph.edges().to_vec();
        let longest = longest_walks(&graph, problem);
        let mut gauge = EdgeExchangeCostEvaluator::new(&graph, longest);
        let (mut worse, mut sum) = (0_u32, 0);
        for _ in 0..SAMPLE {
            let (before, score) = (gauge.energy(&graph), gauge.score());
            let Some(drawn) = graph.draw(&mut random) else { continue };
            gauge.apply(&mut graph, &drawn);
            let after = gauge.energy(&graph);
            if after > before {
                worse += 1;
                sum += after - before;
            }
            gauge.undo(&mut graph, &drawn, score);
        }
        let heat = if worse == 0 { 1.0 } else { sum as f64 / f64::from(worse) };
        // the circulant graph is connected, the random one may not be
        let ring = SymmetricGraph::circulant(problem, symmetry);
        let mut reach = MultiSourceDistanceSearch::default();
        let random_is_better = reach.score(&graph) < reach.score(&ring);
        let best = if random_is_better { edges.clone() } else { ring.edges().to_vec() };
        Self { symmetry, longest, done: 0, cold, heat, edges, best }
    }

    fn graph(&self, problem: OrderDegreeProblem, edges: &[OrbitEdge]) -> SymmetricGraph {
        SymmetricGraph::new(problem, self.symmetry, edges).expect("checked when it came in")
    }

    /// Runs up to step `steps`, block by block. `tick` gets the number of steps done and may stop
    /// the run; the state is then that after the last whole block.
    fn run(
        &mut self,
        problem: OrderDegreeProblem,
        steps: u64,
        (seed, index): (u64, u64),
        mut tick: impl FnMut(u64) -> Result<(), Interrupted>,
    ) -> Result<(), Interrupted> {
        let limit = bounds(problem);
        let mut walk = RunningAnnealingRestart::new(self, problem);
        while self.done < steps {
            if walk.best.meets(&limit) {
                tick(steps - self.done)?;
                self.done = steps;
                break;
            }
            let block = BLOCK.min(steps - self.done);
            let random =
                RandomStream::new(seed, "search anneal", (index << 40) | (self.done / BLOCK));
            let heat = self.heat * cooling(self.cold, self.done as f64 / steps as f64);
            let better = walk.block(random, block, heat, || tick(0))?;
            if let Some(best) = better {
                self.best = best;
            }
            self.done += block;
            self.edges = walk.graph.edges().to_vec();
            tick(block)?;
        }
        Ok(())
    }
}

/// A running restart: its current graph, costs and random stream.
struct RunningAnnealingRestart {
    graph: SymmetricGraph,
    gauge: EdgeExchangeCostEvaluator,
    reach: MultiSourceDistanceSearch,
    best: GraphScore,
    /// The energy of the best graph.
    lowest: u64,
}

impl RunningAnnealingRestart {
    fn new(restart: &SavedAnnealingRestart, problem: OrderDegreeProblem) -> Self {
        let graph = restart.graph(problem, &restart.edges);
        let best = restart.graph(problem, &restart.best);
        let mut reach = MultiSourceDistanceSearch::default();
        Self {
            gauge: EdgeExchangeCostEvaluator::new(&graph, restart.longest),
            best: reach.score(&best),
            lowest: EdgeExchangeCostEvaluator::new(&best, restart.longest).energy(&best),
            graph,
            reach,
        }
    }

    /// Tries `steps` exchanges at temperature `heat`. Returns the orbits of a new best graph, if
    /// there is one.
    fn block(
        &mut self,
        mut random: RandomStream,
        steps: u64,
        heat: f64,
        mut tick: impl FnMut() -> Result<(), Interrupted>,
    ) -> Result<Option<Vec<OrbitEdge>>, Interrupted> {
        let mut better = None;
        for _ in 0..steps {
            let Some(drawn) = self.graph.draw(&mut random) else { continue };
            let (before, score) = (self.gauge.energy(&self.graph), self.gauge.score());
            if score.is_some() {
                tick()?;
            }
            self.gauge.apply(&mut self.graph, &drawn);
            let after = self.gauge.energy(&self.graph);
            if after > before {
                let chance = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                if chance >= exp_minus((after - before) as f64 / heat) {
                    self.gauge.undo(&mut self.graph, &drawn, score);
                    continue;
                }
            }
            let exact = self.gauge.score();
            if exact.is_some_and(|s| s < self.best) || (exact.is_none() && after < self.lowest) {
                let score = exact.unwrap_or_else(|| self.reach.score(&self.graph));
                if score < self.best {
                    self.best = score;
                    self.lowest = after;
                    better = Some(self.graph.edges().to_vec());
                }
            }
        }
        Ok(better)
    }
}

/// The temperature after the fraction `done` of the steps, in units of the sampled cost.
fn cooling(cold: bool, done: f64) -> f64 {
    let (first, span) = if cold { COLD } else { HOT };
    first * exp_minus(span * done)
}

#[cfg(test)]
mod tests;
