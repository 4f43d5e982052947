//! Effective bisection bandwidth: what random halves of the endpoints can send one another.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008 (and the ORCS simulator): random bisections,
//! random perfect matchings; a flow gets the inverse of the largest congestion on its route.

use super::congestion::{Levels, Order, Setup, congestion, working};
use base::interval::half_width_95;
use base::stage::{Better, Kind};
use base::{Metric, Need, Refusal, Stage, Stop, Watch};
use fabric::size::{RouteWork, Size};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome over all patterns. Bandwidths are fractions of an endpoint's full injection rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Ebb {
    /// Mean bandwidth of a flow, one value a pattern.
    pub patterns: Vec<f64>,
    /// `flows[i]` flows of all patterns got a bandwidth in `(i / 20, (i + 1) / 20]`.
    pub flows: [u64; 20],
    /// Most congested channel of any pattern, in flows' worth of traffic.
    pub max_congestion: f64,
}

impl Ebb {
    /// Mean over patterns: the effective bisection bandwidth.
    pub fn mean(&self) -> f64 {
        self.patterns.iter().sum::<f64>() / self.patterns.len() as f64
    }

    /// Half the width of the 95 % confidence interval of the mean (normal approximation).
    pub fn confidence_95(&self) -> f64 {
        let (n, mean) = (self.patterns.len() as f64, self.mean());
        if self.patterns.len() < 2 {
            return f64::INFINITY;
        }
        let variance = self.patterns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        half_width_95(variance, n)
    }
}

/// Simulates `patterns` random bisections with random perfect matchings.
///
/// Each flow is spread evenly over its endpoints' common rails and over all layers; a link that is
/// slower or faster than the fastest endpoint cable counts in proportion. A flow's bandwidth is the
/// mean over its routes of 1 / max(1, largest congestion on the route). Pattern i depends on `seed`
/// and i only. O(patterns * endpoints * layers * hops), in parallel over patterns.
///
/// # Errors
/// When there are fewer than two endpoints or no patterns, when a route does not arrive, or when
/// `watch` says stop.
pub fn ebb(routing: &Routing, patterns: u32, seed: u64, watch: &dyn Watch) -> Result<Ebb, Stop> {
    let alive = working(routing).len();
    if alive < 2 || patterns == 0 {
        let why = format!("{patterns} patterns over {alive} endpoints");
        let help = "at least one pattern and two endpoints";
        return Err(Refusal::new("patterns", why, help).into());
    }
    let bisect = Setup {
        pattern: "bisect".to_owned(),
        runs: patterns,
        seed,
        endpoints: None,
        first_job: None,
        order: Order::Random,
        levels: Levels::Each,
        endpoint_cables: false,
    };
    let found = congestion(routing, &bisect, watch)?;
    Ok(Ebb {
        patterns: found.runs.iter().map(|run| run.share).collect(),
        flows: found.shares,
        max_congestion: found.runs.iter().fold(0.0, |m, run| run.congestion.max(m)),
    })
}

/// The columns of a mean share's confidence interval.
pub(super) const CI95_LOW: Metric = Metric::new(
    "ci95_low",
    "/confidence_interval_95/0",
    Kind::Real,
    "fraction",
    "lower end of its 95 % confidence interval",
    Better::Higher,
);
pub(super) const CI95_HIGH: Metric = Metric::new(
    "ci95_high",
    "/confidence_interval_95/1",
    Kind::Real,
    "fraction",
    "upper end of its 95 % confidence interval",
    Better::Higher,
);

/// Effective bisection bandwidth over given tables, as a fraction of the injection rate.
///
/// Random halves, random perfect matchings; a flow's share is one over the largest congestion on
/// its route (the mean over its routes when there are several).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Random bisections.
    pub patterns: u32,
    /// Seed of the random draws.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { patterns: 1000, seed: 0 }
    }
}

/// What random bisections get. Shares are fractions of an endpoint's injection rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// Mean share over the patterns.
    pub effective_bisection_bandwidth: f64,
    /// Low and high end of its 95 % confidence interval; none of one pattern.
    pub confidence_interval_95: Option<[f64; 2]>,
    /// Random bisections.
    pub patterns: u32,
    /// Seed of the random draws.
    pub seed: u64,
    /// Largest congestion of a channel in any pattern, in flows' worth of traffic.
    pub max_congestion: f64,
    /// Mean share of a flow, one value a pattern.
    pub pattern_means: Vec<f64>,
    /// Flows by share, 20 bins of 0.05.
    pub flow_histogram: [u64; 20],
}

impl Stage for Params {
    const NAME: &'static str = "ebb";
    const COLUMNS: &'static [Metric] = &[
        Metric::new(
            "effective_bisection_bandwidth",
            "/effective_bisection_bandwidth",
            Kind::Real,
            "fraction",
            "mean share of the injection rate over random bisections",
            Better::Higher,
        ),
        CI95_LOW,
        CI95_HIGH,
        Metric::new("patterns", "/patterns", Kind::Whole, "", "random bisections", Better::Neither),
    ];

    type On<'a> = &'a Routing;
    type Record = Record;

    fn examples() -> Vec<Self> {
        vec![Self { patterns: 10, seed: 0 }, Self { patterns: 3, seed: 7 }]
    }

    fn need(&self, on: &Routing, threads: usize) -> Need {
        Size::of(on.topology(), threads).along(on, RouteWork::Patterns(self.patterns))
    }

    fn run(&self, on: &Routing, watch: &dyn Watch) -> Result<Record, Stop> {
        let found = ebb(on, self.patterns, self.seed, watch)?;
        let (mean, half) = (found.mean(), found.confidence_95());
        Ok(Record {
            effective_bisection_bandwidth: mean,
            confidence_interval_95: half.is_finite().then_some([mean - half, mean + half]),
            patterns: self.patterns,
            seed: self.seed,
            max_congestion: found.max_congestion,
            pattern_means: found.patterns,
            flow_histogram: found.flows,
        })
    }
}
