//! Resilience: the fraction of a network that can fail at random before it is disconnected or its
//! paths become long.
//!
//! Source: the experiment of Besta & Hoefler, "Slim Fly: a cost effective low-diameter network
//! topology", SC 2014, section III-D (there in steps of 5 %; here each sample is exact to the
//! single link).

use super::planes_of;
use super::union::DisjointSets;
use base::distance::distances_among;
use base::interval::half_width_95;
use base::seed::RandomStream;
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, RecordColumn, ResourceNeed};
use base::{Graph, Interrupted, LinkId, ProgressWatch, Refusal, SwitchId};
use fabric::network::Topology;
use fabric::size::NetworkSize;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is removed, one after the other, in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Remove")]
pub enum RemovedComponentKind {
    /// Working links.
    Links,
    /// Working switches, with their endpoints.
    Switches,
}

/// The criterion that ends a sample.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Until")]
pub enum RemovalEndCriterion {
    /// Two switches of a plane that carry endpoints are not connected.
    Disconnected,
    /// Or the diameter exceeds that of the intact network by more than 2 hops.
    Diameter,
    /// Or the mean distance exceeds that of the intact network by more than 1 hop.
    Mean,
}

/// How much of a network can fail at random before it is disconnected or its paths become long.
///
/// Links (or switches, with their endpoints) are removed one by one in random order, until all
/// requested ends are reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ResilienceRules")]
pub struct ResilienceParameters {
    /// What is removed: `links` or `switches`.
    pub remove: RemovedComponentKind,
    /// The ends to look for: `disconnected`, `diameter` (grown by over 2 hops), `mean` (distance
    /// grown by over 1 hop).
    pub until: Vec<RemovalEndCriterion>,
    /// Number of random orders, 1 to 1048576.
    pub samples: u32,
    /// Seed of the random orders.
    pub seed: u64,
}

impl Default for ResilienceParameters {
    fn default() -> Self {
        Self {
            remove: RemovedComponentKind::Links,
            until: vec![RemovalEndCriterion::Disconnected],
            samples: 1000,
            seed: 0,
        }
    }
}

/// How many random failures lead to each end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ResilienceRecord {
    /// The network, in the inline form.
    pub network: String,
    /// What was removed.
    pub remove: RemovedComponentKind,
    /// Number of links or switches before anything is removed.
    pub items: u64,
    /// Random orders.
    pub samples: u32,
    /// Seed of the random orders.
    pub seed: u64,
    /// How many failures led to each of the requested ends.
    pub ends: RemovalEndResults,
}

/// How many failures led to each end.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Ends")]
pub struct RemovalEndResults {
    /// Two switches of a plane that carry endpoints are not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disconnected: Option<FailureCountStatistics>,
    /// Or the diameter exceeds that of the intact network by more than 2 hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diameter: Option<FailureCountStatistics>,
    /// Or the mean distance exceeds that of the intact network by more than 1 hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<FailureCountStatistics>,
}

impl ExperimentStage for ResilienceParameters {
    const NAME: &'static str = "resilience";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "removed_until_disconnected",
            "/ends/disconnected/mean",
            ColumnType::Real,
            "fraction",
            "mean part removed when a pair of switches is cut off",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "removed_until_diameter",
            "/ends/diameter/mean",
            ColumnType::Real,
            "fraction",
            "mean part removed when the diameter has grown by over 2 hops",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "removed_until_mean",
            "/ends/mean/mean",
            ColumnType::Real,
            "fraction",
            "mean part removed when the mean distance has grown by over 1 hop",
            BetterDirection::Higher,
        ),
    ];

    type Input<'a> = &'a Topology;
    type Record = ResilienceRecord;

    fn examples() -> Vec<Self> {
        let until = vec![RemovalEndCriterion::Disconnected, RemovalEndCriterion::Diameter];
        vec![
            Self { samples: 10, ..Self::default() },
            Self { remove: RemovedComponentKind::Switches, until, samples: 5, seed: 1 },
        ]
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        let items = match self.remove {
            RemovedComponentKind::Links => on.links().len(),
            RemovedComponentKind::Switches => on.switches().len(),
        };
        let far = self.until.iter().any(|end| *end != RemovalEndCriterion::Disconnected);
        NetworkSize::of(on, threads).resilience(items, self.samples, far)
    }

    fn run(
        &self,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<ResilienceRecord, ComputationError> {
        let mut found = resilience(on, self, watch)?;
        let mut end = |end| found.ends.remove(&end);
        let ends = RemovalEndResults {
            disconnected: end(RemovalEndCriterion::Disconnected),
            diameter: end(RemovalEndCriterion::Diameter),
            mean: end(RemovalEndCriterion::Mean),
        };
        Ok(ResilienceRecord {
            network: on.recipe().to_string(),
            remove: self.remove,
            items: found.items,
            samples: self.samples,
            seed: self.seed,
            ends,
        })
    }
}

