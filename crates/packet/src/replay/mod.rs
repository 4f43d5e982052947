//! Workloads over the network: processes send what their schedules say, by the eager or the
//! rendezvous protocol, beside background jobs.
//!
//! The number of a message is four times the number of its send operation in the merged schedule of
//! all jobs, plus its [`ProtocolMessageRole`].
//!
//! Source: the rules of `model-net-mpi-replay` of CODES, for the protocol and its costs.

mod background;
mod background_sends;
mod entry;
mod job;
mod jobs;
mod options;
mod play;
mod process;
mod rows;

pub use background::{BackgroundJobList, BackgroundJobParameters, PlacedBackgroundJob};
pub use entry::{MatchingListEntry, ProcessChange};
pub use job::{
    JobCommunicationTimes, JobResultRow, ProcessResultColumns, ProcessTimes, ReplayedJob,
};
pub use jobs::UserSuppliedJobs;
pub(super) use options::needs_trace;
pub use options::{CollectiveTrafficMode, ComputeTimeMode, WorkloadNames};
pub use process::EndpointProcesses;

use base::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use traffic::workload::{OperationKind, Schedule, merge};

/// The part that a message plays in the protocol of a send operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProtocolMessageRole {
    /// A short message, sent at once.
    Eager,
    /// The request to send a long message.
    Request,
    /// The receiver's answer that the long message may come.
    Answer,
    /// The long message itself, sent after the answer.
    Data,
}

const PARTS: [ProtocolMessageRole; 4] = [
    ProtocolMessageRole::Eager,
    ProtocolMessageRole::Request,
    ProtocolMessageRole::Answer,
    ProtocolMessageRole::Data,
];

/// The bit in a message's number that marks messages of background jobs.
const OF_BACKGROUND: u32 = 1 << 31;

/// The largest number of operations of all jobs: the numbers of their messages stay below
/// [`OF_BACKGROUND`].
const MOST_OPERATIONS: usize = 1 << 29;

/// The longest time that a process may compute, ns.
const MOST_NS: u64 = (des::RANGE_PS - 1) / 1000;

/// Checks that the calculations of each process fit the range of times. Their sum with other delays
/// may still exceed it; the run then ends there and says why.
///
/// # Errors
/// When a process computes for longer than the range of times.
fn check_times(schedule: &Schedule, computes: bool) -> Result<(), Refusal> {
    let mut sums = vec![0_u64; schedule.ranks() as usize];
    for (op, it) in
        (0..).zip(schedule.ops()).filter(|(_, it)| computes && it.kind == OperationKind::Calc)
    {
        let rank = schedule.rank_of(op);
        let sum = &mut sums[rank as usize];
        *sum = sum.saturating_add(it.size);
        if *sum > MOST_NS {
            let why = format!("rank {rank} computes for more than {MOST_NS} ns: out of range");
            return Err(Refusal::new("workload", why, "shorter calculations, or compute off"));
        }
    }
    Ok(())
}

fn number(op: u32, part: ProtocolMessageRole) -> u32 {
    op << 2 | part as u32
}

/// The send operation that is complete once the last packet of this message has left; none if the
/// message is a request or an answer.
pub(super) fn sends(message: u32) -> Option<u32> {
    let (op, part) = operation(message);
    let is_whole = matches!(part, ProtocolMessageRole::Eager | ProtocolMessageRole::Data);
    (message & OF_BACKGROUND == 0 && is_whole).then_some(op)
}

fn operation(message: u32) -> (u32, ProtocolMessageRole) {
    (message >> 2, PARTS[(message & 3) as usize])
}

