//! A point as users read it.

use super::latencies::Latencies;
use super::replay::{JobRow, RankRow};
use schemars::JsonSchema;
use serde::Serialize;

/// What a run at one load found.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// What endpoints want to send, as part of the rate of one rail; null of a workload.
    pub offered_load: Option<f64>,
    /// Bytes that arrived, for each endpoint and the time until the last of them, Gbit/s.
    pub accepted_gbps: f64,
    /// Packets that arrived.
    pub packets: u64,
    /// Messages of which all arrived.
    pub messages: u64,
    /// Mean links between switches traversed; null where nothing arrived, as all that follow from
    /// packets.
    pub mean_hops: Option<f64>,
    /// Mean switches visited.
    pub mean_switches: Option<f64>,
    /// Latencies of packets and of messages.
    #[serde(flatten)]
    pub latencies: Latencies,
    /// Packets on ways that are no shortest ones.
    pub nonminimal_packets: u64,
    /// Packets that came behind one that the same endpoint sent them after, of the same class of
    /// traffic; null where that is not asked for.
    pub overtaken_packets: Option<u64>,
    /// The last arrival, ns.
    pub end_ns: f64,
    /// Events handled, without those that were undone.
    pub events: u64,
    /// Windows or rounds of parallel engines.
    pub windows: u64,
    /// Events that were undone.
    pub rollbacks: u64,
    /// The part of all handled events that was not undone.
    pub efficiency: f64,
    /// The part of its rate that the busiest link between switches carried until the end.
    pub busiest_link_use: f64,
    /// The busiest of these links, by the names of its switches.
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
    /// All jobs, those of workloads first: told beside the points.
    #[serde(skip)]
    pub jobs: Vec<JobRow>,
    /// All channels between switches, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkRow>,
    /// All processes of workloads, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankRow>,
    /// What arrived in equal spans of time, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesRow>,
    /// How long the run took, s, where that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}

/// Channels between switches as columns: both directions of every cable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LinkRow {
    /// The switch that sends.
    pub from: Vec<String>,
    /// The switch that receives.
    pub to: Vec<String>,
    /// The sender's port.
    pub port: Vec<u16>,
    /// The plane.
    pub plane: Vec<u32>,
    /// Bytes sent.
    pub bytes: Vec<u64>,
    /// The part of the run that it was busy.
    #[serde(rename = "use")]
    pub used: Vec<f64>,
    /// Most packets that waited for it at once.
    pub most_waiting: Vec<u32>,
    /// The part of the run that it was free and packets waited for it, but none had room behind it.
    pub blocked: Vec<f64>,
}

/// Arrivals in equal spans of time, as columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct SeriesRow {
    /// The end of each span, ns.
    pub end_ns: Vec<f64>,
    /// Packets that arrived.
    pub packets: Vec<u64>,
    /// Bytes that arrived, for each endpoint and the span, Gbit/s.
    pub accepted_gbps: Vec<f64>,
    /// Mean latency of these packets, ns; null where none arrived.
    pub mean_latency_ns: Vec<Option<f64>>,
}

/// What was found of a class.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClassRow {
    /// What endpoints want to send, as part of the rate of one rail.
    pub offered_load: f64,
    /// Bytes that arrived, for each endpoint and the time until the last of any class, Gbit/s.
    pub accepted_gbps: f64,
    /// Packets that arrived.
    pub packets: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// Mean links between switches traversed; null where nothing arrived.
    pub mean_hops: Option<f64>,
    /// Mean switches visited; null likewise.
    pub mean_switches: Option<f64>,
    /// Latencies of packets and of messages.
    #[serde(flatten)]
    pub latencies: Latencies,
}
