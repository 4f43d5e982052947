//! Results of jobs, computed from the counts of their messages and the times of their processes.

use super::super::latencies::{LatencyFigures, accepted};
use super::super::tally::ArrivalSums;
use super::entry::MatchingListKind;
use super::job::{
    JobCommunicationTimes, JobResultRow, ProcessResultColumns, ProcessTimes, ReplayedJob,
};
use super::process::EndpointProcesses;
use super::{OF_BACKGROUND, ProtocolMessageRole, ReplayedJobs, operation};
use message::UnfinishedOperations;
use traffic::workload::OperationKind;

impl EndpointProcesses {
    /// The times of the processes of an endpoint.
    pub(crate) fn times(&self) -> impl Iterator<Item = ProcessTimes> + '_ {
        self.processes.iter().map(|process| {
            let clock = process.clock;
            let all_ps = clock.last_ps - clock.first_ps.unwrap_or(clock.last_ps);
            ProcessTimes {
                rank: process.rank,
                end_ps: clock.last_ps,
                communication_ps: all_ps.saturating_sub(clock.calculated_ps),
                calculated_ps: clock.calculated_ps,
            }
        })
    }

    /// Adds the operations that the processes of an endpoint could not complete to `left`.
    pub(crate) fn leaves(&self, left: &mut UnfinishedOperations) {
        for process in self.processes.iter().filter(|process| process.clock.left > 0) {
            left.receives
                .extend(process.list(MatchingListKind::Posted).iter().map(|entry| entry.what));
            left.receives
                .extend(process.list(MatchingListKind::Agreed).iter().map(|entry| entry.what));
            let stuck = (process.first..).zip(&process.counts).filter(|(_, n)| **n > 0);
            left.stuck.extend(stuck.map(|(op, _)| op));
        }
        for entry in
            self.processes.iter().flat_map(|process| process.list(MatchingListKind::Unexpected))
        {
            let (op, part) = operation(entry.what);
            let list = if part == ProtocolMessageRole::Request {
                &mut left.sends
            } else {
                &mut left.messages
            };
            list.push(op);
        }
    }
}

impl ReplayedJobs {
    /// The job of a message that arrives at an endpoint, and the length of the message in bytes.
    pub(crate) fn message_at(&self, plays: Option<&EndpointProcesses>, message: u32) -> (u16, u32) {
        let Some(plays) = plays else { return (0, 0) };
        if message & OF_BACKGROUND != 0 {
            let before = self.jobs.len() - self.background.len();
            let job = plays.background.map_or(0, |(job, _)| job);
            return (before as u16 + job, self.background[usize::from(job)].bytes);
        }
        let job = match &plays.processes[..] {
            [one] => self.job_of(one.rank),
            _ => self.job_of(self.schedule.rank_of(operation(message).0)),
        };
        (job, self.bytes_of(message))
    }

    /// The number of bytes sent for a message of a process.
    pub(super) fn bytes_of(&self, message: u32) -> u32 {
        let (op, part) = operation(message);
        match part {
            // a message of no bytes still takes a packet
            ProtocolMessageRole::Eager | ProtocolMessageRole::Data => {
                self.schedule.ops()[op as usize].size.max(1) as u32
            }
            ProtocolMessageRole::Request | ProtocolMessageRole::Answer => self.mpi.control_bytes,
        }
    }

    /// The times of processes as users read them.
    pub(crate) fn rank_rows(&self, times: &[ProcessTimes]) -> ProcessResultColumns {
        let mut rows = ProcessResultColumns::default();
        let in_ns = |ps: u64| ps as f64 / 1e3;
        for time in times {
            let job = self.job_of(time.rank);
            rows.job.push(job);
            rows.rank.push(time.rank - self.jobs[usize::from(job)].first);
            rows.endpoint.push(self.homes[time.rank as usize]);
            rows.end_ns.push(in_ns(time.end_ps));
            rows.comm_ns.push(in_ns(time.communication_ps));
            rows.compute_ns.push(in_ns(time.calculated_ps));
            let ops = self.schedule.of_rank(time.rank).map(|op| self.schedule.ops()[op as usize]);
            let sends = ops.filter(|op| op.kind == OperationKind::Send);
            let (messages, bytes) = sends.fold((0, 0), |(n, sum), op| (n + 1, sum + op.size));
            rows.messages.push(messages);
            rows.bytes.push(bytes);
        }
        rows
    }

    /// The results of jobs as users read them; overtaken packets only if those were counted.
    pub(crate) fn job_rows(
        &self,
        sums: &[ArrivalSums],
        times: &[ProcessTimes],
        overtaken: bool,
    ) -> Vec<JobResultRow> {
        let mut of_jobs = vec![JobCommunicationTimes::default(); self.jobs.len()];
        for time in times {
            let of = &mut of_jobs[usize::from(self.job_of(time.rank))];
            of.max_ps = of.max_ps.max(time.communication_ps);
            of.sum_ps += u128::from(time.communication_ps);
        }
        let in_ns = |ps: f64| ps / 1e3;
        let row = |((job, sum), time): ((&ReplayedJob, &ArrivalSums), &JobCommunicationTimes)| {
            let timed = !job.is_background && job.ranks > 0;
            JobResultRow {
                name: job.name.clone(),
                ranks: job.ranks,
                max_comm_ns: timed.then(|| in_ns(time.max_ps as f64)),
                mean_comm_ns: timed.then(|| in_ns(time.sum_ps as f64 / f64::from(job.ranks))),
                latencies: LatencyFigures::of(sum),
                mean_hops: sum.mean_hops().map(|switches| switches - 1.0),
                mean_switches: sum.mean_hops(),
                messages: sum.messages.count,
                packets: sum.chunks.count,
                bytes: sum.bytes,
                nonminimal_packets: sum.detours,
                overtaken_packets: overtaken.then_some(sum.overtaken),
                accepted_gbps: accepted(sum.bytes, f64::from(job.ranks), sum.last_ps),
                end_ns: in_ns(sum.last_ps as f64),
            }
        };
        self.jobs.iter().zip(sums).zip(&of_jobs).map(row).collect()
    }
}
