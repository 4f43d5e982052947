//! Multilevel mapping: the pairs of processes with the most traffic are merged repeatedly into
//! clusters, the few remaining clusters are mapped, and then the merges are undone level by level,
//! each time followed by swaps that help.
//!
//! Source: Walshaw & Cross, "Multilevel mesh partitioning for heterogeneous communication
//! networks", Future Generation Computer Systems 2001: heavy edges contracted, refined on every
//! level.

use super::kind::{MappingMethod, MappingMethodEntry};
use super::local::descend;
use crate::arrangement::ProcessArrangement;
use crate::metric::SiteMetric;
use crate::run::{MappingMethodInput, PreparedMappingProblem};
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, Interrupted, ProgressWatch};

pub(super) const ENTRY: MappingMethodEntry = MappingMethodEntry::of::<MultilevelMethod>();

/// The mapping method that maps clusters of processes, then refines them level by level.
struct MultilevelMethod;

impl MappingMethod for MultilevelMethod {
    const PART: PartDescription = PartDescription::new(
        "multilevel",
        "heavy pairs made one again and again, mapped, taken apart",
    );

    fn step<M: SiteMetric>(
        run: &PreparedMappingProblem<'_, M>,
        at: &mut ProcessArrangement,
        _: u64,
    ) -> Result<(), ComputationError> {
        *at = multilevel(&run.input(), run.metric, run.watch)?;
        Ok(descend(run.proposals, run.metric, at, 50, run.watch)?)
    }
}

/// The number of clusters that are mapped without merging them further.
const FEW: usize = 48;

/// Passes over all clusters of a level.
const PASSES: u32 = 8;

/// Number of slots before and after a partner's slot that are tried for a swap.
const AROUND: u32 = 4;

/// One level: the traffic between clusters, the cluster in each slot, and the sites of the slots.
struct CoarseningLevel {
    rows: Vec<Vec<(u32, i64)>>,
    /// The slot of each cluster, and the cluster of each slot.
    slot: Vec<u32>,
    cluster: Vec<u32>,
    /// The site of each slot.
    site: Vec<u32>,
}

/// A multilevel mapping. Slots are paired in their order, so hosts that are near to one another
/// should be consecutive in the list. O(pairs log slots), plus the swaps.
///
/// # Errors
/// When processes are pinned, or `watch` says stop.
fn multilevel<M: SiteMetric>(
    input: &MappingMethodInput<'_>,
    metric: &M,
    watch: &dyn ProgressWatch,
) -> Result<ProcessArrangement, ComputationError> {
    let problem = input.problem;
    problem.without_pins("multilevel")?;
    let count = problem.slots.count();
    let row = |p: u32| problem.row(p).iter().map(|&(x, w)| (x, i64::from(w))).collect();
    let rows: Vec<Vec<(u32, i64)>> = (0..count as u32).map(row).collect();
    let site = (0..count as u32).map(|s| problem.slots.site(s)).collect();
    let mut draw = RandomStream::new(input.seed, "multilevel", 0);
    Ok(ProcessArrangement::of(problem, place(rows, site, metric, &mut draw, watch)?))
}

