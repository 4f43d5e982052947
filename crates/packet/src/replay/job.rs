//! Jobs and their results: statistics of their chunks, and times of their processes.

use super::super::latencies::LatencyFigures;
use schemars::JsonSchema;
use serde::Serialize;

/// A job of a run: a workload, or a background job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedJob {
    /// The name of the job.
    pub name: String,
    /// The rank of its first process among the processes of all jobs.
    pub first: u32,
    /// The number of its processes.
    pub ranks: u32,
    /// Whether it is a background job.
    pub is_background: bool,
}

/// The times of a process, ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessTimes {
    /// Its rank among the processes of all jobs.
    pub rank: u32,
    /// The time at which it was done.
    pub end_ps: u64,
    /// Time from the start of its first operation to the end of its last, minus its calculations.
    pub communication_ps: u64,
    /// Time that it spent in calculations.
    pub calculated_ps: u64,
}

/// Communication times of the processes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobCommunicationTimes {
    /// The longest communication time of a process, ps.
    pub max_ps: u64,
    /// The sum over all processes, ps.
    pub sum_ps: u128,
}

/// The results of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "JobRow")]
pub struct JobResultRow {
    /// The name of the job.
    pub name: String,
    /// The number of its processes.
    pub ranks: u32,
    /// The longest communication time of a process, from its first operation to its last without
    /// its calculations, ns; null for background jobs.
    pub max_comm_ns: Option<f64>,
    /// The mean communication time of its processes, ns.
    pub mean_comm_ns: Option<f64>,
    /// Latencies of its packets and messages.
    #[serde(flatten)]
    pub latencies: LatencyFigures,
    /// Mean number of links between switches that its packets traversed; null where none arrived.
    pub mean_hops: Option<f64>,
    /// Mean number of switches that its packets visited; null where none arrived.
    pub mean_switches: Option<f64>,
    /// Messages that arrived, including requests to send and their answers.
    pub messages: u64,
    /// Packets that arrived.
    pub packets: u64,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Packets on non-minimal paths.
    pub nonminimal_packets: u64,
    /// Packets that arrived behind one that the same endpoint sent after them; null where overtaken
    /// packets are not counted.
    pub overtaken_packets: Option<u64>,
    /// Accepted rate: bytes that arrived, for each process and the time until the last of them,
    /// Gbit/s.
    pub accepted_gbps: f64,
    /// The time of the last arrival, ns.
    pub end_ns: f64,
}

/// Processes of all jobs, as columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RankRow")]
pub struct ProcessResultColumns {
    /// The job, by its number.
    pub job: Vec<u16>,
    /// The rank in the job.
    pub rank: Vec<u32>,
    /// The endpoint that the process is on.
    pub endpoint: Vec<u32>,
    /// The time at which the process was done, ns.
    pub end_ns: Vec<f64>,
    /// Time from its first operation to its last, without its calculations, ns.
    pub comm_ns: Vec<f64>,
    /// Time of its calculations, ns.
    pub compute_ns: Vec<f64>,
    /// Messages that it sent, without requests to send and answers.
    pub messages: Vec<u64>,
    /// Bytes of these messages.
    pub bytes: Vec<u64>,
}
