//! The measure `congestion`: its parameters, and the record for a communication pattern.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009.

use super::busiest::{BUSIEST, BusyChannel, busiest, loads};
use super::congestion::{
    CongestionResult, PatternLevelSelection, PatternSimulationSetup, RankEndpointOrder, congestion,
};
use super::ebb::{CI95_HIGH, CI95_LOW};
use super::metric::PatternMetricKind;
use super::sent::{EndpointReference, RoutingWithTraffic, TrafficParameter, sent};
use base::interval::half_width_95;
use base::renamed::RenamedParameter;
use base::stage::{BetterDirection, ColumnType};
use base::words::did_you_mean;
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::size::{NetworkSize, RouteWorkKind};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use traffic::pattern::CommunicationPattern;

/// Congestion of a communication pattern over given tables when all its messages are sent at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CongestionParams {
    /// A pattern of docs/traffic.md, with its argument behind a colon: `stencil:4x4`.
    /// `ring::bisect` is two jobs.
    pub pattern: String,
    /// Traffic between endpoints by name or number, sent once, in place of a pattern: a name, a
    /// file, or rows of source, destination and amount; see docs/measures.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficParameter>,
    /// Number of runs, each with ranks assigned to endpoints again.
    pub samples: u32,
    /// Seed of the random draws; run i depends on it and on i alone.
    pub seed: u64,
    /// How many endpoints take part; by default all, or as many as the placement names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<u32>,
    /// Number of endpoints of the first of two jobs; by default half of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_job: Option<u32>,
    /// Which endpoint each rank is on: `random`, `linear` (in the order of the network), or names
    /// or numbers of endpoints by rank; endpoints that are not named come after them in random
    /// order.
    pub placement: RankOrderParameter,
    /// `each` (one after the other), `all` (at once), or the number of one, from 0.
    pub levels: PatternLevelsParameter,
    /// Whether the cables of endpoints count; without them, `bisect` is what `ebb` measures.
    pub endpoint_cables: bool,
    /// `bandwidth`, `congestion`, `time`, `delay` or `channels`; see docs/measures.md.
    pub metric: String,
    /// Only this number of the busiest channels, by name.
    pub top: u32,
}

/// The order of ranks as a parameter: a word, or endpoints by name or number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "OrderParameter")]
pub enum RankOrderParameter {
    /// `random` or `linear`.
    Word(String),
    /// Endpoints by rank.
    Named(Vec<EndpointReference>),
}

/// The levels to send as a parameter: a word, or the number of one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "LevelsParameter")]
pub enum PatternLevelsParameter {
    /// The level of this number.
    One(u32),
    /// `each` or `all`.
    Word(String),
}

impl Default for CongestionParams {
    fn default() -> Self {
        Self {
            pattern: "bisect".into(),
            traffic: None,
            samples: 1000,
            seed: 0,
            endpoints: None,
            first_job: None,
            placement: RankOrderParameter::Word("random".into()),
            levels: PatternLevelsParameter::Word("each".into()),
            endpoint_cables: true,
            metric: "bandwidth".into(),
            top: BUSIEST,
        }
    }
}

impl CongestionParams {
    fn setup(&self) -> Result<PatternSimulationSetup, Refusal> {
        let order = match &self.placement {
            RankOrderParameter::Word(word) if word == "random" => RankEndpointOrder::Random,
            RankOrderParameter::Word(word) if word == "linear" => RankEndpointOrder::Linear,
            RankOrderParameter::Word(word) => {
                let near = did_you_mean(word, ["random", "linear"]);
                let help = format!("{near}random, linear, or endpoints by name");
                return Err(Refusal::new("placement", format!("there is no '{word}'"), help));
            }
            RankOrderParameter::Named(names) if names.is_empty() => {
                return Err(Refusal::new("placement", "no endpoints in it", "name at least one"));
            }
            RankOrderParameter::Named(names) => {
                RankEndpointOrder::Given(names.iter().map(EndpointReference::text).collect())
            }
        };
        let levels = match &self.levels {
            PatternLevelsParameter::One(level) => PatternLevelSelection::One(*level),
            PatternLevelsParameter::Word(word) if word == "each" => PatternLevelSelection::Each,
            PatternLevelsParameter::Word(word) if word == "all" => PatternLevelSelection::Together,
            PatternLevelsParameter::Word(word) => {
                PatternLevelSelection::One(word.parse().map_err(|_| {
                    let near = did_you_mean(word, ["each", "all"]);
                    let help = format!("{near}each, all, or the number of one");
                    Refusal::new("levels", format!("there is no '{word}'"), help)
                })?)
            }
        };
        for (name, given) in [("endpoints", self.endpoints), ("first_job", self.first_job)] {
            if let Some(few @ ..2) = given {
                return Err(Refusal::new(name, format!("{few} is out of range"), "2 or more"));
            }
        }
        let Self { pattern, samples, seed, endpoints, first_job, endpoint_cables, .. } =
            self.clone();
        Ok(PatternSimulationSetup {
            pattern,
            runs: samples,
            seed,
            endpoints,
            first_job,
            order,
            levels,
            endpoint_cables,
        })
    }
}

