//! The parameters of a case, as people set them.

use super::router::Router;
use crate::select::{Choosing, Rail, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The lanes of packets that choose their ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneUse {
    /// `hops` where there are virtual channels enough, else `groups` where there are groups.
    #[default]
    Auto,
    /// By the links crossed before: lanes rise on every way, so that packets never wait in a
    /// circle.
    Hops,
    /// By the links between groups crossed before, one more behind a switch in between; ways are
    /// those with the fewest such links (dragonfly, megafly).
    Groups,
    /// Any lane on any hop.
    Any,
}

/// How long a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLength {
    /// Cycles before anything counts.
    pub warmup_cycles: u32,
    /// Cycles that count.
    pub measure_cycles: u32,
    /// Most cycles after these in which what counts may still arrive.
    pub drain_cycles: u32,
    /// Whether endpoints go on sending until all that counts has arrived; else they stop.
    pub drain_under_load: bool,
    /// Whether points have `links`: what every channel between switches carried.
    pub links: bool,
}

impl Default for RunLength {
    fn default() -> Self {
        Self {
            warmup_cycles: 1000,
            measure_cycles: 3000,
            drain_cycles: 100_000,
            drain_under_load: false,
            links: false,
        }
    }
}

/// All parameters of a case but the network, the tables and the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// How packets choose among the ways that there are.
    pub selection: Selection,
    /// What selections look at; their usual numbers where it is not given.
    pub choosing: Option<Choosing>,
    /// The lanes of packets that choose.
    pub lane_use: LaneUse,
    /// The rail of its endpoint that a packet takes, where there are several.
    pub rail: Rail,
    /// Who sends to whom: a pattern with its argument.
    pub traffic: String,
    /// When packets are born: `bernoulli` or `on_off:ALPHA,BETA`.
    pub process: String,
    /// Flits of a packet, or several with weights: `1=3,5=1`.
    #[serde(deserialize_with = "flits_said")]
    #[schemars(with = "FlitsSaid")]
    pub packet_flits: String,
    /// The routers.
    pub router: Router,
    /// Latency of all cables, cycles.
    pub link_latency_cycles: u32,
    /// How long a cycle is, where latencies follow from lengths of cables; they are
    /// `link_latency_cycles` where it is not given.
    pub cycle_ns: Option<f64>,
    /// Warm-up, measurement, drain.
    pub run: RunLength,
    /// Runs what is not proved free of deadlock.
    pub unverified: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            selection: Selection::Minimal,
            choosing: None,
            lane_use: LaneUse::Auto,
            rail: Rail::Random,
            traffic: "uniform".to_owned(),
            process: "bernoulli".to_owned(),
            packet_flits: "1".to_owned(),
            router: Router::default(),
            link_latency_cycles: 1,
            cycle_ns: None,
            run: RunLength::default(),
            unverified: false,
            seed: 0,
        }
    }
}

/// `packet_flits` as people write it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum FlitsSaid {
    /// So many.
    One(u64),
    /// A number, or several with weights.
    Several(String),
}

fn flits_said<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match FlitsSaid::deserialize(from)? {
        FlitsSaid::One(flits) => flits.to_string(),
        FlitsSaid::Several(text) => text,
    })
}
