//! Resilience: how much of a network can fail at random before it breaks or grows long.
//!
//! Source: the experiment of Besta & Hoefler, "Slim Fly: a cost effective low-diameter network
//! topology", SC 2014, section III-D (there in steps of 5 %; here each sample to the very link).

use super::planes_of;
use super::union::Parts;
use base::distance::distances_among;
use base::interval::half_width_95;
use base::seed::Stream;
use base::stage::{Better, Kind};
use base::{Graph, Interrupted, LinkId, Refusal, SwitchId, Watch};
use base::{Metric, Need, Stage, Stop};
use fabric::network::Topology;
use fabric::size::Size;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is removed, one after the other, in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remove {
    /// Working links.
    Links,
    /// Working switches, with their endpoints.
    Switches,
}

/// When a sample ends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Two switches of a plane that carry endpoints have no way between them.
    Disconnected,
    /// Or the diameter exceeds that of the intact network by more than 2 hops.
    Diameter,
    /// Or the mean distance exceeds that of the intact network by more than 1 hop.
    Mean,
}

/// How much of a network can fail at random before it breaks or grows long.
///
/// Links (or switches, with their endpoints) are removed one by one in random order, until the ends
/// that are looked for have come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResilienceRules {
    /// What is removed: `links` or `switches`.
    pub remove: Remove,
    /// The ends to look for: `disconnected`, `diameter` (grown by over 2 hops), `mean` (distance
    /// grown by over 1 hop).
    pub until: Vec<Until>,
    /// Random orders, 1 to 1048576.
    pub samples: u32,
    /// Seed of the random orders.
    pub seed: u64,
}

impl Default for ResilienceRules {
    fn default() -> Self {
        Self { remove: Remove::Links, until: vec![Until::Disconnected], samples: 1000, seed: 0 }
    }
}

/// When random failures bring the ends.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// The network, in the inline form.
    pub network: String,
    /// What was removed.
    pub remove: Remove,
    /// Links or switches that there are.
    pub items: u64,
    /// Random orders.
    pub samples: u32,
    /// Seed of the random orders.
    pub seed: u64,
    /// When each of the ends came that were asked for.
    pub ends: Ends,
}

/// When each of the ends came.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Ends {
    /// Two switches of a plane that carry endpoints have no way between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disconnected: Option<Survival>,
    /// Or the diameter exceeds that of the intact network by more than 2 hops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diameter: Option<Survival>,
    /// Or the mean distance exceeds that of the intact network by more than 1 hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Survival>,
}

impl Stage for ResilienceRules {
    const NAME: &'static str = "resilience";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "removed_until_disconnected",
            "/ends/disconnected/mean",
            Kind::Real,
            "fraction",
            "mean part removed when a pair of switches is cut off",
            Better::Higher,
        ),
        Metric::new(
            "removed_until_diameter",
            "/ends/diameter/mean",
            Kind::Real,
            "fraction",
            "mean part removed when the diameter has grown by over 2 hops",
            Better::Higher,
        ),
        Metric::new(
            "removed_until_mean",
            "/ends/mean/mean",
            Kind::Real,
            "fraction",
            "mean part removed when the mean distance has grown by over 1 hop",
            Better::Higher,
        ),
    ];

    type On<'a> = &'a Topology;
    type Record = Record;

    fn examples() -> Vec<Self> {
        let until = vec![Until::Disconnected, Until::Diameter];
        vec![
            Self { samples: 10, ..Self::default() },
            Self { remove: Remove::Switches, until, samples: 5, seed: 1 },
        ]
    }

    fn need(&self, on: &Topology, threads: usize) -> Need {
        let items = match self.remove {
            Remove::Links => on.links().len(),
            Remove::Switches => on.switches().len(),
        };
        let far = self.until.iter().any(|end| *end != Until::Disconnected);
        Size::of(on, threads).resilience(items, self.samples, far)
    }

    fn run(&self, on: &Topology, watch: &dyn Watch) -> Result<Record, Stop> {
        let mut found = resilience(on, self, watch)?;
        let mut end = |end| found.ends.remove(&end);
        let ends = Ends {
            disconnected: end(Until::Disconnected),
            diameter: end(Until::Diameter),
            mean: end(Until::Mean),
        };
        Ok(Record {
            network: on.recipe().to_string(),
            remove: self.remove,
            items: found.items,
            samples: self.samples,
            seed: self.seed,
            ends,
        })
    }
}

/// Most samples.
pub const MOST_SAMPLES: u32 = 1 << 20;

/// Parts of the whole at which the survival curve is given: 0, 5, ..., 100 %.
pub const STEPS: u64 = 20;

/// The outcome over all samples, an end after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Resilience {
    /// Links or switches that there are to remove.
    pub items: u64,
    /// By the ends asked for.
    pub ends: BTreeMap<Until, Survival>,
}