/// The costs of MPI and its protocol, as users write them: those of `costs` where they are not
/// given.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Mpi")]
#[serde(default, deny_unknown_fields)]
pub struct MpiCostSpec {
    /// Messages of this many bytes or more are sent by rendezvous: they ask first whether they may
    /// come; of CODES 8192.
    pub eager_bytes: Option<u64>,
    /// Time from a send to the network, ns; every message takes it, also requests to send and
    /// answers; of CODES 3510, of presets of LogGOPS twice `o`, that of the sender and that of the
    /// receiver.
    pub send_ns: Option<f64>,
    /// Additional time for every byte of an eager message, ns; of CODES 0.55, of presets of LogGOPS
    /// twice `O`.
    pub send_ns_per_byte: Option<f64>,
    /// Least time between two messages that an endpoint hands to the network, ns; of CODES 10, of
    /// presets of LogGOPS `g`.
    pub gap_ns: Option<f64>,
    /// Length of requests to send and of answers; default 64.
    pub control_bytes: Option<u32>,
    /// Between processes of one endpoint, messages of this many bytes or more take the time of a
    /// copy at the rate of the endpoint's link; shorter ones take none; default 16000.
    pub copy_bytes: Option<u64>,
    /// Calculations of at most this length take no time, ns; default 0, or 100 where collective
    /// operations are those of CODES.
    pub least_compute_ns: Option<u64>,
}

impl MpiCostSpec {
    /// The costs of a run: those that are given, and for the others those of `preset`: `codes`, or
    /// a preset of LogGOPS.
    ///
    /// # Errors
    /// When there is no preset of this name.
    pub fn resolved(
        &self,
        preset: &str,
        collectives: CollectiveTrafficMode,
    ) -> Result<MpiCosts, Refusal> {
        let usual = if preset == CODES_COSTS {
            MpiCosts::default()
        } else {
            MpiCosts::of(preset).map_err(|mut refusal| {
                refusal.help = format!("{}, {CODES_COSTS}", refusal.help);
                refusal
            })?
        };
        Ok(MpiCosts {
            eager_bytes: self.eager_bytes.unwrap_or(usual.eager_bytes),
            send_ns: self.send_ns.unwrap_or(usual.send_ns),
            send_ns_per_byte: self.send_ns_per_byte.unwrap_or(usual.send_ns_per_byte),
            gap_ns: self.gap_ns.unwrap_or(usual.gap_ns),
            control_bytes: self.control_bytes.unwrap_or(usual.control_bytes),
            copy_bytes: self.copy_bytes.unwrap_or(usual.copy_bytes),
            least_compute_ns: self.least_compute_ns.unwrap_or(match collectives {
                CollectiveTrafficMode::Codes => CODES_COMPUTE_NS,
                CollectiveTrafficMode::Real => 0,
            }),
        })
    }
}

impl From<MpiCosts> for MpiCostSpec {
    fn from(costs: MpiCosts) -> Self {
        Self {
            eager_bytes: Some(costs.eager_bytes),
            send_ns: Some(costs.send_ns),
            send_ns_per_byte: Some(costs.send_ns_per_byte),
            gap_ns: Some(costs.gap_ns),
            control_bytes: Some(costs.control_bytes),
            copy_bytes: Some(costs.copy_bytes),
            least_compute_ns: Some(costs.least_compute_ns),
        }
    }
}

/// CODES ignores a calculation between two calls that is shorter than this, in ns.
const CODES_COMPUTE_NS: u64 = 100;

/// The preset with the costs of CODES, `MpiCosts::default()`.
pub const CODES_COSTS: &str = "codes";

/// The costs of MPI and its protocol in a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MpiCosts {
    /// Messages of this many bytes or more are sent by rendezvous.
    pub eager_bytes: u64,
    /// Time from a send to the network, ns.
    pub send_ns: f64,
    /// Additional time for every byte of an eager message, ns.
    pub send_ns_per_byte: f64,
    /// Least time between two messages that an endpoint hands to the network, ns.
    pub gap_ns: f64,
    /// Length of requests to send and of answers.
    pub control_bytes: u32,
    /// Least length of messages within an endpoint that take the time of a copy.
    pub copy_bytes: u64,
    /// Calculations of at most this length take no time, ns.
    pub least_compute_ns: u64,
}

