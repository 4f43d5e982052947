//! Path diversity: how many link-disjoint paths the layers of given tables offer each pair of
//! switches.
//!
//! Source: Blach et al., "A high-performance design, implementation, deployment, and evaluation of
//! the Slim Fly network", NSDI 2024 (disjoint paths per switch pair); Besta et al.,
//! "FatPaths: routing in supercomputers and data centers when shortest paths fall short", SC 2020.

use base::stage::{BetterDirection, ColumnType};
use base::{
    ComputationError, ExperimentStage, Interrupted, ProgressWatch, RecordColumn, ResourceNeed,
    SwitchId, TerminalId,
};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::Routing;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The path diversity of ordered pairs of distinct switches of one plane with working terminals.
///
/// The paths of a pair are the distinct routes of all layers to one terminal of the second switch;
/// if its terminals have different numbers of paths, the fewest count. Two paths are disjoint if
/// they share no link in either direction; parallel links are different links. Routes that do not
/// arrive do not count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathDiversity {
    /// Histogram: `disjoint[n]` pairs have `n` pairwise link-disjoint paths and no more.
    pub disjoint: Vec<u64>,
    /// Histogram: `distinct[n]` pairs have `n` distinct paths.
    pub distinct: Vec<u64>,
    /// Histogram for each layer: `lengths[layer][h]` routes have `h` hops, one for every pair and
    /// terminal.
    pub lengths: Vec<Vec<u64>>,
    /// Histogram: the longest route of `longest[h]` pairs has `h` hops, over all layers and
    /// terminals.
    pub longest: Vec<u64>,
    /// For each (total hops of a pair's routes, number of these routes), the number of pairs; the
    /// number of routes is not 0.
    together: BTreeMap<(u64, u64), u64>,
}

impl PathDiversity {
    /// Ordered pairs of switches.
    pub fn pairs(&self) -> u64 {
        self.disjoint.iter().sum()
    }

    /// Mean number of link-disjoint paths of a pair, `None` without pairs.
    pub fn mean_disjoint(&self) -> Option<f64> {
        mean(&self.disjoint)
    }

    /// Mean number of distinct paths of a pair, `None` without pairs.
    pub fn mean_distinct(&self) -> Option<f64> {
        mean(&self.distinct)
    }

    /// The fraction of the pairs that have at least `n` link-disjoint paths, `None` without pairs.
    pub fn fraction_with(&self, n: usize) -> Option<f64> {
        let rich: u64 = self.disjoint.iter().skip(n).sum();
        (self.pairs() > 0).then(|| rich as f64 / self.pairs() as f64)
    }

    /// For each mean number of hops of a pair's routes, over all layers and terminals, the number
    /// of pairs; in rising order.
    pub fn mean_lengths(&self) -> Vec<(f64, u64)> {
        let mut found: Vec<(f64, u64)> = Vec::new();
        let means =
            self.together.iter().map(|(&(hops, n), &pairs)| (hops as f64 / n as f64, pairs));
        let mut means: Vec<(f64, u64)> = means.collect();
        means.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (mean, pairs) in means {
            match found.last_mut() {
                Some(last) if last.0.total_cmp(&mean).is_eq() => last.1 += pairs,
                _ => found.push((mean, pairs)),
            }
        }
        found
    }

    fn new(layers: u32) -> Self {
        Self { lengths: vec![Vec::new(); layers as usize], ..Self::default() }
    }

    fn merge(mut self, other: &Self) -> Self {
        let pairs = self.lengths.iter_mut().zip(&other.lengths);
        for (own, more) in pairs
            .chain([(&mut self.disjoint, &other.disjoint), (&mut self.distinct, &other.distinct)])
            .chain([(&mut self.longest, &other.longest)])
        {
            own.resize(own.len().max(more.len()), 0);
            own.iter_mut().zip(more).for_each(|(n, m)| *n += m);
        }
        for (&key, pairs) in &other.together {
            *self.together.entry(key).or_default() += pairs;
        }
        self
    }
}

fn mean(histogram: &[u64]) -> Option<f64> {
    let pairs: u64 = histogram.iter().sum();
    let sum: u128 = histogram.iter().zip(0_u128..).map(|(&n, i)| u128::from(n) * i).sum();
    (pairs > 0).then(|| sum as f64 / pairs as f64)
}

fn count(histogram: &mut Vec<u64>, at: usize) {
    if histogram.len() <= at {
        histogram.resize(at + 1, 0);
    }
    histogram[at] += 1;
}

