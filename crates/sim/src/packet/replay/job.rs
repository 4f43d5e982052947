//! What a run finds of jobs: sums over their chunks, times of their processes.

use super::super::tally::Arrival;
use super::process::{List, Plays};
use super::{Part, Replay, operation};
use crate::message::Left;
use schemars::JsonSchema;
use serde::Serialize;

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Its first rank among those of all jobs.
    pub first: u32,
    /// How many it has.
    pub ranks: u32,
    /// Whether it sends at random as long as others run.
    pub is_background: bool,
}

/// Sums over the chunks of a job that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, serde::Deserialize)]
pub struct JobSums {
    /// Chunks.
    pub chunks: u64,
    /// Messages, questions and answers among them.
    pub messages: u64,
    /// Bytes.
    pub bytes: u64,
    /// Routers visited.
    pub hops: u64,
    /// Latencies, ps.
    pub latency_ps: u128,
}

impl JobSums {
    pub(in super::super) fn count(&mut self, arrival: &Arrival) {
        self.chunks += 1;
        self.messages += u64::from(arrival.is_last);
        self.bytes += u64::from(arrival.bytes);
        self.hops += u64::from(arrival.hops);
        self.latency_ps += u128::from(arrival.latency_ps);
    }

    pub(in super::super) fn add(&mut self, other: &Self) {
        self.chunks += other.chunks;
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.hops += other.hops;
        self.latency_ps += other.latency_ps;
    }
}

/// Times of a process, ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RankTime {
    /// Its rank among those of all jobs.
    pub rank: u32,
    /// When it was done.
    pub end_ps: u64,
    /// From its first operation to its last, without its calculations.
    pub communication_ps: u64,
    /// Its calculations.
    pub calculated_ps: u64,
}

/// Times of the processes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JobTimes {
    /// The longest time of communication, ps.
    pub max_ps: u64,
    /// All of them, ps.
    pub sum_ps: u128,
}

/// What was found of a job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobRow {
    /// Its name.
    pub name: String,
    /// How many processes it has.
    pub ranks: u32,
    /// The longest time that one of them communicated: from its first operation to its last,
    /// without its calculations, us; null in the background.
    pub max_comm_us: Option<f64>,
    /// The same in the mean of its processes, us.
    pub mean_comm_us: Option<f64>,
    /// Mean latency of its packets, us; null where none arrived.
    pub mean_latency_us: Option<f64>,
    /// Mean routers visited by its packets; null where none arrived.
    pub mean_hops: Option<f64>,
    /// Messages that arrived, questions and answers among them.
    pub messages: u64,
    /// Packets that arrived.
    pub chunks: u64,
    /// Bytes that arrived.
    pub bytes: u64,
}

/// Processes of all jobs as columns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct RankRow {
    /// The job, by its number.
    pub job: Vec<u16>,
    /// The rank in the job.
    pub rank: Vec<u32>,
    /// The endpoint.
    pub endpoint: Vec<u32>,
    /// When it was done, us.
    pub end_us: Vec<f64>,
    /// From its first operation to its last, without its calculations, us.
    pub comm_us: Vec<f64>,
    /// Its calculations, us.
    pub compute_us: Vec<f64>,
}

impl Plays {
    /// Times of the processes of an endpoint.
    pub(in super::super) fn times(&self) -> impl Iterator<Item = RankTime> + '_ {
        self.processes.iter().map(|process| {
            let clock = process.clock;
            let all_ps = clock.last_ps - clock.first_ps.unwrap_or(clock.last_ps);
            RankTime {
                rank: process.rank,
                end_ps: clock.last_ps,
                communication_ps: all_ps.saturating_sub(clock.calculated_ps),
                calculated_ps: clock.calculated_ps,
            }
        })
    }

    /// What the processes of an endpoint could not do, added to `left`.
    pub(in super::super) fn leaves(&self, left: &mut Left) {
        for process in self.processes.iter().filter(|process| process.clock.left > 0) {
            left.receives.extend(process.list(List::Posted).iter().map(|entry| entry.what));
            left.receives.extend(process.list(List::Agreed).iter().map(|entry| entry.what));
            let stuck = (process.first..).zip(&process.counts).filter(|(_, n)| **n > 0);
            left.stuck.extend(stuck.map(|(op, _)| op));
        }
        for entry in self.processes.iter().flat_map(|process| process.list(List::Unexpected)) {
            let (op, part) = operation(entry.what);
            let list = if part == Part::Question { &mut left.sends } else { &mut left.messages };
            list.push(op);
        }
    }
}

impl Replay {
    /// The job of a chunk that arrives at an endpoint, by the message that it is of.
    pub(in super::super) fn job_at(&self, plays: Option<&Plays>, message: u32) -> u16 {
        let Some(plays) = plays else { return 0 };
        if message & super::OF_BACKGROUND != 0 {
            let before = self.jobs.len() - self.background.len();
            return before as u16 + plays.background.map_or(0, |(job, _)| job);
        }
        match &plays.processes[..] {
            [one] => self.job_of(one.rank),
            _ => self.job_of(self.schedule.rank_of(operation(message).0)),
        }
    }

    /// Processes as people read them.
    pub(in super::super) fn rank_rows(&self, times: &[RankTime]) -> RankRow {
        let mut rows = RankRow::default();
        let in_us = |ps: u64| ps as f64 / 1e6;
        for time in times {
            let job = self.job_of(time.rank);
            rows.job.push(job);
            rows.rank.push(time.rank - self.jobs[usize::from(job)].first);
            rows.endpoint.push(self.homes[time.rank as usize]);
            rows.end_us.push(in_us(time.end_ps));
            rows.comm_us.push(in_us(time.communication_ps));
            rows.compute_us.push(in_us(time.calculated_ps));
        }
        rows
    }

    /// Jobs as people read them.
    pub(in super::super) fn job_rows(&self, sums: &[JobSums], times: &[RankTime]) -> Vec<JobRow> {
        let mut of_jobs = vec![JobTimes::default(); self.jobs.len()];
        for time in times {
            let of = &mut of_jobs[usize::from(self.job_of(time.rank))];
            of.max_ps = of.max_ps.max(time.communication_ps);
            of.sum_ps += u128::from(time.communication_ps);
        }
        let in_us = |ps: f64| ps / 1e6;
        let row = |((job, sum), time): ((&Job, &JobSums), &JobTimes)| {
            let timed = !job.is_background && job.ranks > 0;
            let mean = |all: f64| (sum.chunks > 0).then(|| all / sum.chunks as f64);
            JobRow {
                name: job.name.clone(),
                ranks: job.ranks,
                max_comm_us: timed.then(|| in_us(time.max_ps as f64)),
                mean_comm_us: timed.then(|| in_us(time.sum_ps as f64 / f64::from(job.ranks))),
                mean_latency_us: mean(in_us(sum.latency_ps as f64)),
                mean_hops: mean(sum.hops as f64),
                messages: sum.messages,
                chunks: sum.chunks,
                bytes: sum.bytes,
            }
        };
        self.jobs.iter().zip(sums).zip(&of_jobs).map(row).collect()
    }
}
