//! Maximum achievable throughput, bounded from both sides.
//!
//! Source: Jyothi, Singla, Godfrey, Kolla, "Measuring and understanding throughput of network
//! topologies", SC 2016 (the measure); Garg & Koenemann, "Faster and simpler algorithms for
//! multicommodity flow and other fractional packing problems", FOCS 1998 (lengths that grow
//! exponentially with load, and the bound from them); Ford & Fulkerson, "A suggested computation
//! for maximal multi-commodity network flows", Management Science 1958 (routes found when needed).

use super::routes::{DemandRoutes, MOST_HOPS, choices, too_many_hops};
use super::split::{RouteAmounts, SearchedRoutes};
use base::ComputationError;
use base::{Graph, ProgressWatch, Refusal};
use fabric::network::Topology;
use fabric::tables::Routing;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use traffic::demand::{SourceDemand, TrafficDemand, capacities};

/// Bounds of the maximum achievable throughput, with everything that proves them.
#[derive(Debug, Clone, PartialEq)]
pub struct ThroughputBounds {
    /// The lower bound: `share` routes this multiple of the demand within the capacity of every
    /// channel.
    pub lower: f64,
    /// The upper bound: the sum of capacity times `lengths` divided by the sum of demand times
    /// distance.
    pub upper: f64,
    /// The number of rounds in which routes were searched and the split over them improved.
    pub rounds: u32,
    /// The lengths of all channels that prove the upper bound.
    pub lengths: Vec<f64>,
    /// The demands, as [`TrafficDemand::by_switch`] or [`choices`] order them, and their routes.
    pub routes: DemandRoutes,
    /// The amount that every route carries; those of a demand sum to it.
    pub share: Vec<f64>,
}

/// The smallest `epsilon` of [`bounds`].
pub const LEAST_EPSILON: f64 = 0.005;

/// The number of rounds after which [`bounds`] gives up.
const MOST_ROUNDS: u32 = 2000;

/// Number of sources that are searched between two calls of `watch`.
const BATCH: usize = 64;

/// Largest number of routes that a round adds in excess of one for each demand.
const MOST_NEW: usize = 1 << 18;

/// A new route must be shorter by this fraction to be added.
const WORTH: f64 = 1e-6;

/// The fraction of `epsilon` that the smoothness of the potential may use up; the potential is
/// sharpened until it uses less.
const SMOOTH: f64 = 0.3;

/// The least and the largest number of passes over the split before routes are searched again.
const SWEEPS: (usize, usize) = (4, 64);

/// Bounds of the largest t such that t times `demand` can be routed over any paths, split freely,
/// with `upper / lower <= 1 + epsilon`.
///
/// Routes are found when they are needed. Lengths of channels grow exponentially with their load.
/// In every round each demand gets routes that are shorter than its present ones, and then moves
/// traffic from its longer routes to its shortest. The inverse of the largest load is a lower
/// bound. By weak duality any lengths give an upper bound: the sum of capacity times length divided
/// by the sum of demand times distance. Units: see [`capacities`]. O(rounds * sources * links *
/// log(switches)), with parallel searches; usually 5 to 20 rounds at an `epsilon` of 0.05, and many
/// more below 0.01.
///
/// # Errors
/// When `epsilon` is not between [`LEAST_EPSILON`] and 1, no demand leaves its switch, or there is
/// no path for one; when the routes are too many; when the bounds do not meet; when `watch` says
/// stop.
pub fn bounds(
    t: &Topology,
    demand: &TrafficDemand,
    epsilon: f64,
    watch: &dyn ProgressWatch,
) -> Result<ThroughputBounds, ComputationError> {
    check(epsilon)?;
    let sources = demand.by_switch(t)?;
    let amounts = sources.iter().flat_map(|(_, to)| to.iter().map(|d| d.1)).collect();
    let capacity = capacities(t);
    let mut split = RouteAmounts::new(&capacity, DemandRoutes::none(amounts));
    let work = sources.len() * t.graph().arcs();
    let refine = |split: &mut RouteAmounts<'_>, round: u32| {
        let weighed = search_all(t.graph(), &sources, split, round, watch)?;
        let hops = split.routes.all_channels().len();
        Ok((weighed, (work / hops).clamp(SWEEPS.0, SWEEPS.1)))
    };
    meet(&mut split, epsilon, refine, watch)
}

