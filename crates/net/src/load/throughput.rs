//! Maximum achievable throughput, bounded from both sides by multiplicative weights.
//!
//! Source: Garg & Koenemann, "Faster and simpler algorithms for multicommodity flow and other
//! fractional packing problems", FOCS 1998 (SIAM J. Comput. 2007); Fleischer, "Approximating
//! fractional multicommodity flow independent of the number of commodities", SIAM J. Discrete Math.
//! 2000 (paths of one source together); Jyothi, Singla, Godfrey, Kolla, "Measuring and
//! understanding throughput of network topologies", SC 2016 (the measure).

use super::demand::{Demand, capacities};
use crate::network::Topology;
use crate::structure::MeasureError;
use base::{Graph, Refusal, Watch};
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What is known of the maximum achievable throughput: at least `lower`, at most `upper`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// A flow that was built routes this multiple of the demand within every channel's capacity.
    pub lower: f64,
    /// No flow routes more: capacities over demands, both weighed by the best lengths found.
    pub upper: f64,
    /// Times that the whole demand was routed.
    pub phases: u32,
}

/// The smallest `epsilon` of [`bounds`].
pub const LEAST_EPSILON: f64 = 0.005;

/// Lengths at the beginning of a phase go from this to 1, and within it up to [`LONGEST`], so that
/// none vanishes beside another.
const SHORTEST: f64 = 1e-9;
const LONGEST: f64 = 1e6;

/// Phases after which [`bounds`] gives up.
const MOST_PHASES: u32 = 1 << 20;

/// Sources whose paths are searched under the same lengths: a fixed number, so that the result does
/// not depend on the number of threads.
const BATCH: usize = 16;

/// Paths that are longer than the shortest by this fraction at most count as equally short.
const TIE: f64 = 1e-9;

/// Bounds on the largest t such that t times `demand` can be routed over any paths, split at will,
/// with `upper / lower <= 1 + epsilon`.
///
/// Every phase routes the whole demand over paths that are shortest under lengths which grow
/// exponentially with the load of a channel. The mean of the phases is a flow, so one over its
/// largest load is a lower bound; by weak duality any lengths give an upper bound, the sum of
/// capacity times length over the sum of demand times distance. Units: see
/// [`capacities`]. O(phases * sources * links * log(switches)), in parallel over batches of
/// sources; the number of phases grows with `1 / epsilon^2` at worst and is 1 where even splitting
/// over minimal paths is optimal.
///
/// # Errors
/// When `epsilon` is not between [`LEAST_EPSILON`] and 1, no demand leaves its switch, or there is
/// no path for one; when the bounds do not meet; when `watch` says stop.
pub fn bounds(
    t: &Topology,
    demand: &Demand,
    epsilon: f64,
    watch: &dyn Watch,
) -> Result<Bounds, MeasureError> {
    if !(LEAST_EPSILON..=1.0).contains(&epsilon) {
        let help = format!("{LEAST_EPSILON} to 1");
        return Err(Refusal::new("epsilon", format!("{epsilon} is out of range"), help).into());
    }
    let sources = demand.by_switch(t)?;
    solve(t.graph(), &capacities(t), &sources, epsilon, watch)
}

/// The demand of one source switch: destination switches and amounts.
pub type Source = (u32, Vec<(u32, f64)>);

fn solve(
    graph: &Graph,
    capacity: &[f64],
    sources: &[Source],
    epsilon: f64,
    watch: &dyn Watch,
) -> Result<Bounds, MeasureError> {
    let mut state = State::new(graph, capacity);
    // the first phase keeps its lengths: where the network is symmetric it is optimal
    state.phase(sources, 0.0, watch)?;
    let mut step = FIRST_STEP;
    while state.upper > (1.0 + epsilon) * state.lower {
        if state.phases >= MOST_PHASES {
            let why =
                format!("bounds {} and {} after {MOST_PHASES} phases", state.lower, state.upper);
            return Err(Refusal::new("epsilon", why, "a larger epsilon").into());
        }
        if state.averaged as f64 * step * step > LINGER {
            step /= std::f64::consts::SQRT_2;
            state.forget();
        }
        state.phase(sources, step, watch)?;
        if state.averaged % 8 == 0 {
            state.average(sources, watch)?;
        }
    }
    Ok(Bounds { lower: state.lower, upper: state.upper, phases: state.phases })
}

/// Growth of a channel's length, as a logarithm, that a phase at full load brings at first.
const FIRST_STEP: f64 = 0.2;

/// Phases at one step size, times its square, before the step is halved.
const LINGER: f64 = 4.0;