/// The congestion that a pattern's messages meet. Shares are fractions of an endpoint's injection
/// rate; congestion is in messages' worth of traffic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CongestionRecord {
    /// The metric of `series` and the five fields after it.
    pub metric: &'static str,
    /// Values of the metric, one a run, or one a channel.
    pub series: Vec<f64>,
    /// Mean of the values.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Variance of the values (with divisor n - 1); none for a single value.
    pub variance: Option<f64>,
    /// [low, high, n]: n values are above low and at most high; messages where the metric is
    /// `congestion`.
    pub histogram: Vec<(f64, f64, u64)>,
    /// Endpoints that took part.
    pub endpoints: u32,
    /// Levels of a run.
    pub levels: u32,
    /// Number of runs.
    pub samples: u64,
    /// Mean over runs of the mean share of their messages, each counted by its amount.
    pub mean_share: f64,
    /// Low and high end of the 95 % confidence interval of `mean_share`; none for one run.
    pub confidence_interval_95: Option<[f64; 2]>,
    /// Least share of a message; none without messages.
    pub min_share: Option<f64>,
    /// Largest share of a message; none without messages.
    pub max_share: Option<f64>,
    /// Messages by share, 20 bins of 0.05.
    pub share_histogram: [u64; 20],
    /// Largest congestion of a message.
    pub max_congestion: f64,
    /// Messages by congestion, rounded up: [congestion, messages].
    pub congestion_histogram: Vec<(u64, u64)>,
    /// The channels with the largest loads, the busiest first, those of endpoints among them where
    /// their cables count; `load` is what a channel carries in a run, in the mean over runs, over
    /// what its cable can carry, in messages' worth of traffic.
    pub busiest_channels: Vec<BusyChannel>,
    /// Mean over runs of the time of all levels in step: the sum of their largest congestions.
    pub mean_time: f64,
    /// Mean over runs of the latest arrival along the messages that wait for one another.
    pub mean_delay: f64,
    /// Endpoints of the first job; none with one job.
    pub first_job: Option<u32>,
    /// Mean share of the first job's messages; none with one job.
    pub first_job_share: Option<f64>,
    /// Mean share of the second job's messages; none with one job.
    pub second_job_share: Option<f64>,
    /// The pattern, or the name of the traffic (`given` where it has none).
    pub pattern: String,
    /// Seed of the random draws.
    pub seed: u64,
}