/// Counts distinct and link-disjoint paths of every pair, exactly. Parallel over destinations.
///
/// O(hops of all routes), and for every pair a search for the largest set of disjoint paths among
/// its distinct ones (at most one per layer). The search could be slow for many long paths that
/// share links in many combinations.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn path_diversity(
    routing: &Routing,
    watch: &dyn ProgressWatch,
) -> Result<PathDiversity, Interrupted> {
    let on = routing.topology();
    let sources = routing.sources();
    let homes = on.edge_switches();
    let done = AtomicU64::new(0);
    let parts: Vec<PathDiversity> = homes
        .par_iter()
        .map(|&home| {
            let home = SwitchId(home);
            let working = |t: &TerminalId| on.terminal_is_up(*t);
            let terminals: Vec<TerminalId> =
                on.terminals_on(home).iter().copied().filter(working).collect();
            let mut found = PathDiversity::new(routing.layers());
            for &(s, _) in sources.of_plane(on.switches()[home.ix()].plane) {
                if s != home && !terminals.is_empty() {
                    found.add(routing, s, home, &terminals);
                }
            }
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            watch.tick("path diversity", n, homes.len() as u64)?;
            Ok(found)
        })
        .collect::<Result<_, _>>()?;
    Ok(parts.iter().fold(PathDiversity::new(routing.layers()), PathDiversity::merge))
}

impl PathDiversity {
    fn add(&mut self, routing: &Routing, s: SwitchId, home: SwitchId, terminals: &[TerminalId]) {
        let mut known: Vec<(Vec<Vec<u32>>, usize)> = Vec::new();
        let (mut hops, mut routes, mut longest) = (0, 0, 0);
        for &t in terminals {
            let mut paths: Vec<Vec<u32>> = Vec::new();
            for (layer, lengths) in self.lengths.iter_mut().enumerate() {
                if let Some(path) = links_of(routing, layer as u32, t, s, home) {
                    count(lengths, path.len());
                    (hops, routes) = (hops + path.len() as u64, routes + 1);
                    longest = longest.max(path.len());
                    paths.push(path);
                }
            }
            paths.sort_unstable();
            paths.dedup();
            if known.iter().all(|(same, _)| *same != paths) {
                let most = most_disjoint(&paths);
                known.push((paths, most));
            }
        }
        let distinct = known.iter().map(|(paths, _)| paths.len()).min();
        let disjoint = known.iter().map(|(_, most)| *most).min();
        count(&mut self.distinct, distinct.unwrap_or(0));
        count(&mut self.disjoint, disjoint.unwrap_or(0));
        if routes > 0 {
            count(&mut self.longest, longest);
            *self.together.entry((hops, routes)).or_default() += 1;
        }
    }
}

/// The links of the route from `s` to terminal `t` on switch `home`, in order; `None` if the route
/// does not arrive.
fn links_of(
    routing: &Routing,
    layer: u32,
    t: TerminalId,
    s: SwitchId,
    home: SwitchId,
) -> Option<Vec<u32>> {
    let on = routing.topology();
    let (mut walk, mut links) = (routing.walk(layer, t, s), Vec::new());
    while walk.at() != home {
        if links.len() >= on.switches().len() {
            return None;
        }
        links.push(walk.next()?.channel.link().0);
    }
    (routing.tree(layer, t)[home.ix()] == on.terminals()[t.ix()].plug.port).then_some(links)
}

/// The largest number of pairwise link-disjoint paths among at most 128 paths.
fn most_disjoint(paths: &[Vec<u32>]) -> usize {
    let meet = |a: &[u32], b: &[u32]| a.iter().any(|link| b.contains(link));
    let row = |a: &Vec<u32>| {
        let others = paths.iter().enumerate().filter(|(_, b)| meet(a, b));
        others.fold(0_u128, |set, (i, _)| set | 1 << i)
    };
    let meets: Vec<u128> = paths.iter().map(row).collect();
    let all = paths.len().checked_sub(1).map_or(0, |last| u128::MAX >> (127 - last));
    let mut best = 0;
    independent(&meets, all, 0, &mut best);
    best as usize
}

/// Raises `best` to `chosen` plus the size of the largest subset of `left` in which no two members
/// share a link, if that is larger.
///
/// `meets[i]` has bit i and the bits of all members that share a link with member i. If all of
/// these also share links with one another, member i is taken at once, as some best subset contains
/// it. The upper bound is the number of groups that cover `left`, such that all members of a group
/// share links with one another.
fn independent(meets: &[u128], mut left: u128, mut chosen: u32, best: &mut u32) {
    while let Some(i) = members(left).find(|&i| {
        let company = meets[i] & left;
        members(company).all(|j| company & !meets[j] == 0)
    }) {
        left &= !meets[i];
        chosen += 1;
    }
    *best = chosen.max(*best);
    if chosen + groups(meets, left) <= *best {
        return;
    }
    let Some(i) = members(left).max_by_key(|&i| (meets[i] & left).count_ones()) else { return };
    independent(meets, left & !meets[i], chosen + 1, best);
    independent(meets, left & !(1 << i), chosen, best);
}

