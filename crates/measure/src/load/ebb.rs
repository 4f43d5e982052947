//! Effective bisection bandwidth: the bandwidth between random halves of the endpoints.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008 (and the ORCS simulator): random bisections,
//! random perfect matchings; a flow gets the inverse of the largest congestion on its route.

use super::busiest::{BUSIEST, BusyChannel, busiest, loads};
use super::congestion::{
    CongestionResult, PatternLevelSelection, PatternSimulationSetup, RankEndpointOrder, congestion,
};
use super::sent::{RoutingWithTraffic, TrafficParameter, sent};
use base::interval::half_width_95;
use base::renamed::RenamedParameter;
use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::sending::working;

/// The effective bisection bandwidth, from all patterns. Bandwidths are fractions of an endpoint's
/// full injection rate.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveBisectionBandwidth {
    /// Mean bandwidth of a flow, one value per pattern.
    pub patterns: Vec<f64>,
    /// `flows[i]` flows of all patterns got a bandwidth in `(i / 20, (i + 1) / 20]`.
    pub flows: [u64; 20],
    /// Congestion of the most congested channel of any pattern, in flows' worth of traffic.
    pub max_congestion: f64,
    /// The mean over patterns of the amount that each channel between switches carried.
    pub channels: Vec<f64>,
}

impl EffectiveBisectionBandwidth {
    fn of(found: &CongestionResult) -> Self {
        Self {
            patterns: found.runs.iter().map(|run| run.share).collect(),
            flows: found.shares,
            max_congestion: found.runs.iter().fold(0.0, |m, run| run.congestion.max(m)),
            channels: found.channels.clone(),
        }
    }

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

/// Simulates `samples` random bisections with random perfect matchings.
///
/// Each flow is spread evenly over its endpoints' common rails and over all layers; a link that is
/// slower or faster than the fastest endpoint cable counts in proportion. A flow's bandwidth is the
/// mean over its routes of 1 / max(1, largest congestion on the route). Pattern i depends on `seed`
/// and i only. O(samples * endpoints * layers * hops), in parallel over samples.
///
/// # Errors
/// When there are fewer than two endpoints or no patterns, when a route does not arrive, or when
/// `watch` says stop.
pub fn ebb(
    routing: &Routing,
    samples: u32,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<EffectiveBisectionBandwidth, ComputationError> {
    let alive = working(routing.topology()).len();
    if alive < 2 || samples == 0 {
        let why = format!("{samples} bisections of {alive} endpoints");
        let help = "at least one bisection and two endpoints";
        return Err(Refusal::new("samples", why, help).into());
    }
    let bisect = PatternSimulationSetup {
        pattern: "bisect".to_owned(),
        runs: samples,
        seed,
        endpoints: None,
        first_job: None,
        order: RankEndpointOrder::Random,
        levels: PatternLevelSelection::Each,
        endpoint_cables: false,
    };
    Ok(EffectiveBisectionBandwidth::of(&congestion(routing, &bisect, watch)?))
}

/// The columns of a mean share's confidence interval.
pub(super) const CI95_LOW: RecordColumn = RecordColumn::new(
    "ci95_low",
    "/confidence_interval_95/0",
    ColumnType::Real,
    "fraction",
    "lower end of its 95 % confidence interval",
    BetterDirection::Higher,
);
pub(super) const CI95_HIGH: RecordColumn = RecordColumn::new(
    "ci95_high",
    "/confidence_interval_95/1",
    ColumnType::Real,
    "fraction",
    "upper end of its 95 % confidence interval",
    BetterDirection::Higher,
);

/// Effective bisection bandwidth over given tables, as a fraction of the injection rate.
///
/// Random halves, random perfect matchings; a flow's share is one over the largest congestion on
/// its route (the mean over its routes when there are several). With `traffic`, the same for the
/// given pairs: the mean share of what they want to send, sent once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EbbParams {
    /// Number of random bisections.
    pub samples: u32,
    /// Traffic in place of random bisections: a name, a file, or rows of source, destination and
    /// amount; see docs/measures.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficParameter>,
    /// Seed of the random draws.
    pub seed: u64,
    /// Only this number of the busiest channels, by name.
    pub top: u32,
}

impl Default for EbbParams {
    fn default() -> Self {
        Self { samples: 1000, traffic: None, seed: 0, top: BUSIEST }
    }
}

/// The shares of flows in random bisections, as fractions of an endpoint's injection rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EbbRecord {
    /// Mean share over the patterns.
    pub effective_bisection_bandwidth: f64,
    /// Low and high end of its 95 % confidence interval; none for one pattern.
    pub confidence_interval_95: Option<[f64; 2]>,
    /// Number of random bisections; 1 for given traffic.
    pub samples: u32,
    /// The name of the given traffic (`given` where it has none); none for bisections.
    pub traffic: Option<String>,
    /// Seed of the random draws.
    pub seed: u64,
    /// Largest congestion of a channel in any pattern, in flows' worth of traffic.
    pub max_congestion: f64,
    /// Mean share of a flow, one value per pattern.
    pub pattern_means: Vec<f64>,
    /// Flows by share, 20 bins of 0.05.
    pub flow_histogram: [u64; 20],
    /// The channels between switches with the largest loads, the busiest first; `load` is what a
    /// channel carries, in the mean over patterns, over what its cable can carry, in flows' worth
    /// of traffic.
    pub busiest_channels: Vec<BusyChannel>,
}

