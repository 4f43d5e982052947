//! Link-disjoint paths between switches with endpoints, of any length and of bounded length.

use super::bounded::{BoundedPathCounter, PathCountRange};
use super::flow::flow_tree;
use super::packing::settle;
use super::paths::{PathCounts, add_histogram};
use super::planes_of;
use super::symmetry::sources;
use base::ComputationError;
use base::seed::RandomStream;
use base::{Graph, Interrupted, ProgressWatch, Refusal};
use fabric::network::Topology;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of pairwise link-disjoint paths, over ordered pairs of distinct switches with endpoints
/// of one plane. Pairs with no path at all count with 0.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DisjointPaths")]
pub struct DisjointPathCounts {
    /// Paths of any length, for all pairs: the fewest links whose loss separates the two switches
    /// (Menger).
    pub any_length: PathCounts,
    /// Paths of bounded length, one entry per bound.
    pub bounded: Vec<BoundedPathCounts>,
}

/// Numbers of link-disjoint paths of at most `hops` hops.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BoundedPaths")]
pub struct BoundedPathCounts {
    /// Most hops of a path.
    pub hops: u32,
    /// Whether the pairs are a random sample (drawn with replacement), not all.
    pub sampled: bool,
    /// Whether all counts are proved to be the largest possible; else some are lower bounds.
    pub exact: bool,
    /// Pairs whose count is proved to be the largest possible.
    pub exact_pairs: u64,
    /// The numbers of paths found, over pairs.
    pub counts: PathCounts,
    /// The proved upper bounds of these numbers, over pairs; equal to `counts` where `exact`.
    pub at_most: PathCounts,
}

/// The largest number of arcs that the searches for one length bound visit, all pairs together;
/// they take some tens of seconds.
const WORK: u64 = 4_000_000_000;
/// The largest number of arcs that the search for one pair visits.
const MOST_WORK: u64 = 20_000_000;

/// The parameters of [`disjoint_paths`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisjointPathParameters {
    /// The bounds of the length in hops; `None`: the diameter, and the diameter plus one.
    pub hops: Option<Vec<u32>>,
    /// The number of ordered pairs whose bounded paths are counted: all pairs if there are no more,
    /// else a random sample.
    pub pairs: u64,
    /// Seed of the sample.
    pub seed: u64,
}

/// Counts link-disjoint paths. Parallel links count as different links.
///
/// Counts of paths of any length, and of at most three hops, are exact. Longer bounded paths are
/// found shortest first. If the usable links at either end do not prove that there are no more, a
/// search of limited work continues (`packing`), and the result states what remains open.
/// O(switches * links) for any length if only the links of the switches limit the number, see
/// [`super::flow`]; before the search, O(radix^2) for each pair up to three hops, and O(radix *
/// links) beyond.
///
/// # Errors
/// When a bound or the number of pairs is 0, or `watch` says stop.
pub fn disjoint_paths(
    t: &Topology,
    rules: &DisjointPathParameters,
    watch: &dyn ProgressWatch,
) -> Result<DisjointPathCounts, ComputationError> {
    if rules.pairs == 0 {
        return Err(Refusal::new("pairs", "0 pairs tell nothing", "at least 1").into());
    }
    let edge = t.edge_switches();
    let planes = planes_of(t, &edge);
    let hops = match &rules.hops {
        Some(hops) if hops.contains(&0) => {
            let why = "no path has 0 hops";
            return Err(Refusal::new("hops", why, "at least 1").into());
        }
        Some(hops) => hops.clone(),
        None => {
            let diameter = super::by_plane(t, &edge, watch)?.diameter();
            if diameter == 0 { Vec::new() } else { vec![diameter, diameter + 1] }
        }
    };
    let mut all = BTreeMap::new();
    for plane in planes.iter().filter(|p| p.len() > 1) {
        let tree = flow_tree(t.graph(), plane, watch)?;
        add_histogram(&mut all, &pairs_by_flow(plane.len(), tree));
    }
    let bounded = hops
        .into_iter()
        .map(|hops| bounded(t, &planes, hops, rules, watch))
        .collect::<Result<_, Interrupted>>()?;
    Ok(DisjointPathCounts { any_length: all.into(), bounded })
}

/// For each number of paths, the number of ordered pairs: that of a pair is the least flow on the
/// path between its switches in the tree.
fn pairs_by_flow(members: usize, tree: Vec<(u32, u64)>) -> BTreeMap<u64, u64> {
    let mut joints: Vec<(u64, u32, u32)> =
        tree.into_iter().zip(1..).map(|((to, flow), i)| (flow, i, to)).collect();
    joints.sort_unstable_by(|a, b| b.cmp(a));
    let mut part = super::union::DisjointSets::new(members);
    let mut histogram = BTreeMap::new();
    for (flow, a, b) in joints {
        let pairs = 2 * part.size(a) * part.size(b);
        part.join(a, b);
        *histogram.entry(flow).or_insert(0) += pairs;
    }
    histogram
}

/// The pairs to count: targets, and for each its sources with the number of pairs that each stands
/// for.
struct SwitchPairWorklist {
    targets: Vec<(u32, Vec<u32>)>,
    each: u64,
    sampled: bool,
}

