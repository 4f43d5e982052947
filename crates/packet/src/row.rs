//! The result of a run at one load, as users read it.

use super::latencies::LatencyFigures;
use super::replay::{JobResultRow, ProcessResultColumns};
use paths::over_seeds::SeedStatistics;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of a run at one load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Row")]
pub struct LoadPointResultRow {
    /// What endpoints offer to send, as part of the rate of one rail; null for a workload.
    pub offered_load: Option<f64>,
    /// What of it arrives, for each endpoint that sends: bytes that arrived in the measured window,
    /// else until the last arrival; null for a workload.
    pub accepted_load: Option<f64>,
    /// Whether less than 97 % of the offered load arrives; null where that may be chance, as so few
    /// messages were to come, and where no window is measured.
    pub saturated: Option<bool>,
    /// Accepted rate: bytes that arrived, for each endpoint, whether it sends or not, and the
    /// measured window, else the time until the last of them, Gbit/s.
    pub accepted_gbps: f64,
    /// Packets that arrived and were scheduled in the measured window, where there is one; hops and
    /// latencies are those of these packets.
    pub packets: u64,
    /// Messages that arrived completely and were created in the measured window, where there is
    /// one.
    pub messages: u64,
    /// Mean number of links between switches that packets traversed; null where no packet arrived,
    /// like all figures of packets.
    pub mean_hops: Option<f64>,
    /// Mean number of switches that packets visited.
    pub mean_switches: Option<f64>,
    /// Latencies of packets and of messages.
    #[serde(flatten)]
    pub latencies: LatencyFigures,
    /// Packets on non-minimal paths.
    pub nonminimal_packets: u64,
    /// Packets that arrived behind one that the same endpoint sent after them in the same class of
    /// traffic; null where overtaken packets are not counted.
    pub overtaken_packets: Option<u64>,
    /// The time of the last arrival, ns.
    pub end_ns: f64,
    /// Events handled, without those that were undone.
    pub events: u64,
    /// Windows or rounds of parallel engines.
    pub windows: u64,
    /// Events that were undone.
    pub rollbacks: u64,
    /// The part of all handled events that was not undone.
    pub efficiency: f64,
    /// The part of its rate that the busiest link between switches carried in the measured window,
    /// else until the end.
    pub busiest_link_use: f64,
    /// The busiest of these links, by the names of its switches.
    pub busiest_link: String,
    /// The busiest of these links, both directions apart, the busiest first: as many as `top`.
    pub busiest_links: Vec<BusyLink>,
    /// A digest of all counters of endpoints and links: equal runs have equal digests.
    pub digest: String,
    /// Whether packets wait for one another in a cycle.
    pub deadlocked: bool,
    /// The cycle, where there is one: each packet waits for the next, the last for the first.
    #[serde(rename = "circle", skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<String>>,
    /// How runs with several seeds differ, where there are several that are not all equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_seeds: Option<SeedStatistics>,
    /// The results of each class of traffic, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<TrafficClassResultRow>>,
    /// The results of jobs, those of workloads first; they are reported beside the points.
    #[serde(skip)]
    pub jobs: Vec<JobResultRow>,
    /// The use of each channel between switches, where the user asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkUseColumns>,
    /// The times of each process of workloads, where the user asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<ProcessResultColumns>,
    /// Arrivals in equal spans of time, where the user asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<ArrivalSeriesColumns>,
    /// Wall-clock time of the run, s, where it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}

/// A channel between two switches, by their names and the ports that its cable is in.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BusyPacketLink")]
pub struct BusyLink {
    /// The switch that sends.
    pub from: String,
    /// The port of the switch that sends.
    pub port: u16,
    /// The switch that receives.
    pub to: String,
    /// The port of the switch that receives.
    pub to_port: u16,
    /// The part of the measured window, else of the run, that the channel was busy.
    #[serde(rename = "use")]
    pub used: f64,
}

/// The use of channels between switches, as columns: both directions of every cable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "LinkRow")]
pub struct LinkUseColumns {
    /// The switch that sends.
    pub from: Vec<String>,
    /// The switch that receives.
    pub to: Vec<String>,
    /// The port of the switch that sends.
    pub port: Vec<u16>,
    /// The plane that the channel belongs to.
    pub plane: Vec<u32>,
    /// Bytes sent in the measured window, else in all.
    pub bytes: Vec<u64>,
    /// The part of the measured window, else of the run, that the channel was busy.
    #[serde(rename = "use")]
    pub used: Vec<f64>,
    /// The largest number of packets that waited for the channel at once, in all of the run.
    pub most_waiting: Vec<u32>,
    /// The part of the same time that the channel was free while packets waited without room behind
    /// it.
    pub blocked: Vec<f64>,
}

/// Arrivals in equal spans of time, as columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SeriesRow")]
pub struct ArrivalSeriesColumns {
    /// The end of each span, ns.
    pub end_ns: Vec<f64>,
    /// Packets that arrived.
    pub packets: Vec<u64>,
    /// Accepted rate: bytes that arrived, for each endpoint and the span, Gbit/s.
    pub accepted_gbps: Vec<f64>,
    /// Mean latency of these packets, ns; null where none arrived.
    pub mean_latency_ns: Vec<Option<f64>>,
}

/// The results of a class of traffic.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ClassRow")]
pub struct TrafficClassResultRow {
    /// What endpoints offer to send, as part of the rate of one rail.
    pub offered_load: f64,
    /// What of it arrives, for each endpoint that sends.
    pub accepted_load: f64,
    /// Whether less than 97 % of it arrives, as for all traffic.
    pub saturated: Option<bool>,
    /// Accepted rate: bytes that arrived, for each endpoint and the measured window, else the time
    /// until the last of any class, Gbit/s.
    pub accepted_gbps: f64,
    /// Packets that arrived.
    pub packets: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// Mean number of links between switches traversed; null where nothing arrived.
    pub mean_hops: Option<f64>,
    /// Mean number of switches visited; null where nothing arrived.
    pub mean_switches: Option<f64>,
    /// Latencies of packets and of messages.
    #[serde(flatten)]
    pub latencies: LatencyFigures,
}