struct State<'a> {
    graph: &'a Graph,
    capacity: &'a [f64],
    length: Vec<f64>,
    /// Load of every channel, summed over the last `averaged` phases.
    load: Vec<f64>,
    averaged: u32,
    /// Lengths of every channel, scaled to fill 1 capacity together, summed over these phases.
    mean: Vec<f64>,
    lower: f64,
    upper: f64,
    phases: u32,
}

impl<'a> State<'a> {
    fn new(graph: &'a Graph, capacity: &'a [f64]) -> Self {
        let length = capacity.iter().map(|c| if *c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        let load = vec![0.0; capacity.len()];
        Self {
            graph,
            capacity,
            length,
            mean: load.clone(),
            load,
            averaged: 0,
            lower: 0.0,
            upper: f64::INFINITY,
            phases: 0,
        }
    }

    /// Starts a new mean; lengths are kept.
    fn forget(&mut self) {
        self.load.fill(0.0);
        self.mean.fill(0.0);
        self.averaged = 0;
    }

    /// Routes the whole demand once, and improves both bounds.
    fn phase(
        &mut self,
        sources: &[Source],
        step: f64,
        watch: &dyn Watch,
    ) -> Result<(), MeasureError> {
        let largest = self.length.iter().copied().fold(0.0, f64::max);
        for l in &mut self.length {
            *l = (*l / largest).max(SHORTEST);
        }
        let scale = if step > 0.0 { (self.lower * self.upper).sqrt() } else { 0.0 };
        let mut weighed = 0.0;
        for batch in sources.chunks(BATCH) {
            watch.tick("throughput", self.phases.into(), 0)?;
            let (graph, length) = (self.graph, &self.length);
            let routed: Vec<Tree> = batch
                .par_iter()
                .map_init(|| Search::new(graph), |search, source| search.route(length, source))
                .collect();
            for tree in routed {
                weighed += tree.weighed;
                for (channel, amount) in tree.flow {
                    let c = channel as usize;
                    self.load[c] += amount;
                    let grown = (step * scale * amount / self.capacity[c]).min(1.0).exp();
                    self.length[c] = (self.length[c] * grown).min(LONGEST);
                }
            }
        }
        self.phases += 1;
        self.averaged += 1;
        let busiest =
            self.load.iter().zip(self.capacity).map(|(l, c)| if *c > 0.0 { l / c } else { 0.0 });
        self.lower = self.lower.max(f64::from(self.averaged) / busiest.fold(0.0, f64::max));
        // lengths only grow within a phase, so no distance is below the one that was weighed
        let room: f64 = self.length.iter().zip(self.capacity).map(|(l, c)| l * c).sum();
        self.upper = self.upper.min(room / weighed);
        for (sum, l) in self.mean.iter_mut().zip(&self.length) {
            *sum += l / room;
        }
        Ok(())
    }

    /// Improves the upper bound by the mean of the lengths since the last [`State::forget`]:
    /// distances are concave in the lengths, so it is at least as good as theirs together.
    fn average(&mut self, sources: &[Source], watch: &dyn Watch) -> Result<(), MeasureError> {
        let mut weighed = 0.0;
        for batch in sources.chunks(BATCH) {
            watch.tick("throughput", self.phases.into(), 0)?;
            let (graph, mean) = (self.graph, &self.mean);
            let search = |search: &mut Search<'_>, source| search.weigh(mean, source);
            let each: Vec<f64> = batch.par_iter().map_init(|| Search::new(graph), search).collect();
            weighed += each.iter().sum::<f64>();
        }
        let room: f64 = self.mean.iter().zip(self.capacity).map(|(l, c)| l * c).sum();
        self.upper = self.upper.min(room / weighed);
        Ok(())
    }
}

/// What one source adds to the load, and its demands weighed by their distances.
struct Tree {
    flow: Vec<(u32, f64)>,
    weighed: f64,
}

/// A switch and its distance, ordered by distance, then by number.
#[derive(PartialEq)]
struct Reached(f64, u32);

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

struct Search<'a> {
    graph: &'a Graph,
    dist: Vec<f64>,
    /// The channel by which the search came to a switch.
    parent: Vec<u32>,
    passing: Vec<f64>,
    order: Vec<u32>,
    heap: BinaryHeap<Reverse<Reached>>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Self {
        let n = graph.switches();
        Self {
            graph,
            dist: vec![f64::INFINITY; n],
            parent: vec![u32::MAX; n],
            passing: vec![0.0; n],
            order: Vec::with_capacity(n),
            heap: BinaryHeap::new(),
        }
    }