/// The largest number of samples.
pub const MOST_SAMPLES: u32 = 1 << 20;

/// The number of steps of the survival curve: it is given at 0, 5, ..., 100 %.
pub const STEPS: u64 = 20;

/// The resilience of a network: for each end criterion, the result over all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct ResilienceResult {
    /// Number of links or switches before anything is removed.
    pub items: u64,
    /// The result for each requested end.
    pub ends: BTreeMap<RemovalEndCriterion, FailureCountStatistics>,
}

/// How many failures led the samples to one end. Fractions are of all links (or switches).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Survival")]
pub struct FailureCountStatistics {
    /// For each sample: how many were removed when the end was reached, that is, the fewest at
    /// which it holds; all of them where it never does.
    pub removed: Vec<u64>,
    /// Mean fraction.
    pub mean: f64,
    /// Its 95 % confidence interval, mean -+ 1.96 standard errors (normal approximation); none for
    /// one sample.
    pub confidence_interval_95: Option<[f64; 2]>,
    /// Median fraction.
    pub median: f64,
    /// Fractions by which 5, 25, 75 and 95 % of the samples have ended (linear interpolation).
    pub quantiles: [f64; 4],
    /// `survival[i]` is the share of samples that have not reached the end with `i / 20` of all
    /// removed, rounded down.
    pub survival: Vec<f64>,
    /// The largest `i / 20` at which no sample has reached the end.
    pub all_hold: f64,
    /// The largest `i / 20` at which at least half of the samples have not reached the end.
    pub half_hold: f64,
}

/// Removes links or switches in random orders until the end criteria are met.
///
/// Disconnection: O(links) for each sample, by disjoint sets in reverse order. Diameter and mean
/// distance: as links are removed from a network that stays connected, they can only grow. So the
/// link is found by bisection, with log2(links) all-pairs distances for each sample. As switches
/// are removed, they may also shrink, so the first switch is found by trying one after the other,
/// with up to one all-pairs distances for each switch. Samples run in parallel.
///
/// # Errors
/// When the network has no two switches with endpoints, or is not connected as it is; when `until`
/// is empty or `samples` out of range; when `watch` says stop.
pub fn resilience(
    t: &Topology,
    rules: &ResilienceParameters,
    watch: &dyn ProgressWatch,
) -> Result<ResilienceResult, ComputationError> {
    if !(1..=MOST_SAMPLES).contains(&rules.samples) {
        let help = format!("1 to {MOST_SAMPLES}");
        return Err(Refusal::new("samples", format!("{} samples", rules.samples), help).into());
    }
    if rules.until.is_empty() {
        let help = "disconnected, diameter, mean";
        return Err(Refusal::new("until", "no end is given", help).into());
    }
    let intact = IntactNetwork::new(t, rules, watch)?;
    let done = AtomicU64::new(0);
    let samples: Vec<Vec<u64>> = (0..rules.samples)
        .into_par_iter()
        .map(|i| {
            let mut order: Vec<u32> = intact.items.clone();
            RandomStream::new(rules.seed, "failures", i.into()).shuffle(&mut order);
            let stage = RemovalSampleWatch { watch, done: &done, total: rules.samples };
            stage.tick("", 0, 0)?;
            let ends = RemovalSample { intact: &intact, order: &order, stage }.ends(&rules.until);
            done.fetch_add(1, Ordering::Relaxed);
            ends
        })
        .collect::<Result<_, ComputationError>>()?;
    let items = intact.items.len() as u64;
    let of_end = |(e, &end): (usize, &RemovalEndCriterion)| {
        (end, FailureCountStatistics::of(samples.iter().map(|s| s[e]).collect(), items))
    };
    Ok(ResilienceResult { items, ends: rules.until.iter().enumerate().map(of_end).collect() })
}