/// When the samples came to one end. Fractions are of all links (or switches).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Survival {
    /// By sample: how many were removed when the end came, that is, the fewest with which the
    /// network is there; all of them where it never comes.
    pub removed: Vec<u64>,
    /// Mean fraction.
    pub mean: f64,
    /// Its 95 % confidence interval, mean -+ 1.96 standard errors (normal approximation); none of
    /// one sample.
    pub confidence_interval_95: Option<[f64; 2]>,
    /// Median fraction.
    pub median: f64,
    /// Fractions by which 5, 25, 75 and 95 % of the samples have ended (linear interpolation).
    pub quantiles: [f64; 4],
    /// `survival[i]` is the share of samples that hold with `i / 20` of all removed, rounded down.
    pub survival: Vec<f64>,
    /// The largest `i / 20` with which every sample holds.
    pub all_hold: f64,
    /// The largest `i / 20` with which at least half of the samples hold.
    pub half_hold: f64,
}

/// Removes links or switches in random orders until the network has come to the ends.
///
/// Disconnection: O(links) a sample, by disjoint sets in reverse. Diameter and mean distance: they
/// only grow as links go, while the network is connected, so the link is found by bisection,
/// log2(links) all-pairs distances a sample; as switches go they may also shrink, so the first
/// switch is found by trying one after the other, up to one all-pairs distances a switch. In
/// parallel over samples.
///
/// # Errors
/// When the network has no two switches with endpoints, or is not connected as it is; when `until`
/// is empty or `samples` out of range; when `watch` says stop.
pub fn resilience(
    t: &Topology,
    rules: &ResilienceRules,
    watch: &dyn Watch,
) -> Result<Resilience, Stop> {
    if !(1..=MOST_SAMPLES).contains(&rules.samples) {
        let help = format!("1 to {MOST_SAMPLES}");
        return Err(Refusal::new("samples", format!("{} samples", rules.samples), help).into());
    }
    if rules.until.is_empty() {
        let help = "disconnected, diameter, mean";
        return Err(Refusal::new("until", "no end is given", help).into());
    }
    let intact = Intact::new(t, rules, watch)?;
    let done = AtomicU64::new(0);
    let samples: Vec<Vec<u64>> = (0..rules.samples)
        .into_par_iter()
        .map(|i| {
            let mut order: Vec<u32> = intact.items.clone();
            Stream::new(rules.seed, "failures", i.into()).shuffle(&mut order);
            let stage = Progress { watch, done: &done, total: rules.samples };
            stage.tick("", 0, 0)?;
            let ends = Sample { intact: &intact, order: &order, stage }.ends(&rules.until);
            done.fetch_add(1, Ordering::Relaxed);
            ends
        })
        .collect::<Result<_, Stop>>()?;
    let items = intact.items.len() as u64;
    let of_end = |(e, &end): (usize, &Until)| {
        (end, Survival::of(samples.iter().map(|s| s[e]).collect(), items))
    };
    Ok(Resilience { items, ends: rules.until.iter().enumerate().map(of_end).collect() })
}

/// Passes every tick inside a sample on as a tick of the samples.
struct Progress<'a> {
    watch: &'a dyn Watch,
    done: &'a AtomicU64,
    total: u32,
}

impl Watch for Progress<'_> {
    fn tick(&self, _what: &str, _done: u64, _total: u64) -> Result<(), Interrupted> {
        self.watch.tick("resilience", self.done.load(Ordering::Relaxed), self.total.into())
    }
}

/// Distances over pairs of switches with endpoints: diameter, sum, number.
#[derive(Clone, Copy)]
struct Lengths {
    diameter: u32,
    sum: u64,
    pairs: u64,
}

/// The network before anything is removed.
struct Intact<'a> {
    t: &'a Topology,
    remove: Remove,
    items: Vec<u32>,
    /// Switches with endpoints.
    is_edge: Vec<bool>,
    planes: usize,
    lengths: Lengths,
}

impl<'a> Intact<'a> {
    fn new(t: &'a Topology, rules: &ResilienceRules, watch: &dyn Watch) -> Result<Self, Stop> {
        let edge = t.edge_switches();
        let mut is_edge = vec![false; t.switches().len()];
        for &v in &edge {
            is_edge[v as usize] = true;
        }
        let items = match rules.remove {
            Remove::Links => {
                (0..t.links().len() as u32).filter(|&l| t.link_is_up(LinkId(l))).collect()
            }
            Remove::Switches => {
                (0..t.switches().len() as u32).filter(|&v| t.switches()[v as usize].up).collect()
            }
        };
        let planes = planes_of(t, &edge).iter().filter(|p| !p.is_empty()).count();
        let lengths = Lengths { diameter: 0, sum: 0, pairs: 0 };
        let mut intact = Self { t, remove: rules.remove, items, is_edge, planes, lengths };
        let Some(lengths) = intact.lengths_of(t.graph(), &edge, watch)? else {
            let why = "some switches with endpoints have no way between them as it is";
            return Err(Refusal::new("network", why, "a connected network").into());
        };
        if lengths.pairs == 0 {
            let why = "there are no two switches with endpoints in any plane";
            return Err(Refusal::new("network", why, "a network with two at least").into());
        }
        intact.lengths = lengths;
        Ok(intact)
    }