/// As [`bounds`], but every demand may use only its routes in `routing`, one for each layer.
/// O(rounds * hops of routes).
///
/// # Errors
/// As [`bounds`]; when a route does not arrive or crosses a link that is down.
pub fn bounds_over(
    routing: &Routing,
    demand: &TrafficDemand,
    epsilon: f64,
    watch: &dyn ProgressWatch,
) -> Result<ThroughputBounds, ComputationError> {
    check(epsilon)?;
    let capacity = capacities(routing.topology());
    let routes = choices(routing, demand, watch)?;
    if routes.all_channels().iter().any(|&c| capacity[c as usize] <= 0.0) {
        let why = "a route crosses a link that is down";
        return Err(Refusal::new("tables", why, "route the network again").into());
    }
    let mut split = RouteAmounts::new(&capacity, routes);
    let refine = |split: &mut RouteAmounts<'_>, _: u32| {
        let amounts = split.routes.amount.iter().enumerate();
        Ok((amounts.map(|(i, amount)| amount * split.least(i)).sum(), SWEEPS.0))
    };
    meet(&mut split, epsilon, refine, watch)
}

fn check(epsilon: f64) -> Result<(), Refusal> {
    if (LEAST_EPSILON..=1.0).contains(&epsilon) {
        return Ok(());
    }
    let help = format!("{LEAST_EPSILON} to 1");
    Err(Refusal::new("epsilon", format!("{epsilon} is out of range"), help))
}

