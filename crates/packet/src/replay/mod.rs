//! Schedules over the network: processes send what their schedules say, eager or after a question,
//! beside jobs that send at random as long as the others run.
//!
//! A message has a number: four times its operation in the schedule of all jobs, and its [`Part`].
//! Source: the rules of `model-net-mpi-replay` of CODES, for the protocol and its costs.

mod asked;
mod background;
mod entry;
mod job;
mod jobs;
mod play;
mod process;

pub(super) use asked::needs_trace;
pub use asked::{Collectives, Compute, Traces};
pub use background::{Background, BackgroundOf, Backgrounds};
pub use entry::{Entry, Played};
pub use job::{Job, JobRow, JobTimes, RankRow, RankTime};
pub use jobs::Jobs;
pub use process::Plays;

use base::{Refusal, Stop, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use traffic::workload::{Kind, Schedule, merge};

/// What a message of an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of a short message.
    Eager,
    /// Whether a long one may come.
    Question,
    /// That it may.
    Answer,
    /// The long one.
    Data,
}

const PARTS: [Part; 4] = [Part::Eager, Part::Question, Part::Answer, Part::Data];

/// In the number of a message: it is of a background job.
const OF_BACKGROUND: u32 = 1 << 31;

/// Most operations of all jobs: their messages have numbers below [`OF_BACKGROUND`].
const MOST_OPERATIONS: usize = 1 << 29;

/// Most nanoseconds that a process may compute.
const MOST_NS: u64 = (des::RANGE_PS - 1) / 1000;

/// Whether calculations of each process are times that can be. What processes do one after another
/// may come to later times all the same: then the run ends there, with a reason.
///
/// # Errors
/// When a process computes for longer than times can say.
fn check_times(schedule: &Schedule, computes: bool) -> Result<(), Refusal> {
    let mut sums = vec![0_u64; schedule.ranks() as usize];
    for (op, it) in (0..).zip(schedule.ops()).filter(|(_, it)| computes && it.kind == Kind::Calc) {
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

fn number(op: u32, part: Part) -> u32 {
    op << 2 | part as u32
}

/// The operation that is done once the last of a message has left, where one is.
pub(super) fn sends(message: u32) -> Option<u32> {
    let (op, part) = operation(message);
    let is_whole = matches!(part, Part::Eager | Part::Data);
    (message & OF_BACKGROUND == 0 && is_whole).then_some(op)
}

fn operation(message: u32) -> (u32, Part) {
    (message >> 2, PARTS[(message & 3) as usize])
}

/// What MPI costs, and how it sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mpi {
    /// Messages of so many bytes or more ask first whether they may come.
    pub eager_bytes: u64,
    /// From a send to the network, ns: of every message, also of questions and answers.
    pub send_ns: f64,
    /// The same for every byte of a message that does not ask, ns.
    pub send_ns_per_byte: f64,
    /// Least time between two messages that an endpoint hands to the network, ns.
    pub gap_ns: f64,
    /// Length of questions and answers.
    pub control_bytes: u32,
    /// Between processes of one endpoint, messages of so many bytes or more take the time of a copy
    /// at the rate of the endpoint's link; shorter ones none.
    pub copy_bytes: u64,
    /// Calculations of no more than this take no time, ns; 0, and 100 where collective operations
    /// are those of CODES.
    pub least_compute_ns: Option<u64>,
}

impl Default for Mpi {
    fn default() -> Self {
        Self {
            eager_bytes: 8192,
            send_ns: 3510.0,
            send_ns_per_byte: 0.55,
            gap_ns: 10.0,
            control_bytes: 64,
            copy_bytes: 16_000,
            least_compute_ns: None,
        }
    }
}

impl Mpi {
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

    fn delay_ps(&self, bytes: u64, part: Part) -> u64 {
        let each_ns = if part == Part::Eager { self.send_ns_per_byte } else { 0.0 };
        ((self.send_ns + each_ns * bytes as f64) * 1000.0).round() as u64
    }
}

/// Jobs on their endpoints.
#[derive(Debug)]
pub struct Replay {
    /// What all processes do: job after job.
    schedule: Arc<Schedule>,
    /// The endpoint of every process.
    homes: Vec<u32>,
    /// The processes of every endpoint, by where theirs begin.
    starts: Vec<u32>,
    processes: Vec<u32>,
    /// The endpoint that hears of all others that they are done.
    counts: u32,
    /// How many have processes.
    hosts: u32,
    /// All jobs: those with schedules, then those in the background.
    pub jobs: Vec<Job>,
    /// The class of traffic of each job with a schedule.
    classes: Vec<u8>,
    /// What is sent in the background.
    background: Vec<Background>,
    /// From which endpoint, by which job and as which of its ranks: by endpoints.
    senders: Vec<(u32, u16, u32)>,
    mpi: Mpi,
    /// Whether calculations take time.
    computes: bool,
}

/// A job and where it is.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// Its name in results.
    pub name: &'a str,
    /// What its processes do.
    pub schedule: &'a Schedule,
    /// Their endpoints.
    pub places: &'a [u32],
    /// Their class of traffic.
    pub class: u8,
}

impl Replay {
    /// Of jobs on a network of so many endpoints.
    ///
    /// # Errors
    /// When there are too many operations or a message is too long, or `watch` says stop.
    pub fn new(
        placed: &[Placed<'_>],
        background: Vec<Background>,
        endpoints: u32,
        (mpi, computes): (Mpi, bool),
        watch: &dyn Watch,
    ) -> Result<Self, Stop> {
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
            it.kind == Kind::Send && u32::try_from(it.size).is_err()
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
            let ranks = job.schedule.ranks();
            jobs.push(Job { name: job.name.to_owned(), first, ranks, is_background: false });
            first += ranks;
        }
        for one in &background {
            let (name, ranks) = ("background".to_owned(), one.homes.len() as u32);
            jobs.push(Job { name, first, ranks, is_background: true });
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

    /// What all processes do.
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

    /// Whether jobs of the background must hear that the others are done.
    pub(super) fn tells(&self) -> bool {
        !self.background.is_empty()
    }

    /// Chunks of all jobs with schedules: what a run is about to carry.
    pub(super) fn chunks(&self, chunk_bytes: u32) -> u64 {
        chunks_of(&self.schedule, &self.mpi, chunk_bytes)
    }
}

/// Chunks of all messages of a schedule, with questions and answers.
fn chunks_of(schedule: &Schedule, mpi: &Mpi, chunk_bytes: u32) -> u64 {
    let sends = schedule.ops().iter().filter(|op| op.kind == Kind::Send);
    let of = |bytes: u64| bytes.max(1).div_ceil(chunk_bytes.into());
    let each = |bytes: u64| {
        let control = 2 * of(mpi.control_bytes.into());
        of(bytes) + if bytes >= mpi.eager_bytes { control } else { 0 }
    };
    sends.map(|op| each(op.size)).sum()
}
