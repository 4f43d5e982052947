//! A point as users read it.

use super::classes::ClassRow;
use super::replay::{JobRow, RankRow};
use super::tally::{Spread, Sums};
use schemars::JsonSchema;
use serde::Serialize;

/// Latencies of packets, from when an endpoint's interface schedules them until all of them has
/// arrived, and of messages, from when they come to the interface until then: us, null where none
/// arrived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Latencies {
    /// Mean latency of packets, us.
    pub mean_latency_us: Option<f64>,
    /// Latency that half of the packets do not exceed, at most 1/64 too large, us.
    pub p50_latency_us: Option<f64>,
    /// Latency that 99 % of the packets do not exceed, at most 1/64 too large, us.
    pub p99_latency_us: Option<f64>,
    /// Largest latency of a packet, us.
    pub max_latency_us: Option<f64>,
    /// Mean latency of messages, us.
    pub mean_message_latency_us: Option<f64>,
    /// Latency that half of the messages do not exceed, at most 1/64 too large, us.
    pub p50_message_latency_us: Option<f64>,
    /// Latency that 99 % of the messages do not exceed, at most 1/64 too large, us.
    pub p99_message_latency_us: Option<f64>,
    /// Largest latency of a message, us.
    pub max_message_latency_us: Option<f64>,
}

impl Latencies {
    /// Those of what arrived.
    pub(super) fn of(sums: &Sums) -> Self {
        let in_us = |ps: f64| ps / 1e6;
        let mean = |of: &Spread| of.mean_ps().map(in_us);
        let quantile = |of: &Spread, share| of.quantile_ps(share).map(|ps| in_us(ps as f64));
        let max = |of: &Spread| of.max_ps().map(|ps| in_us(ps as f64));
        let Sums { chunks, messages, .. } = sums;
        Self {
            mean_latency_us: mean(chunks),
            p50_latency_us: quantile(chunks, 0.5),
            p99_latency_us: quantile(chunks, 0.99),
            max_latency_us: max(chunks),
            mean_message_latency_us: mean(messages),
            p50_message_latency_us: quantile(messages, 0.5),
            p99_message_latency_us: quantile(messages, 0.99),
            max_message_latency_us: max(messages),
        }
    }
}

/// Bytes for each of so many over so many ps, GiB/s; 0 over none.
pub(super) fn accepted(bytes: u64, each: f64, ps: u64) -> f64 {
    let share = each * ps as f64 / 1e12;
    if share > 0.0 { bytes as f64 / f64::from(1 << 30) / share } else { 0.0 }
}

/// What a run at one load found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What endpoints want to send, as part of the rate of one rail; null of a trace.
    pub offered_load: Option<f64>,
    /// Bytes that arrived, for each endpoint and the time until the last of them, GiB/s.
    pub accepted_gib_per_s: f64,
    /// Packets that arrived.
    pub packets: u64,
    /// Messages of which all arrived.
    pub messages: u64,
    /// Mean routers visited; null where nothing arrived, as all that follow from packets.
    pub mean_hops: Option<f64>,
    /// Latencies of packets and of messages.
    #[serde(flatten)]
    pub latencies: Latencies,
    /// Packets on ways that are no shortest ones.
    pub nonminimal_packets: u64,
    /// Packets that came behind one that the same endpoint sent them after, of the same class of
    /// traffic; null where that is not asked for.
    pub overtaken_packets: Option<u64>,
    /// The last arrival, us.
    pub end_us: f64,
    /// Events handled, without those that were undone.
    pub events: u64,
    /// Windows or rounds of parallel engines.
    pub windows: u64,
    /// Events that were undone.
    pub rollbacks: u64,
    /// The part of all handled events that was not undone.
    pub efficiency: f64,
    /// The part of its rate that the busiest link between routers carried until the end.
    pub busiest_link_use: f64,
    /// The busiest of these links, by the names of its routers.
    pub busiest_link: String,
    /// Of all numbers of all endpoints and links: equal runs have equal ones.
    pub digest: String,
    /// Whether packets wait for one another in a circle.
    pub deadlocked: bool,
    /// The circle, where there is one: each packet waits for the next, the last for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circle: Option<Vec<String>>,
    /// All classes of traffic, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<ClassRow>>,
    /// All jobs, those of traces first: told beside the points.
    #[serde(skip)]
    pub jobs: Vec<JobRow>,
    /// All channels between routers, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkRow>,
    /// All processes of traces, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankRow>,
    /// What arrived in equal spans of time, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesRow>,
    /// How long the run took, s, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}

/// Channels between routers as columns: both directions of every cable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LinkRow {
    /// The router that sends.
    pub from: Vec<String>,
    /// The router that receives.
    pub to: Vec<String>,
    /// The sender's port.
    pub port: Vec<u16>,
    /// The plane.
    pub plane: Vec<u32>,
    /// Bytes sent.
    pub bytes: Vec<u64>,
    /// The part of the run that it was busy.
    pub utilisation: Vec<f64>,
    /// Most packets that waited for it at once.
    pub most_waiting: Vec<u32>,
    /// The part of the run that it was free and packets waited for it, but none had room behind it.
    pub blocked: Vec<f64>,
}

/// Arrivals in equal spans of time, as columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SeriesRow {
    /// The end of each span, us.
    pub end_us: Vec<f64>,
    /// Packets that arrived.
    pub packets: Vec<u64>,
    /// Bytes that arrived, for each endpoint and the span, GiB/s.
    pub accepted_gib_per_s: Vec<f64>,
    /// Mean latency of these packets, us; null where none arrived.
    pub mean_latency_us: Vec<Option<f64>>,
}