impl Default for MpiCosts {
    fn default() -> Self {
        Self {
            eager_bytes: 8192,
            send_ns: 3510.0,
            send_ns_per_byte: 0.55,
            gap_ns: 10.0,
            control_bytes: 64,
            copy_bytes: 16_000,
            least_compute_ns: 0,
        }
    }
}

impl MpiCosts {
    /// The costs of a preset of LogGOPS. A message takes the overheads of both its ends,
    /// as under LogGOPS; here the receiver's is before the network.
    fn of(preset: &str) -> Result<Self, Refusal> {
        let costs = message::preset(preset)?.parameters;
        Ok(Self {
            eager_bytes: costs.S + 1,
            send_ns: 2.0 * costs.o,
            send_ns_per_byte: 2.0 * costs.O,
            gap_ns: costs.g,
            ..Self::default()
        })
    }

    /// # Errors
    /// When a number is out of its range.
    pub fn check(&self) -> Result<(), Refusal> {
        for (name, ns) in [
            ("mpi.send_ns", self.send_ns),
            ("mpi.send_ns_per_byte", self.send_ns_per_byte),
            ("mpi.gap_ns", self.gap_ns),
        ] {
            if !(0.0..=1e6).contains(&ns) {
                return Err(Refusal::new(name, format!("{ns} is out of range"), "0 to 1000000"));
            }
        }
        if !(1..=1 << 20).contains(&self.control_bytes) {
            let why = format!("{} is out of range", self.control_bytes);
            return Err(Refusal::new("mpi.control_bytes", why, "1 to 1048576"));
        }
        Ok(())
    }

    fn delay_ps(&self, bytes: u64, part: ProtocolMessageRole) -> u64 {
        let each_ns = if part == ProtocolMessageRole::Eager { self.send_ns_per_byte } else { 0.0 };
        ((self.send_ns + each_ns * bytes as f64) * 1000.0).round() as u64
    }
}

/// The jobs of a run on their endpoints.
#[derive(Debug)]
pub struct ReplayedJobs {
    /// The merged schedule of all jobs, job after job.
    schedule: Arc<Schedule>,
    /// The endpoint of every process.
    homes: Vec<u32>,
    /// For each endpoint, the index in `processes` of its first process.
    starts: Vec<u32>,
    processes: Vec<u32>,
    /// The endpoint that counts the endpoints whose processes are done.
    counts: u32,
    /// The number of endpoints with processes.
    hosts: u32,
    /// All jobs: workloads, then background jobs.
    pub jobs: Vec<ReplayedJob>,
    /// The class of traffic of each workload.
    classes: Vec<u8>,
    /// The background jobs.
    background: Vec<PlacedBackgroundJob>,
    /// The senders of background jobs, sorted: endpoint, job, and rank in the job.
    senders: Vec<(u32, u16, u32)>,
    mpi: MpiCosts,
    /// Whether calculations take time.
    computes: bool,
}

/// A workload and the endpoints of its processes.
#[derive(Clone, Copy)]
pub struct PlacedJob<'a> {
    /// The name of the job in results.
    pub name: &'a str,
    /// The schedule of its processes.
    pub schedule: &'a Schedule,
    /// The endpoint of each process.
    pub places: &'a [u32],
    /// The class of traffic of its messages.
    pub class: u8,
}