/// A watch that forwards every tick inside a sample as a tick of the samples.
struct RemovalSampleWatch<'a> {
    watch: &'a dyn ProgressWatch,
    done: &'a AtomicU64,
    total: u32,
}

impl ProgressWatch for RemovalSampleWatch<'_> {
    fn tick(&self, _what: &str, _done: u64, _total: u64) -> Result<(), Interrupted> {
        self.watch.tick("resilience", self.done.load(Ordering::Relaxed), self.total.into())
    }
}

/// The diameter, the sum of distances and the number of pairs, over pairs of switches with
/// endpoints.
#[derive(Clone, Copy)]
struct DistanceSums {
    diameter: u32,
    sum: u64,
    pairs: u64,
}

/// The network before anything is removed.
struct IntactNetwork<'a> {
    t: &'a Topology,
    remove: RemovedComponentKind,
    items: Vec<u32>,
    /// For each switch, whether it has endpoints.
    is_edge: Vec<bool>,
    planes: usize,
    lengths: DistanceSums,
}

impl<'a> IntactNetwork<'a> {
    fn new(
        t: &'a Topology,
        rules: &ResilienceParameters,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let edge = t.edge_switches();
        let mut is_edge = vec![false; t.switches().len()];
        for &v in &edge {
            is_edge[v as usize] = true;
        }
        let items = match rules.remove {
            RemovedComponentKind::Links => {
                (0..t.links().len() as u32).filter(|&l| t.link_is_up(LinkId(l))).collect()
            }
            RemovedComponentKind::Switches => {
                (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect()
            }
        };
        let planes = planes_of(t, &edge).iter().filter(|p| !p.is_empty()).count();
        let lengths = DistanceSums { diameter: 0, sum: 0, pairs: 0 };
        let mut intact = Self { t, remove: rules.remove, items, is_edge, planes, lengths };
        let Some(lengths) = intact.lengths_of(t.graph(), &edge, watch)? else {
            let why = "some switches with endpoints are not connected before any failure";
            return Err(Refusal::new("network", why, "a connected network").into());
        };
        if lengths.pairs == 0 {
            let why = "there are no two switches with endpoints in any plane";
            return Err(Refusal::new("network", why, "a network with two at least").into());
        }
        intact.lengths = lengths;
        Ok(intact)
    }

    /// Distances among the switches `edge` over `graph`; `None` if some pair of the same plane is
    /// not connected.
    fn lengths_of(
        &self,
        graph: &Graph,
        edge: &[u32],
        watch: &dyn ProgressWatch,
    ) -> Result<Option<DistanceSums>, Interrupted> {
        let mut all = DistanceSums { diameter: 0, sum: 0, pairs: 0 };
        for plane in planes_of(self.t, edge) {
            let part = distances_among(graph, &plane, watch)?;
            let (sum, pairs) = part.sum_and_pairs();
            all.diameter = all.diameter.max(part.diameter());
            all.sum += sum;
            all.pairs += pairs;
            if part.unreachable > 0 {
                return Ok(None);
            }
        }
        Ok(Some(all))
    }

    /// Whether an end criterion is met with the distances `now`; it is if there are none, as the
    /// network is then disconnected.
    fn is_over(&self, end: RemovalEndCriterion, now: Option<DistanceSums>) -> bool {
        let Some(now) = now else { return true };
        match end {
            RemovalEndCriterion::Disconnected => false,
            RemovalEndCriterion::Diameter => now.diameter > self.lengths.diameter + 2,
            RemovalEndCriterion::Mean => {
                // sum / pairs > intact sum / intact pairs + 1
                let (sum, pairs) = (u128::from(now.sum), u128::from(now.pairs));
                let intact = u128::from(self.lengths.sum + self.lengths.pairs);
                sum * u128::from(self.lengths.pairs) > intact * pairs
            }
        }
    }
}

/// One random order of the items.
struct RemovalSample<'a> {
    intact: &'a IntactNetwork<'a>,
    order: &'a [u32],
    stage: RemovalSampleWatch<'a>,
}