fn work(t: &Topology, planes: &[Vec<u32>], rules: &DisjointPathParameters) -> SwitchPairWorklist {
    let pairs_of = |plane: &Vec<u32>| (plane.len() * plane.len().saturating_sub(1)) as u64;
    let total: u64 = planes.iter().map(pairs_of).sum();
    if total <= rules.pairs {
        let others = |set: &[u32], t: u32| set.iter().copied().filter(|&s| s != t).collect();
        let edge: Vec<u32> = planes.concat();
        let (targets, each) = if planes.len() == 1 { sources(t, &edge) } else { (edge, 1) };
        if each > 1 {
            let targets = targets.into_iter().map(|t| (t, others(&planes[0], t))).collect();
            return SwitchPairWorklist { targets, each, sampled: false };
        }
        // a count is the same in both directions: only pairs in rising order are counted
        let up = |plane: &Vec<u32>| {
            let pairs = |i: usize| (plane[i], plane[..i].to_vec());
            (0..plane.len()).map(pairs).collect::<Vec<_>>()
        };
        return SwitchPairWorklist {
            targets: planes.iter().flat_map(up).collect(),
            each: 2,
            sampled: false,
        };
    }
    let mut draw = RandomStream::new(rules.seed, "pairs of switches", 0);
    let mut targets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for _ in 0..rules.pairs {
        let mut at = draw.below(total);
        let plane = planes.iter().find(|plane| {
            let here = at < pairs_of(plane);
            at -= if here { 0 } else { pairs_of(plane) };
            here
        });
        let plane = plane.expect("a pair below the total is of some plane");
        let others = plane.len() as u64 - 1;
        let (s, t) = ((at / others) as usize, (at % others) as usize);
        targets.entry(plane[t + usize::from(t >= s)]).or_default().push(plane[s]);
    }
    SwitchPairWorklist { targets: targets.into_iter().collect(), each: 1, sampled: true }
}

/// A pair of switches whose number of paths is not known exactly, with its bounds.
struct UnsettledSwitchPair {
    from: u32,
    to: u32,
    range: PathCountRange,
}

/// The counts of pairs of switches: the known numbers, and the pairs whose number is not known.
#[derive(Default)]
struct SwitchPairCounts {
    low: BTreeMap<u64, u64>,
    high: BTreeMap<u64, u64>,
    exact: u64,
    open: Vec<UnsettledSwitchPair>,
}

impl SwitchPairCounts {
    fn add(&mut self, range: PathCountRange, pairs: u64) {
        *self.low.entry(range.low).or_insert(0) += pairs;
        *self.high.entry(range.high).or_insert(0) += pairs;
        self.exact += if range.low == range.high { pairs } else { 0 };
    }

    fn merge(mut self, other: Self) -> Self {
        add_histogram(&mut self.low, &other.low);
        add_histogram(&mut self.high, &other.high);
        self.exact += other.exact;
        self.open.extend(other.open);
        self
    }
}

fn bounded(
    t: &Topology,
    planes: &[Vec<u32>],
    hops: u32,
    rules: &DisjointPathParameters,
    watch: &dyn ProgressWatch,
) -> Result<BoundedPathCounts, Interrupted> {
    let graph: &Graph = t.graph();
    let work = work(t, planes, rules);
    let total: u64 = work.targets.iter().map(|(_, from)| from.len() as u64).sum();
    let done = AtomicU64::new(0);
    let count = |room: &mut BoundedPathCounter, target: u32, from: &[u32]| {
        let near = graph.distances_from(target as usize);
        let mut found = SwitchPairCounts::default();
        for from in from.chunks(64) {
            for &s in from {
                let range = room.count(s, target, &near);
                if range.low < range.high {
                    found.open.push(UnsettledSwitchPair { from: s, to: target, range });
                } else {
                    found.add(range, work.each);
                }
            }
            let n = done.fetch_add(from.len() as u64, Ordering::Relaxed) + from.len() as u64;
            watch.tick("paths of bounded length", n, total)?;
        }
        Ok(found)
    };
    let mut found = work
        .targets
        .par_iter()
        .map_init(
            || BoundedPathCounter::new(graph, hops),
            |room, (target, from)| count(room, *target, from),
        )
        .try_reduce(SwitchPairCounts::default, |sum, part| Ok(sum.merge(part)))?;
    let open = std::mem::take(&mut found.open);
    for range in settled(graph, hops, &open, watch)? {
        found.add(range, work.each);
    }
    let (counts, at_most) = (PathCounts::from(found.low), PathCounts::from(found.high));
    let exact_pairs = found.exact;
    let exact = exact_pairs == counts.pairs;
    Ok(BoundedPathCounts { hops, sampled: work.sampled, exact, exact_pairs, counts, at_most })
}

/// Searches for each pair of `open`, with equal shares of the work.
fn settled(
    graph: &Graph,
    hops: u32,
    open: &[UnsettledSwitchPair],
    watch: &dyn ProgressWatch,
) -> Result<Vec<PathCountRange>, Interrupted> {
    let each = WORK / (open.len() as u64).max(1);
    let done = AtomicU64::new(0);
    let by_target: Vec<&[UnsettledSwitchPair]> = open.chunk_by(|a, b| a.to == b.to).collect();
    let found: Vec<Vec<PathCountRange>> = by_target
        .par_iter()
        .map(|open| {
            let near = graph.distances_from(open[0].to as usize);
            let settle = |pair: &UnsettledSwitchPair| {
                let n = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch.tick("paths of bounded length, searched", n, open.len() as u64)?;
                let ends = (pair.from, pair.to);
                Ok(settle(graph, ends, hops, &near, pair.range, each.min(MOST_WORK)))
            };
            open.iter().map(settle).collect()
        })
        .collect::<Result<_, Interrupted>>()?;
    Ok(found.concat())
}