/// The slot of each cluster.
fn place<M: SiteMetric>(
    rows: Vec<Vec<(u32, i64)>>,
    site: Vec<u32>,
    metric: &M,
    draw: &mut RandomStream,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u32>, Interrupted> {
    let count = rows.len();
    watch.tick("levels", 0, count as u64)?;
    if count <= FEW {
        let slot: Vec<u32> = (0..count as u32).collect();
        let mut level = CoarseningLevel { rows, cluster: slot.clone(), slot, site };
        level.descend(metric, |_, count| 0..count);
        return Ok(level.slot);
    }
    let pairs = matched(&rows, draw);
    let mut part = vec![u32::MAX; count];
    for (i, &[a, b]) in (0..).zip(&pairs) {
        (part[a as usize], part[b as usize]) = (i, i);
    }
    let coarse_rows = pairs.iter().map(|&pair| merged(&rows, &part, pair)).collect();
    let coarse_site = site.chunks_exact(2).map(|two| two[0]).collect();
    let coarse = place(coarse_rows, coarse_site, metric, draw, watch)?;
    // with an odd number, the single one gets the last slot
    let mut slot = vec![count as u32 - 1; count];
    for (&[a, b], at) in pairs.iter().zip(coarse) {
        (slot[a as usize], slot[b as usize]) = (2 * at, 2 * at + 1);
    }
    let mut cluster = vec![0; count];
    (0..).zip(&slot).for_each(|(p, &s)| cluster[s as usize] = p);
    let mut level = CoarseningLevel { rows, slot, cluster, site };
    level.descend(metric, |s, count| s.saturating_sub(AROUND)..(s + AROUND + 1).min(count));
    Ok(level.slot)
}

/// Pairs each cluster with the free one with which it exchanges the most traffic, and the remaining
/// ones in their order; if the number is odd, the cluster with the least traffic stays single.
fn matched(rows: &[Vec<(u32, i64)>], draw: &mut RandomStream) -> Vec<[u32; 2]> {
    let count = rows.len();
    let mut order: Vec<u32> = (0..count as u32).collect();
    draw.shuffle(&mut order);
    let mut free = vec![true; count];
    if !count.is_multiple_of(2) {
        let weight = |p: &u32| rows[*p as usize].iter().map(|e| e.1).sum::<i64>();
        let least = (0..count as u32).min_by_key(weight).expect("there are some");
        free[least as usize] = false;
    }
    let (mut pairs, mut alone) = (Vec::with_capacity(count / 2), Vec::new());
    for &p in &order {
        if !std::mem::replace(&mut free[p as usize], false) {
            continue;
        }
        let partners = rows[p as usize].iter().filter(|e| free[e.0 as usize]);
        match partners.max_by_key(|e| (e.1, std::cmp::Reverse(e.0))) {
            Some(&(x, _)) => {
                free[x as usize] = false;
                pairs.push([p, x]);
            }
            None => alone.push(p),
        }
    }
    alone.sort_unstable();
    pairs.extend(alone.chunks_exact(2).map(|two| [two[0], two[1]]));
    pairs
}

/// The traffic of a merged pair with other merged pairs.
fn merged(rows: &[Vec<(u32, i64)>], part: &[u32], pair: [u32; 2]) -> Vec<(u32, i64)> {
    let own = part[pair[0] as usize];
    let both = pair.iter().flat_map(|&p| &rows[p as usize]);
    let mut all: Vec<(u32, i64)> = both
        .map(|&(x, w)| (part[x as usize], w))
        .filter(|&(x, _)| x != own && x != u32::MAX)
        .collect();
    all.sort_unstable();
    let same = all.chunk_by(|a, b| a.0 == b.0);
    same.map(|entries| (entries[0].0, entries.iter().map(|e| e.1).sum())).collect()
}

impl CoarseningLevel {
    fn at(&self, cluster: u32) -> u32 {
        self.site[self.slot[cluster as usize] as usize]
    }

    /// The change of the weighted sum of distances when two clusters exchange their slots.
    fn gain<M: SiteMetric>(&self, metric: &M, u: u32, v: u32) -> i64 {
        let (a, b) = (self.at(u), self.at(v));
        let moved = |p: u32, other: u32, from: u32, to: u32| -> i64 {
            let row = self.rows[p as usize].iter().filter(|e| e.0 != other);
            row.map(|&(x, w)| {
                let s = self.at(x);
                w * i64::from(metric.hops(to, s) - metric.hops(from, s))
            })
            .sum()
        };
        moved(u, v, a, b) + moved(v, u, b, a)
    }

    /// Swaps clusters with those whose slots are at most `near` slots from a partner's, as long as
    /// that helps.
    fn descend<M: SiteMetric>(
        &mut self,
        metric: &M,
        near: impl Fn(u32, u32) -> std::ops::Range<u32>,
    ) {
        let count = self.rows.len() as u32;
        for _ in 0..PASSES {
            let mut better = false;
            for u in 0..count {
                for i in 0..self.rows[u as usize].len() {
                    let x = self.rows[u as usize][i].0;
                    for s in near(self.slot[x as usize], count) {
                        let v = self.cluster[s as usize];
                        if v != u && self.at(v) != self.at(u) && self.gain(metric, u, v) < 0 {
                            self.slot.swap(u as usize, v as usize);
                            self.cluster[self.slot[u as usize] as usize] = u;
                            self.cluster[self.slot[v as usize] as usize] = v;
                            better = true;
                        }
                    }
                }
            }
            if !better {
                break;
            }
        }
    }
}