/// The number of groups that cover `left`, such that all members of a group share links with one
/// another.
fn groups(meets: &[u128], mut left: u128) -> u32 {
    let mut groups = 0;
    while left != 0 {
        let mut may = left;
        while let Some(i) = members(may).next() {
            left &= !(1 << i);
            may &= meets[i] & !(1 << i);
        }
        groups += 1;
    }
    groups
}

fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(next)
    })
}

/// Distinct and link-disjoint paths that the layers give each ordered pair of edge switches.
///
/// The paths of a pair are the distinct routes of all layers to one terminal on its second switch;
/// where the terminals there differ, the pair counts with the fewest. Paths are disjoint when they
/// share no link in either direction; the largest number of disjoint ones is found exactly.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DiversityParams {}

/// Paths of the ordered pairs of switches with endpoints, of one plane.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DiversityRecord {
    /// Ordered pairs of switches.
    pub pairs: u64,
    /// Mean number of link-disjoint paths of a pair; none without pairs.
    pub mean_disjoint_paths: Option<f64>,
    /// Fraction of the pairs that have at least three link-disjoint paths; none without pairs.
    pub fraction_pairs_3_disjoint_paths: Option<f64>,
    /// Mean number of distinct paths of a pair; none without pairs.
    pub mean_distinct_paths: Option<f64>,
    /// Entry n: pairs with at most n link-disjoint paths.
    pub disjoint_histogram: Vec<u64>,
    /// Entry n: pairs with n distinct paths.
    pub distinct_histogram: Vec<u64>,
    /// One list per layer; entry h: its routes of h hops, one for every pair and terminal.
    pub hop_histograms: Vec<Vec<u64>>,
    /// Entry h: pairs whose longest route over all layers and terminals has h hops.
    pub longest_histogram: Vec<u64>,
    /// By the mean hops of a pair's routes: [mean hops, pairs].
    pub mean_hops: Vec<(f64, u64)>,
}

impl ExperimentStage for DiversityParams {
    const NAME: &'static str = "path_diversity";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "mean_disjoint_paths",
            "/mean_disjoint_paths",
            ColumnType::Real,
            "",
            "mean number of link-disjoint routes of a pair of switches",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "fraction_pairs_3_disjoint_paths",
            "/fraction_pairs_3_disjoint_paths",
            ColumnType::Real,
            "fraction",
            "pairs of switches with three link-disjoint routes",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "mean_distinct_paths",
            "/mean_distinct_paths",
            ColumnType::Real,
            "",
            "mean number of distinct routes of a pair of switches",
            BetterDirection::Higher,
        ),
    ];

    type Input<'a> = &'a Routing;
    type Record = DiversityRecord;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    fn need(&self, on: &Routing, threads: usize) -> ResourceNeed {
        NetworkSize::of(on.topology(), threads).along(on, RouteWorkKind::Paths)
    }

    fn run(
        &self,
        on: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<DiversityRecord, ComputationError> {
        let found = path_diversity(on, watch)?;
        Ok(DiversityRecord {
            pairs: found.pairs(),
            mean_disjoint_paths: found.mean_disjoint(),
            fraction_pairs_3_disjoint_paths: found.fraction_with(3),
            mean_distinct_paths: found.mean_distinct(),
            mean_hops: found.mean_lengths(),
            disjoint_histogram: found.disjoint,
            distinct_histogram: found.distinct,
            hop_histograms: found.lengths,
            longest_histogram: found.longest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The largest number of pairwise disjoint sets, over all subsets.
    fn by_subsets(paths: &[Vec<u32>]) -> usize {
        let apart = |chosen: u32| {
            let mut links: Vec<u32> = Vec::new();
            for path in (0..paths.len()).filter(|i| chosen >> i & 1 == 1).map(|i| &paths[i]) {
                links.extend(path);
            }
            let all = links.len();
            links.sort_unstable();
            links.dedup();
            links.len() == all
        };
        (0..1_u32 << paths.len()).filter(|&c| apart(c)).map(u32::count_ones).max().unwrap_or(0)
            as usize
    }

    #[test]
    fn paths_that_start_together_count_once() {
        assert_eq!(most_disjoint(&[]), 0);
        assert_eq!(most_disjoint(&[vec![1, 2], vec![1, 3], vec![4, 2]]), 2);
        let fan: Vec<Vec<u32>> = (0..128).map(|i| vec![i, 200 + i]).collect();
        assert_eq!(most_disjoint(&fan), 128, "nobody meets anybody");
        let star: Vec<Vec<u32>> = (0..128).map(|i| vec![0, 200 + i]).collect();
        assert_eq!(most_disjoint(&star), 1, "all share link 0");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn the_search_finds_what_all_subsets_have(
            paths in prop::collection::vec(prop::collection::btree_set(0_u32..14, 1..5), 0..11),
        ) {
            let paths: Vec<Vec<u32>> = paths.into_iter().map(|p| p.into_iter().collect()).collect();
            prop_assert_eq!(most_disjoint(&paths), by_subsets(&paths));
        }
    }
}