impl RemovalSample<'_> {
    /// The number of removed items at which each end criterion is met.
    fn ends(&self, until: &[RemovalEndCriterion]) -> Result<Vec<u64>, ComputationError> {
        let disconnected = match self.intact.remove {
            RemovedComponentKind::Links => self.links_to_disconnect(),
            RemovedComponentKind::Switches => self.switches_to_disconnect(),
        };
        let mut known = BTreeMap::new();
        let count = |&end: &RemovalEndCriterion| {
            Ok(match (end, self.intact.remove) {
                (RemovalEndCriterion::Disconnected, _) => disconnected,
                (_, RemovedComponentKind::Links) => self.bisected(end, disconnected, &mut known)?,
                (_, RemovedComponentKind::Switches) => {
                    self.scanned(end, disconnected, &mut known)?
                }
            } as u64)
        };
        until.iter().map(count).collect()
    }

    /// Restores the links from the last on, until all switches with endpoints are connected.
    fn links_to_disconnect(&self) -> usize {
        let IntactNetwork { t, is_edge, planes, .. } = self.intact;
        let mut parts = DisjointSets::new(is_edge.len());
        let mut has_edge = is_edge.clone();
        let mut groups = is_edge.iter().filter(|&&e| e).count();
        for (i, &l) in self.order.iter().enumerate().rev() {
            let link = &t.links()[l as usize];
            groups -= join(&mut parts, &mut has_edge, link.a.switch, link.b.switch);
            if groups == *planes {
                return i + 1;
            }
        }
        0
    }

    /// Restores the switches from the last on. Returns the smallest number of removed switches at
    /// which switches with endpoints are disconnected.
    fn switches_to_disconnect(&self) -> usize {
        let IntactNetwork { t, is_edge, .. } = self.intact;
        let mut parts = DisjointSets::new(is_edge.len());
        let mut has_edge = is_edge.clone();
        let mut back = vec![false; is_edge.len()];
        let mut of_plane = vec![false; usize::from(t.planes())];
        let (mut groups, mut planes, mut first) = (0, 0, self.order.len());
        for (i, &v) in self.order.iter().enumerate().rev() {
            back[v as usize] = true;
            if is_edge[v as usize] {
                groups += 1;
                let plane = &mut of_plane[usize::from(t.switches()[v as usize].plane)];
                planes += usize::from(!std::mem::replace(plane, true));
            }
            for &w in t.graph().neighbours(v as usize).iter().filter(|&&w| back[w as usize]) {
                groups -= join(&mut parts, &mut has_edge, SwitchId(v), SwitchId(w));
            }
            if groups > planes {
                first = i;
            }
        }
        first
    }

    /// The distances with the first `removed` items of the order removed.
    fn lengths(&self, removed: usize) -> Result<Option<DistanceSums>, ComputationError> {
        let (t, is_edge) = (self.intact.t, &self.intact.is_edge);
        let mut gone = vec![false; is_edge.len()];
        let ends = |l: u32| {
            let link = &t.links()[l as usize];
            (link.a.switch, link.b.switch)
        };
        let graph = match self.intact.remove {
            RemovedComponentKind::Links => {
                Graph::new(is_edge.len(), self.order[removed..].iter().map(|&l| Some(ends(l))))
            }
            RemovedComponentKind::Switches => {
                for &v in &self.order[..removed] {
                    gone[v as usize] = true;
                }
                let stays = |&(a, b): &(SwitchId, SwitchId)| !gone[a.ix()] && !gone[b.ix()];
                let working = (0..t.links().len() as u32).filter(|&l| t.link_is_up(LinkId(l)));
                Graph::new(is_edge.len(), working.map(|l| Some(ends(l)).filter(stays)))
            }
        };
        let edge: Vec<u32> =
            (0..gone.len()).filter(|&v| is_edge[v] && !gone[v]).map(|v| v as u32).collect();
        Ok(self.intact.lengths_of(&graph, &edge, &self.stage)?)
    }

    fn known(
        &self,
        removed: usize,
        known: &mut BTreeMap<usize, Option<DistanceSums>>,
    ) -> Result<Option<DistanceSums>, ComputationError> {
        if let Some(lengths) = known.get(&removed) {
            return Ok(*lengths);
        }
        let lengths = self.lengths(removed)?;
        known.insert(removed, lengths);
        Ok(lengths)
    }

    /// Searches the number of removed items by bisection, between 0 and the number that disconnects
    /// the network.
    fn bisected(
        &self,
        end: RemovalEndCriterion,
        disconnected: usize,
        known: &mut BTreeMap<usize, Option<DistanceSums>>,
    ) -> Result<usize, ComputationError> {
        let (mut holds, mut over) = (0, disconnected);
        // results for another end narrow the interval
        for (&removed, &lengths) in known.iter() {
            if self.intact.is_over(end, lengths) {
                over = over.min(removed);
            } else {
                holds = holds.max(removed);
            }
        }
        while over - holds > 1 {
            let middle = holds + (over - holds) / 2;
            if self.intact.is_over(end, self.known(middle, known)?) {
                over = middle;
            } else {
                holds = middle;
            }
        }
        Ok(over)
    }

    /// Finds the number of removed items by trying every number from the first on.
    fn scanned(
        &self,
        end: RemovalEndCriterion,
        disconnected: usize,
        known: &mut BTreeMap<usize, Option<DistanceSums>>,
    ) -> Result<usize, ComputationError> {
        for removed in 1..disconnected {
            if self.intact.is_over(end, self.known(removed, known)?) {
                return Ok(removed);
            }
        }
        Ok(disconnected)
    }
}

