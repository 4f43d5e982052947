//! The metrics of a simulated pattern: those of ORCS, with one value for each run.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009.

use super::congestion::{CongestionResult, PatternRunResult};
use super::rounding::{rounded_up, twentieth};
use base::Refusal;
use base::words::did_you_mean;
use std::collections::BTreeMap;

/// A metric of a simulated pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternMetricKind {
    /// Mean share of a run's messages; for random bisections, the effective bisection bandwidth.
    Bandwidth,
    /// Largest congestion of a run; its histogram counts all messages.
    Congestion,
    /// Sum of the largest congestions of the pattern's levels, which are sent one after another,
    /// each when the one before has arrived.
    Time,
    /// Latest arrival along chains of messages that wait for one another.
    Delay,
    /// The amount that each channel carried in a run, mean over runs.
    Channels,
}

/// Each metric, its name, and its name in ORCS.
const METRICS: [(PatternMetricKind, &str, &str); 5] = [
    (PatternMetricKind::Bandwidth, "bandwidth", "hist_acc_band"),
    (PatternMetricKind::Congestion, "congestion", "hist_max_cong"),
    (PatternMetricKind::Time, "time", "sum_max_cong"),
    (PatternMetricKind::Delay, "delay", "dep_max_delay"),
    (PatternMetricKind::Channels, "channels", "get_cable_cong"),
];

impl PatternMetricKind {
    /// The metric of this name, or of this name in ORCS.
    ///
    /// # Errors
    /// When there is no such metric.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        let found = METRICS.iter().find(|(_, ours, orcs)| name == *ours || name == *orcs);
        found.map(|(metric, _, _)| *metric).ok_or_else(|| {
            let names = METRICS.map(|(_, name, _)| name);
            let help = did_you_mean(name, names) + &names.join(", ");
            Refusal::new("metric", format!("there is no '{name}'"), help)
        })
    }

    /// The name of the metric.
    pub fn name(self) -> &'static str {
        METRICS.iter().find(|(metric, _, _)| *metric == self).map_or("", |(_, name, _)| name)
    }
}

/// The values of a metric and their statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSummary {
    /// One value per run, or one per channel.
    pub values: Vec<f64>,
    /// Mean of the values.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Their variance (with divisor n - 1); `None` for a single value.
    pub variance: Option<f64>,
    /// The bins of a histogram, as (low, high, n): n values are above low and at most high.
    pub histogram: Vec<(f64, f64, u64)>,
}

impl CongestionResult {
    /// The values of a metric. O(runs + channels).
    pub fn summary(&self, metric: PatternMetricKind) -> MetricSummary {
        let of = |value: fn(&PatternRunResult) -> f64| -> Vec<f64> {
            self.runs.iter().map(value).collect()
        };
        let values = match metric {
            PatternMetricKind::Bandwidth => of(|run| run.share),
            PatternMetricKind::Congestion => of(|run| run.congestion),
            PatternMetricKind::Time => of(|run| run.time),
            PatternMetricKind::Delay => of(|run| run.delay),
            PatternMetricKind::Channels => self.channels.clone(),
        };
        let histogram = match metric {
            PatternMetricKind::Bandwidth => {
                let mut bins = [0; 20];
                for share in &values {
                    bins[twentieth(*share)] += 1;
                }
                let edge = |i: u32| f64::from(i) / 20.0;
                (0..).zip(bins).map(|(i, n)| (edge(i), edge(i + 1), n)).collect()
            }
            PatternMetricKind::Congestion => by_whole(&self.congestions),
            _ => {
                let mut counts = BTreeMap::new();
                for x in &values {
                    *counts.entry(rounded_up(*x)).or_insert(0) += 1;
                }
                by_whole(&counts)
            }
        };
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = (values.len() > 1)
            .then(|| values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0));
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        MetricSummary { values, mean, min, max, variance, histogram }
    }
}

fn by_whole(counts: &BTreeMap<u64, u64>) -> Vec<(f64, f64, u64)> {
    counts.iter().map(|(&whole, &n)| (whole as f64 - 1.0, whole as f64, n)).collect()
}