/// Runs rounds until the bounds are close enough. `refine` finds routes, and returns the sum of
/// demand times distance under the lengths, and the number of passes until the next round.
fn meet(
    split: &mut RouteAmounts<'_>,
    epsilon: f64,
    mut refine: impl FnMut(&mut RouteAmounts<'_>, u32) -> Result<(f64, usize), ComputationError>,
    watch: &dyn ProgressWatch,
) -> Result<ThroughputBounds, ComputationError> {
    let (mut upper, mut lengths) = (f64::INFINITY, Vec::new());
    for round in 1..=MOST_ROUNDS {
        let (weighed, sweeps) = refine(split, round)?;
        let dual = split.room() / weighed;
        if dual < upper {
            upper = dual;
            lengths.clone_from(&split.length);
        }
        split.balance(sweeps, round, watch)?;
        let lower = 1.0 / split.busiest;
        if upper <= (1.0 + epsilon) * lower {
            let (routes, share) = (std::mem::take(&mut split.routes), split.share.clone());
            return Ok(ThroughputBounds { lower, upper, rounds: round, lengths, routes, share });
        }
        // there are two gaps: that of the potential, and that of routes not yet found or not
        // equally long
        let (smooth, uneven) = (split.busiest / split.mean(), split.mean() * dual);
        if smooth - 1.0 > SMOOTH * epsilon && smooth > uneven {
            split.sharpness *= 2.0;
        }
    }
    let (lower, help) = (1.0 / split.busiest, "a larger epsilon");
    let why = format!("the bounds are {lower} and {upper} after {MOST_ROUNDS} rounds");
    Err(Refusal::new("epsilon", why, help).into())
}

/// Finds routes for every demand that are shorter than its present ones. Returns the sum of demand
/// times distance.
fn search_all(
    graph: &Graph,
    sources: &[SourceDemand],
    split: &mut RouteAmounts<'_>,
    round: u32,
    watch: &dyn ProgressWatch,
) -> Result<f64, ComputationError> {
    let new = (MOST_NEW / split.routes.amount.len()).max(1);
    let ends = sources.iter().scan(0, |end, (_, to)| {
        *end += to.len();
        Some(*end - to.len())
    });
    let starts: Vec<usize> = ends.collect();
    let (mut found, mut weighed, mut hops) = (Vec::with_capacity(sources.len()), 0.0, 0);
    for (batch, starts) in sources.chunks(BATCH).zip(starts.chunks(BATCH)) {
        watch.tick("throughput", round.into(), 0)?;
        let known: &RouteAmounts<'_> = split;
        let each: Vec<(SearchedRoutes, f64)> = batch
            .par_iter()
            .zip(starts)
            .map_init(
                || ShortestPathSearch::new(graph),
                |search, (s, &at)| search.find(known, s, at, new),
            )
            .collect();
        for (of_source, amount) in each {
            weighed += amount;
            hops += of_source.hops();
            found.push(of_source);
        }
        if hops + split.routes.all_channels().len() > MOST_HOPS {
            return Err(too_many_hops().into());
        }
    }
    split.extend(&found);
    Ok(weighed)
}

/// An entry of the queue of a search: a switch and its distance, ordered by distance, then by
/// number.
#[derive(PartialEq)]
struct QueuedSwitch(f64, u32);

impl Eq for QueuedSwitch {}

impl PartialOrd for QueuedSwitch {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QueuedSwitch {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// A search for shortest paths by the current lengths of channels, from one source at a time.
struct ShortestPathSearch<'a> {
    graph: &'a Graph,
    dist: Vec<f64>,
    /// For each switch, the channel by which the search reached it, and the switch before it.
    parent: Vec<(u32, u32)>,
    heap: BinaryHeap<Reverse<QueuedSwitch>>,
}

impl<'a> ShortestPathSearch<'a> {
    fn new(graph: &'a Graph) -> Self {
        let n = graph.switches();
        let dist = vec![f64::INFINITY; n];
        Self { graph, dist, parent: vec![(0, 0); n], heap: BinaryHeap::new() }
    }

    /// Finds routes for the demands of a source that are shorter than their present ones, at most
    /// `new` for each, with different last channels; `first` is the index of the source's first
    /// demand. Also returns the sum of demand times distance.
    fn find(
        &mut self,
        split: &RouteAmounts<'_>,
        (source, demand): &SourceDemand,
        first: usize,
        new: usize,
    ) -> (SearchedRoutes, f64) {
        let own: Vec<f64> = (first..first + demand.len()).map(|i| split.least(i)).collect();
        self.run(&split.length, *source, own.iter().copied().fold(0.0, f64::max));
        let (mut found, mut weighed, mut shorter) = (SearchedRoutes::default(), 0.0, Vec::new());
        for (i, (&(to, amount), &least)) in demand.iter().zip(&own).enumerate() {
            weighed += amount * self.dist[to as usize].min(least);
            shorter.clear();
            let row =
                self.graph.neighbours(to as usize).iter().zip(self.graph.channels(to as usize));
            shorter.extend(
                row.map(|(&w, out)| (self.dist[w as usize], w, out.reverse().0))
                    .map(|(dist, w, last)| (dist + split.length[last as usize], w, last))
                    .filter(|x| x.0 < least * (1.0 - WORTH)),
            );
            shorter.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
            for &(_, w, last) in shorter.iter().take(new) {
                self.trace(*source, to, (w, last), first + i, &mut found);
            }
        }
        (found, weighed)
    }

    /// Adds the route from `source` to `to` that takes the shortest path to `w` and then the
    /// channel `last`, unless that path passes `to` already.
    fn trace(
        &self,
        source: u32,
        to: u32,
        (w, last): (u32, u32),
        choice: usize,
        found: &mut SearchedRoutes,
    ) {
        let (mut at, mut backwards) = (w, vec![last]);
        while at != source {
            if at == to {
                return;
            }
            let (channel, before) = self.parent[at as usize];
            backwards.push(channel);
            at = before;
        }
        found.add(choice, &backwards);
    }

    /// Computes distances from `source` below `limit`; switches beyond stay at infinity.
    fn run(&mut self, length: &[f64], source: u32, limit: f64) {
        self.dist.fill(f64::INFINITY);
        self.dist[source as usize] = 0.0;
        self.heap.push(Reverse(QueuedSwitch(0.0, source)));
        while let Some(Reverse(QueuedSwitch(d, v))) = self.heap.pop() {
            if d > self.dist[v as usize] {
                continue;
            }
            let row = self.graph.neighbours(v as usize).iter().zip(self.graph.channels(v as usize));
            for (&w, c) in row {
                let next = d + length[c.0 as usize];
                if next < self.dist[w as usize] && next < limit {
                    self.dist[w as usize] = next;
                    self.parent[w as usize] = (c.0, v);
                    self.heap.push(Reverse(QueuedSwitch(next, w)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::watch::QuietWatch;
    use fabric::network::parse_inline;
    use families::family;
    use traffic::sending::OfferedTraffic;

    fn network(text: &str) -> Topology {
        let recipe = parse_inline(text).unwrap();
        family(&recipe.family).unwrap().build(&recipe.params).unwrap()
    }

    /// Checks both bounds again from what proves them: every route is a path between the ends of
    /// its demand, `lower` times the shares fits every channel, and distances under the lengths
    /// (computed by rounds over all channels, without a heap) give `upper`.
    fn recheck(t: &Topology, demand: &TrafficDemand, found: &ThroughputBounds) {
        let capacity = capacities(t);
        let ends = |c: usize| {
            let (a, b) = (t.links()[c / 2].a.switch.0, t.links()[c / 2].b.switch.0);
            if c.is_multiple_of(2) { (a, b) } else { (b, a) }
        };
        let mut load = vec![0.0; capacity.len()];
        let (mut choice, mut weighed) = (0, 0.0);
        for (source, to) in demand.by_switch(t).unwrap() {
            let mut dist = vec![f64::INFINITY; t.switches().len()];
            dist[source as usize] = 0.0;
            for _ in 0..t.switches().len() {
                for c in (0..capacity.len()).filter(|&c| capacity[c] > 0.0) {
                    let (a, b) = ends(c);
                    dist[b as usize] = dist[b as usize].min(dist[a as usize] + found.lengths[c]);
                }
            }
            for (destination, amount) in to {
                weighed += amount * dist[destination as usize];
                let mut sum = 0.0;
                for r in found.routes.of(choice) {
                    let mut at = source;
                    for &c in found.routes.channels(r) {
                        assert_eq!(ends(c as usize).0, at);
                        at = ends(c as usize).1;
                        load[c as usize] += found.share[r];
                    }
                    assert_eq!(at, destination);
                    assert!(found.share[r] >= 0.0);
                    sum += found.share[r];
                }
                assert!((sum - amount).abs() < 1e-12 * amount);
                choice += 1;
            }
        }
        let full = |(x, c): (&f64, &f64)| found.lower * x <= c * (1.0 + 1e-12);
        assert!(load.iter().zip(&capacity).all(full));
        let room: f64 = found.lengths.iter().zip(&capacity).map(|(l, c)| l * c).sum();
        assert!((room / weighed / found.upper - 1.0).abs() < 1e-9);
    }

    fn named(t: &Topology, name: &str) -> TrafficDemand {
        OfferedTraffic::named(t, name, 0.1, 7, &QuietWatch).unwrap().0.demand(t).unwrap()
    }

    #[test]
    fn both_bounds_are_proved_by_what_comes_with_them() {
        for text in ["slim_fly:q=5,p=4", "mesh:shape=3x4,p=2", "dragonfly:h=2", "xgft:m=3x2,w=1x2"]
        {
            let t = network(text);
            for name in ["uniform", "longest_matching", "elephant:0.3"] {
                let demand = named(&t, name);
                for epsilon in [0.2, 0.02] {
                    let found = bounds(&t, &demand, epsilon, &QuietWatch).unwrap();
                    assert!(found.lower <= found.upper);
                    assert!(found.upper <= (1.0 + epsilon) * found.lower);
                    recheck(&t, &demand, &found);
                }
            }
        }
    }

    #[test]
    fn uniform_traffic_on_a_slim_fly_fills_every_channel() {
        let t = network("slim_fly:q=5,p=4");
        let found = bounds(&t, &TrafficDemand::uniform(&t).unwrap(), 0.01, &QuietWatch).unwrap();
        let hops = 50.0 * (7.0 + 2.0 * 42.0) * 16.0 / 199.0;
        assert!(found.lower <= 350.0 / hops && 350.0 / hops <= found.upper * (1.0 + 1e-12));
    }

    #[test]
    fn threads_change_nothing_and_bounds_meet() {
        let t = network("jellyfish:n=40,k=5,p=2");
        let demand = named(&t, "elephant:0.3");
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bounds(&t, &demand, 0.05, &QuietWatch).unwrap())
        };
        let found = run(1);
        assert_eq!(found, run(3));
        assert!(found.lower > 0.0 && found.upper <= 1.05 * found.lower);
    }

    #[test]
    fn epsilon_and_demands_are_checked() {
        let t = network("ring:n=4,p=1");
        let all = TrafficDemand::uniform(&t).unwrap();
        for bad in [0.0, 0.004, 1.01, f64::NAN, f64::INFINITY, -1.0] {
            assert!(
                bounds(&t, &all, bad, &QuietWatch).unwrap_err().to_string().contains("epsilon")
            );
        }
        let nothing = TrafficDemand { flows: Vec::new() };
        assert!(bounds(&t, &nothing, 0.1, &QuietWatch).is_err());
    }
}