/// Joins the parts of `a` and `b`. Returns the decrease of the number of parts that have switches
/// with endpoints: 1 if both had, else 0.
fn join(parts: &mut DisjointSets, has_edge: &mut [bool], a: SwitchId, b: SwitchId) -> usize {
    let Some((root, joined)) = parts.join(a.0, b.0) else { return 0 };
    let both = has_edge[root as usize] && has_edge[joined as usize];
    has_edge[root as usize] |= has_edge[joined as usize];
    usize::from(both)
}

impl FailureCountStatistics {
    /// The statistics of `removed`, the numbers of removed items in each sample, for a network of
    /// `items`.
    pub(super) fn of(removed: Vec<u64>, items: u64) -> Self {
        let n = removed.len() as f64;
        let mut sorted: Vec<f64> = removed.iter().map(|&r| r as f64 / items as f64).collect();
        sorted.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / n;
        let squares: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum();
        let half = half_width_95(squares / (n - 1.0), n);
        let quantile = |share: f64| {
            let at = share * (n - 1.0);
            let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
            low + (high - low) * at.fract()
        };
        let holding = |step: u64| removed.iter().filter(|&&r| r > items * step / STEPS).count();
        let survival: Vec<f64> = (0..=STEPS).map(|step| holding(step) as f64 / n).collect();
        let last = |share: f64| {
            let steps = survival.iter().take_while(|&&s| s >= share).count();
            steps.saturating_sub(1) as f64 / STEPS as f64
        };
        Self {
            mean,
            confidence_interval_95: (removed.len() > 1).then_some([mean - half, mean + half]),
            median: quantile(0.5),
            quantiles: [0.05, 0.25, 0.75, 0.95].map(quantile),
            all_hold: last(1.0),
            half_hold: last(0.5),
            survival,
            removed,
        }
    }
}