    /// Routes the demand of `source` over shortest paths, split evenly where these meet.
    fn route(&mut self, length: &[f64], (source, demand): &Source) -> Tree {
        self.run(length, *source);
        self.passing.fill(0.0);
        let mut weighed = 0.0;
        for &(to, amount) in demand {
            self.passing[to as usize] += amount;
            weighed += amount * self.dist[to as usize];
        }
        let mut flow = Vec::with_capacity(self.order.len());
        for &v in self.order.iter().skip(1).rev() {
            let (v, amount) = (v as usize, self.passing[v as usize]);
            if amount == 0.0 {
                continue;
            }
            let (dist, graph, parent) = (&self.dist, self.graph, self.parent[v]);
            let before = |w: usize, comes: u32| {
                let tie = dist[w] + length[comes as usize] <= dist[v] * (1.0 + TIE);
                comes == parent || (tie && dist[w] < dist[v])
            };
            let row = || graph.neighbours(v).iter().zip(graph.channels(v));
            let begin = flow.len();
            flow.extend(
                row()
                    .map(|(&w, out)| (w, out.reverse().0))
                    .filter(|&(w, comes)| before(w as usize, comes))
                    .map(|(_, comes)| (comes, 0.0)),
            );
            let each = amount / (flow.len() - begin) as f64;
            for (_, share) in &mut flow[begin..] {
                *share = each;
            }
            for (&w, out) in row() {
                if before(w as usize, out.reverse().0) {
                    self.passing[w as usize] += each;
                }
            }
        }
        Tree { flow, weighed }
    }

    /// The demand of `source`, weighed by its distances.
    fn weigh(&mut self, length: &[f64], (source, demand): &Source) -> f64 {
        self.run(length, *source);
        demand.iter().map(|&(to, amount)| amount * self.dist[to as usize]).sum()
    }

    /// Distances from `source`, and the switches in their order.
    fn run(&mut self, length: &[f64], source: u32) {
        self.dist.fill(f64::INFINITY);
        self.order.clear();
        self.dist[source as usize] = 0.0;
        self.heap.push(Reverse(Reached(0.0, source)));
        while let Some(Reverse(Reached(d, v))) = self.heap.pop() {
            if d > self.dist[v as usize] {
                continue;
            }
            self.order.push(v);
            let row = self.graph.neighbours(v as usize).iter().zip(self.graph.channels(v as usize));
            for (&w, c) in row {
                let next = d + length[c.0 as usize];
                if next < self.dist[w as usize] {
                    self.dist[w as usize] = next;
                    self.parent[w as usize] = c.0;
                    self.heap.push(Reverse(Reached(next, w)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{family, parse_inline};
    use base::watch::Quiet;

    fn network(text: &str) -> Topology {
        let recipe = parse_inline(text).unwrap();
        family(&recipe.family).unwrap().build(&recipe.params).unwrap()
    }

    #[test]
    fn uniform_traffic_on_a_slim_fly_fills_every_channel() {
        let t = network("slim_fly:q=5,p=4");
        let found = bounds(&t, &Demand::uniform(&t).unwrap(), 0.01, &Quiet).unwrap();
        let hops = 50.0 * (7.0 + 2.0 * 42.0) * 16.0 / 199.0;
        assert!((found.lower - 350.0 / hops).abs() < 1e-9);
        assert!((found.upper - 350.0 / hops).abs() < 1e-9);
    }

    #[test]
    fn threads_change_nothing_and_bounds_meet() {
        let t = network("jellyfish:n=40,k=5,p=2");
        let matching = crate::load::demand::longest_matching(&t).unwrap();
        let demand = Demand::matched(&t, &matching, Some((0.3, 7))).unwrap();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bounds(&t, &demand, 0.05, &Quiet).unwrap())
        };
        let found = run(1);
        assert_eq!(found, run(3));
        assert!(found.lower > 0.0 && found.upper <= 1.05 * found.lower);
    }

    #[test]
    fn epsilon_and_demands_are_checked() {
        let t = network("ring:n=4,p=1");
        let all = Demand::uniform(&t).unwrap();
        for bad in [0.0, 0.004, 1.01, f64::NAN, f64::INFINITY, -1.0] {
            assert!(bounds(&t, &all, bad, &Quiet).unwrap_err().to_string().contains("epsilon"));
        }
        let nothing = Demand { flows: Vec::new() };
        assert!(bounds(&t, &nothing, 0.1, &Quiet).is_err());
    }
}