impl ReplayedJobs {
    /// Combines jobs on a network of `endpoints` endpoints.
    ///
    /// # Errors
    /// When there are too many operations or a message is too long, or `watch` says stop.
    pub fn new(
        placed: &[PlacedJob<'_>],
        background: Vec<PlacedBackgroundJob>,
        endpoints: u32,
        (mpi, computes): (MpiCosts, bool),
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let schedules: Vec<&Schedule> = placed.iter().map(|job| job.schedule).collect();
        let schedule = match schedules[..] {
            [one] => one.clone(),
            _ => merge(&schedules, watch)?,
        };
        if schedule.ops().len() >= MOST_OPERATIONS {
            let why = format!("{} operations", schedule.ops().len());
            let help = format!("fewer than {MOST_OPERATIONS}");
            return Err(Refusal::new("workload", why, help).into());
        }
        let is_long = |op: u32| {
            let it = &schedule.ops()[op as usize];
            it.kind == OperationKind::Send && u32::try_from(it.size).is_err()
        };
        if let Some(op) = (0..schedule.ops().len() as u32).find(|op| is_long(*op)) {
            let why = format!("{}: too long", schedule.described(op));
            return Err(Refusal::new("workload", why, "messages of less than 4 GiB").into());
        }
        check_times(&schedule, computes)?;
        let homes: Vec<u32> = placed.iter().flat_map(|job| job.places.iter().copied()).collect();
        let mut starts = vec![0; endpoints as usize + 1];
        for home in &homes {
            starts[*home as usize + 1] += 1;
        }
        for at in 0..endpoints as usize {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut processes) = (starts.clone(), vec![0; homes.len()]);
        for (rank, &home) in (0..).zip(&homes) {
            let place = &mut next[home as usize];
            processes[*place as usize] = rank;
            *place += 1;
        }
        let mut first = 0;
        let mut jobs = Vec::new();
        for job in placed {
            let (name, ranks) = (job.name.to_owned(), job.schedule.ranks());
            jobs.push(ReplayedJob { name, first, ranks, is_background: false });
            first += ranks;
        }
        for one in &background {
            let (name, ranks) = ("background".to_owned(), one.homes.len() as u32);
            jobs.push(ReplayedJob { name, first, ranks, is_background: true });
            first += ranks;
        }
        let hosts = starts.windows(2).filter(|pair| pair[0] < pair[1]).count() as u32;
        let counts = homes.first().copied().unwrap_or(0);
        let mut senders = Vec::new();
        for (job, one) in (0..).zip(&background) {
            senders.extend((0..).zip(&one.homes).map(|(rank, &home)| (home, job, rank)));
        }
        senders.sort_unstable();
        if let Some(pair) = senders.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let why = format!("endpoint {} has two processes of the background", pair[0].0);
            return Err(Refusal::new("background", why, "one on an endpoint").into());
        }
        Ok(Self {
            schedule: Arc::new(schedule),
            homes,
            starts,
            processes,
            counts,
            hosts,
            jobs,
            classes: placed.iter().map(|job| job.class).collect(),
            background,
            senders,
            mpi,
            computes,
        })
    }

    /// The merged schedule of all jobs.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The processes of an endpoint.
    fn of(&self, endpoint: u32) -> &[u32] {
        let [first, last] = [endpoint, endpoint + 1].map(|e| self.starts[e as usize] as usize);
        &self.processes[first..last]
    }

    /// The job of a process.
    fn job_of(&self, rank: u32) -> u16 {
        self.jobs.partition_point(|job| job.first <= rank) as u16 - 1
    }

    /// Whether endpoints must be informed when the workloads are done: background jobs then stop.
    pub(super) fn tells(&self) -> bool {
        !self.background.is_empty()
    }

    /// The number of chunks of all workloads, which the run will carry.
    pub(super) fn chunks(&self, chunk_bytes: u32) -> u64 {
        chunks_of(&self.schedule, &self.mpi, chunk_bytes)
    }
}

/// The number of chunks of all messages of a schedule, including requests to send and answers.
fn chunks_of(schedule: &Schedule, mpi: &MpiCosts, chunk_bytes: u32) -> u64 {
    let sends = schedule.ops().iter().filter(|op| op.kind == OperationKind::Send);
    let of = |bytes: u64| bytes.max(1).div_ceil(chunk_bytes.into());
    let each = |bytes: u64| {
        let control = 2 * of(mpi.control_bytes.into());
        of(bytes) + if bytes >= mpi.eager_bytes { control } else { 0 }
    };
    sends.map(|op| each(op.size)).sum()
}