impl ExperimentStage for CongestionParams {
    const NAME: &'static str = "congestion";
    const FILES: &'static [&'static str] = &["traffic"];
    const RENAMED: &'static [RenamedParameter] =
        &[RenamedParameter::name("runs", "samples"), RenamedParameter::name("order", "placement")];
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "pattern",
            "/pattern",
            ColumnType::Text,
            "",
            "who sends to whom",
            BetterDirection::Neither,
        ),
        RecordColumn::new(
            "mean_share",
            "/mean_share",
            ColumnType::Real,
            "fraction",
            "mean share of the injection rate that a message gets",
            BetterDirection::Higher,
        ),
        CI95_LOW,
        CI95_HIGH,
        RecordColumn::new(
            "min_share",
            "/min_share",
            ColumnType::Real,
            "fraction",
            "least share of a message",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "max_congestion",
            "/max_congestion",
            ColumnType::Real,
            "messages",
            "largest congestion of a message",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "mean_time",
            "/mean_time",
            ColumnType::Real,
            "messages",
            "mean over runs of the congestion of all levels, in step",
            BetterDirection::Lower,
        ),
        RecordColumn::new(
            "mean_delay",
            "/mean_delay",
            ColumnType::Real,
            "messages",
            "mean over runs of the latest arrival, messages in step",
            BetterDirection::Lower,
        ),
    ];

    type Input<'a> = RoutingWithTraffic<'a>;
    type Record = CongestionRecord;

    fn examples() -> Vec<Self> {
        let few = Self { samples: 5, ..Self::default() };
        let all = PatternLevelsParameter::Word("all".into());
        let ring = Self { pattern: "ring".into(), levels: all, ..few.clone() };
        vec![few, ring]
    }

    fn need(&self, on: RoutingWithTraffic<'_>, threads: usize) -> ResourceNeed {
        let ranks = self.endpoints.unwrap_or(on.routing.topology().endpoints().len() as u32);
        let work = match &self.traffic {
            Some(_) => on.work(),
            None => RouteWorkKind::Patterns(self.samples, self.most_at_once(ranks)),
        };
        NetworkSize::of(on.routing.topology(), threads).along(on.routing, work)
    }

    fn run(
        &self,
        on: RoutingWithTraffic<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<CongestionRecord, ComputationError> {
        let metric = PatternMetricKind::parse(&self.metric)?;
        let setup = self.setup()?;
        let found = match on.messages(self.traffic.is_some())? {
            None => congestion(on.routing, &setup, watch)?,
            Some(messages) => {
                self.goes_with_traffic()?;
                sent(on.routing, &messages, self.endpoint_cables, watch)?
            }
        };
        Ok(self.record(on.routing, &found, metric))
    }
}

impl CongestionParams {
    /// An upper bound of the number of messages that are sent at once; a pattern that needs the
    /// network counts as one message for each rank.
    fn most_at_once(&self, ranks: u32) -> u64 {
        let of = |job: &str| match CommunicationPattern::parse(job, ranks) {
            Ok(pattern) => pattern.most_messages(ranks),
            Err(_) => ranks.into(), // such as the worst case, which needs the network
        };
        self.pattern.split("::").map(of).sum()
    }

    /// Refuses parameters of patterns if traffic is given.
    fn goes_with_traffic(&self) -> Result<(), Refusal> {
        let usual = Self { samples: self.samples, ..Self::default() };
        for (name, differs) in [
            ("pattern", self.pattern != usual.pattern),
            ("endpoints", self.endpoints != usual.endpoints),
            ("first_job", self.first_job != usual.first_job),
            ("placement", self.placement != usual.placement),
            ("levels", self.levels != usual.levels),
        ] {
            if differs {
                let why = "traffic says itself who sends to whom, and all of it is sent at once";
                return Err(Refusal::new(name, why, format!("give traffic or {name}")));
            }
        }
        Ok(())
    }

    fn record(
        &self,
        routing: &Routing,
        found: &CongestionResult,
        metric: PatternMetricKind,
    ) -> CongestionRecord {
        let loads = loads(routing, &found.channels);
        let of = |metric: PatternMetricKind| found.summary(metric);
        let (share, chosen) = (of(PatternMetricKind::Bandwidth), of(metric));
        let (n, mean) = (share.values.len() as f64, share.mean);
        let half = share.variance.map(|variance| half_width_95(variance, n));
        let job = |i: usize| {
            found.first_job.map(|_| found.runs.iter().map(|r| r.job_shares[i]).sum::<f64>() / n)
        };
        let range = Some(found.share_range).filter(|range| range[0] <= range[1]);
        CongestionRecord {
            metric: metric.name(),
            series: chosen.values,
            mean: chosen.mean,
            min: chosen.min,
            max: chosen.max,
            variance: chosen.variance,
            histogram: chosen.histogram,
            endpoints: found.endpoints,
            levels: found.levels,
            samples: found.runs.len() as u64,
            mean_share: mean,
            confidence_interval_95: half.map(|half| [mean - half, mean + half]),
            min_share: range.map(|r| r[0]),
            max_share: range.map(|r| r[1]),
            share_histogram: found.shares,
            max_congestion: of(PatternMetricKind::Congestion).max,
            busiest_channels: busiest(routing.topology(), &loads, self.top),
            congestion_histogram: found.congestions.iter().map(|(&c, &n)| (c, n)).collect(),
            mean_time: of(PatternMetricKind::Time).mean,
            mean_delay: of(PatternMetricKind::Delay).mean,
            first_job: found.first_job,
            first_job_share: job(0),
            second_job_share: job(1),
            pattern: self
                .traffic
                .as_ref()
                .map_or_else(|| self.pattern.clone(), TrafficParameter::name),
            seed: self.seed,
        }
    }
}