impl ExperimentStage for EbbParams {
    const NAME: &'static str = "ebb";
    const FILES: &'static [&'static str] = &["traffic"];
    const RENAMED: &'static [RenamedParameter] = &[RenamedParameter::name("patterns", "samples")];
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "effective_bisection_bandwidth",
            "/effective_bisection_bandwidth",
            ColumnType::Real,
            "fraction",
            "mean share of the injection rate over random bisections",
            BetterDirection::Higher,
        ),
        CI95_LOW,
        CI95_HIGH,
        RecordColumn::new(
            "samples",
            "/samples",
            ColumnType::Whole,
            "",
            "number of random bisections",
            BetterDirection::Neither,
        ),
    ];

    type Input<'a> = RoutingWithTraffic<'a>;
    type Record = EbbRecord;

    fn examples() -> Vec<Self> {
        let of = |samples, seed| Self { samples, seed, ..Self::default() };
        vec![of(10, 0), of(3, 7)]
    }

    fn need(&self, on: RoutingWithTraffic<'_>, threads: usize) -> ResourceNeed {
        let endpoints = on.routing.topology().endpoints().len() as u64;
        let work = match &self.traffic {
            Some(_) => on.work(),
            None => RouteWorkKind::Patterns(self.samples, endpoints / 2),
        };
        NetworkSize::of(on.routing.topology(), threads).along(on.routing, work)
    }

    fn run(
        &self,
        on: RoutingWithTraffic<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<EbbRecord, ComputationError> {
        let found = match on.messages(self.traffic.is_some())? {
            None => ebb(on.routing, self.samples, self.seed, watch)?,
            Some(messages) => {
                EffectiveBisectionBandwidth::of(&sent(on.routing, &messages, false, watch)?)
            }
        };
        let (mean, half) = (found.mean(), found.confidence_95());
        let loads = loads(on.routing, &found.channels);
        Ok(EbbRecord {
            effective_bisection_bandwidth: mean,
            confidence_interval_95: half.is_finite().then_some([mean - half, mean + half]),
            samples: found.patterns.len() as u32,
            traffic: self.traffic.as_ref().map(TrafficParameter::name),
            seed: self.seed,
            max_congestion: found.max_congestion,
            pattern_means: found.patterns,
            flow_histogram: found.flows,
            busiest_channels: busiest(on.routing.topology(), &loads, self.top),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variance of 1, 2, 3, 4 is 5 / 3, with divisor n - 1; 95 % of a normal distribution are
    /// within 1.96 standard deviations.
    #[test]
    fn the_interval_is_by_the_variance_of_a_sample() {
        let of = |patterns: &[f64]| EffectiveBisectionBandwidth {
            patterns: patterns.to_vec(),
            flows: [0; 20],
            max_congestion: 1.0,
            channels: Vec::new(),
        };
        let wanted = 1.959_964 * (5.0_f64 / 3.0 / 4.0).sqrt();
        assert!((of(&[1.0, 2.0, 3.0, 4.0]).confidence_95() - wanted).abs() < 1e-6);
        assert!(of(&[1.0]).confidence_95().is_infinite());
    }
}