    /// Distances among `edge` over `graph`; `None` if some pair of a plane has no way.
    fn lengths_of(
        &self,
        graph: &Graph,
        edge: &[u32],
        watch: &dyn Watch,
    ) -> Result<Option<Lengths>, Interrupted> {
        let mut all = Lengths { diameter: 0, sum: 0, pairs: 0 };
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

    /// Whether distances have come to an end; without any, they have.
    fn is_over(&self, end: Until, now: Option<Lengths>) -> bool {
        let Some(now) = now else { return true };
        match end {
            Until::Disconnected => false,
            Until::Diameter => now.diameter > self.lengths.diameter + 2,
            Until::Mean => {
                // sum / pairs > intact sum / intact pairs + 1
                let (sum, pairs) = (u128::from(now.sum), u128::from(now.pairs));
                let intact = u128::from(self.lengths.sum + self.lengths.pairs);
                sum * u128::from(self.lengths.pairs) > intact * pairs
            }
        }
    }
}

/// One random order of the items.
struct Sample<'a> {
    intact: &'a Intact<'a>,
    order: &'a [u32],
    stage: Progress<'a>,
}

impl Sample<'_> {
    /// How many are removed at each of the ends.
    fn ends(&self, until: &[Until]) -> Result<Vec<u64>, Stop> {
        let disconnected = match self.intact.remove {
            Remove::Links => self.links_to_disconnect(),
            Remove::Switches => self.switches_to_disconnect(),
        };
        let mut known = BTreeMap::new();
        let count = |&end: &Until| {
            Ok(match (end, self.intact.remove) {
                (Until::Disconnected, _) => disconnected,
                (_, Remove::Links) => self.bisected(end, disconnected, &mut known)?,
                (_, Remove::Switches) => self.scanned(end, disconnected, &mut known)?,
            } as u64)
        };
        until.iter().map(count).collect()
    }

    /// Puts the links back from the last on, until the switches with endpoints hang together.
    fn links_to_disconnect(&self) -> usize {
        let Intact { t, is_edge, planes, .. } = self.intact;
        let mut parts = Parts::new(is_edge.len());
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

    /// Puts the switches back from the last on; the fewest removed at which some hang apart.
    fn switches_to_disconnect(&self) -> usize {
        let Intact { t, is_edge, .. } = self.intact;
        let mut parts = Parts::new(is_edge.len());
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

    /// The distances with the first `removed` of the order removed.
    fn lengths(&self, removed: usize) -> Result<Option<Lengths>, Stop> {
        let (t, is_edge) = (self.intact.t, &self.intact.is_edge);
        let mut gone = vec![false; is_edge.len()];
        let ends = |l: u32| {
            let link = &t.links()[l as usize];
            (link.a.switch, link.b.switch)
        };
        let graph = match self.intact.remove {
            Remove::Links => {
                Graph::new(is_edge.len(), self.order[removed..].iter().map(|&l| Some(ends(l))))
            }
            Remove::Switches => {
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
        known: &mut BTreeMap<usize, Option<Lengths>>,
    ) -> Result<Option<Lengths>, Stop> {
        if let Some(lengths) = known.get(&removed) {
            return Ok(*lengths);
        }
        let lengths = self.lengths(removed)?;
        known.insert(removed, lengths);
        Ok(lengths)
    }

    /// Bisection between nothing removed and the disconnected network.
    fn bisected(
        &self,
        end: Until,
        disconnected: usize,
        known: &mut BTreeMap<usize, Option<Lengths>>,
    ) -> Result<usize, Stop> {
        let (mut holds, mut over) = (0, disconnected);
        // what was looked at for another end narrows this one down
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

    /// The first of all numbers removed.
    fn scanned(
        &self,
        end: Until,
        disconnected: usize,
        known: &mut BTreeMap<usize, Option<Lengths>>,
    ) -> Result<usize, Stop> {
        for removed in 1..disconnected {
            if self.intact.is_over(end, self.known(removed, known)?) {
                return Ok(removed);
            }
        }
        Ok(disconnected)
    }
}

/// Joins the parts of `a` and `b`; 1 if both had switches with endpoints, which are one group less.
fn join(parts: &mut Parts, has_edge: &mut [bool], a: SwitchId, b: SwitchId) -> usize {
    let Some((root, joined)) = parts.join(a.0, b.0) else { return 0 };
    let both = has_edge[root as usize] && has_edge[joined as usize];
    has_edge[root as usize] |= has_edge[joined as usize];
    usize::from(both)
}

impl Survival {
    /// The statistics of `removed`, numbers of `items`.
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
