//! Jobs on endpoints: schedules are generated or given, endpoints are chosen or given.

use super::super::dialect::endpoint_rate;
use super::super::nic::MessageInjectionProcess;
use super::super::spec::PacketSimulationParameters;
use super::options::generate;
use super::{
    BackgroundJobParameters, ComputeTimeMode, PlacedBackgroundJob, PlacedJob, ReplayedJobs,
    chunks_of,
};
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal};
use fabric::Topology;
use message::{self, LogGopsParameters};
use std::borrow::Cow;
use std::collections::HashSet;
use traffic::placement::{check_places, placement};
use traffic::workload::Schedule;

/// Schedules and endpoints that the caller gives, in place of those that the parameters name.
#[derive(Clone, Copy, Default)]
pub struct UserSuppliedJobs<'a> {
    /// The schedule of each workload of the parameters, in their order.
    pub schedules: Option<&'a [&'a Schedule]>,
    /// The endpoint of every process, job after job. Processes of background jobs may be left out;
    /// they get random endpoints among the unused ones.
    pub places: Option<&'a [u32]>,
}

impl<'a> UserSuppliedJobs<'a> {
    /// The approximate number of packets that the jobs of a run send. Background jobs are counted
    /// for the shortest time that the workloads can take. 0 if the number is unknown; then the run
    /// itself reports why.
    pub(crate) fn packets(self, spec: &PacketSimulationParameters, on: &Topology) -> f64 {
        let Ok(schedules) = self.schedules(spec, on, &QuietWatch) else { return 0.0 };
        let Ok(mpi) = spec.mpi_costs() else { return 0.0 };
        let of = |schedule: &Cow<'_, Schedule>| {
            chunks_of(schedule, &mpi, spec.packet_bytes.max(1)) as f64
        };
        let traced: f64 = schedules.iter().map(of).sum();
        let rate = endpoint_rate(spec, on);
        let each_us = |one: &BackgroundJobParameters| {
            let chunks = one.message_bytes(rate).unwrap_or(0).div_ceil(spec.packet_bytes.max(1));
            f64::from(one.ranks) * f64::from(chunks) / (one.interval_ns / 1e3)
        };
        let beside: f64 = spec.background.some().map(each_us).sum();
        if beside == 0.0 {
            return traced;
        }
        let rails = on.terminals().len() as f64 / on.endpoints().len().max(1) as f64;
        let byte_ns = 1e9 / (rate * rails * f64::from(1 << 30));
        let least_us = schedules.iter().map(|one| least_us(one, spec, byte_ns));
        traced + beside * least_us.fold(0.0, f64::max)
    }

    /// The schedules of the workloads. A workload alone has a rank for every endpoint where it says
    /// no number of ranks; of several jobs each says its own.
    fn schedules(
        self,
        spec: &PacketSimulationParameters,
        on: &Topology,
        watch: &dyn ProgressWatch,
    ) -> Result<Vec<Cow<'a, Schedule>>, ComputationError> {
        if let Some(given) = self.schedules {
            return Ok(given.iter().map(|one| Cow::Borrowed(*one)).collect());
        }
        let is_alone = spec.workload.0.len() == 1 && spec.background.some().next().is_none();
        let ranks = is_alone.then(|| on.endpoints().len() as u32);
        let of = |word: &String| generate(word, spec.collectives, ranks, watch).map(Cow::Owned);
        spec.workload.0.iter().map(of).collect()
    }

    /// Places all jobs on their endpoints. A rail has `rate` GiB/s, and background jobs use the
    /// dialect's injection process unless they name one.
    pub(crate) fn replay(
        self,
        spec: &PacketSimulationParameters,
        on: &Topology,
        (rate, injection): (f64, MessageInjectionProcess),
        watch: &dyn ProgressWatch,
    ) -> Result<ReplayedJobs, ComputationError> {
        let schedules = self.schedules(spec, on, watch)?;
        if schedules.len() != spec.workload.0.len() {
            let why = format!("{} schedules for {}", schedules.len(), spec.workload.0.len());
            return Err(Refusal::new("workload", why, "one for each").into());
        }
        let traced = schedules.iter().map(|one| one.ranks());
        let sizes: Vec<u32> = traced.chain(spec.background.some().map(|one| one.ranks)).collect();
        let places = placed(spec, on, self.places, (&sizes, schedules.len()))?;
        let mut background = Vec::new();
        for (one, homes) in spec.background.some().zip(&places[schedules.len()..]) {
            background.push(PlacedBackgroundJob {
                homes: homes.clone(),
                bytes: one.message_bytes(rate)?,
                interval_ps: one.interval_ns * 1e3,
                injection: one.injection.unwrap_or(injection),
                class: one.traffic_class as u8 - 1,
            });
        }
        let jobs = spec.workload.0.iter().zip(&schedules).zip(&places);
        let classes = spec.workload_class.iter().map(|&class| class as u8 - 1);
        let jobs: Vec<PlacedJob<'_>> = jobs
            .zip(classes.chain(std::iter::repeat(0)))
            .map(|(((name, schedule), places), class)| PlacedJob { name, schedule, places, class })
            .collect();
        let computes = spec.compute == ComputeTimeMode::On;
        let mpi = spec.mpi_costs()?;
        if !background.is_empty() {
            check_ends(&schedules, spec, watch)?;
        }
        ReplayedJobs::new(&jobs, background, on.endpoints().len() as u32, (mpi, computes), watch)
    }
}

/// Lower bound of the time that a schedule takes, in us, if interfaces need `byte_ns` for a byte
/// and the network takes no time; 0 if the schedule does not end.
fn least_us(schedule: &Schedule, spec: &PacketSimulationParameters, byte_ns: f64) -> f64 {
    let Ok(mpi) = spec.mpi_costs() else { return 0.0 };
    let asks = mpi.eager_bytes.saturating_sub(1).min(u32::MAX.into());
    // `message` counts half of a message's time at each end, so twice `O` is the time of a byte
    let costs = LogGopsParameters { L: 0.0, o: 0.0, g: 0.0, G: byte_ns, O: byte_ns / 2.0, S: asks };
    let played = match spec.compute {
        ComputeTimeMode::On => Cow::Borrowed(schedule),
        ComputeTimeMode::Off => Cow::Owned(schedule.without_calculations()),
    };
    let dialect = message::ScheduleDialect::Causal;
    let found = message::run(&played, dialect, &costs, None, &QuietWatch);
    let last = found.ok().and_then(|found| found.finish.into_iter().max());
    last.map_or(0.0, |end| end as f64 * dialect.unit_ns() / 1e3)
}

/// Refuses schedules that never end, or that have no rank: background jobs run until all ranks are
/// done, so the run would not end.
fn check_ends(
    schedules: &[Cow<'_, Schedule>],
    spec: &PacketSimulationParameters,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let asks = spec.mpi_costs()?.eager_bytes.saturating_sub(1).min(u32::MAX.into());
    let free = LogGopsParameters { L: 0.0, o: 0.0, g: 0.0, G: 0.0, O: 0.0, S: asks };
    for (schedule, name) in schedules.iter().zip(&spec.workload.0) {
        if schedule.ranks() == 0 {
            let why = format!("{name} has no ranks, and a background goes on until all are done");
            return Err(Refusal::new("workload", why, "a workload of 1 rank or more").into());
        }
        let found = message::run(schedule, message::ScheduleDialect::Causal, &free, None, watch)?;
        if let Some(left) = &found.left {
            return Err(left.refusal(schedule).into());
        }
    }
    Ok(())
}

/// The endpoints of jobs of these sizes; the first `traced` jobs are workloads, the others
/// background jobs.
fn placed(
    spec: &PacketSimulationParameters,
    on: &Topology,
    given: Option<&[u32]>,
    (sizes, traced): (&[u32], usize),
) -> Result<Vec<Vec<u32>>, Refusal> {
    let ranks = |sizes: &[u32]| sizes.iter().map(|&size| size as usize).sum::<usize>();
    let all = match given {
        None => {
            let ranks = u32::try_from(ranks(sizes)).unwrap_or(u32::MAX);
            placement(&spec.placement)?.place(on, ranks, 1, spec.seed)?
        }
        Some(given) => {
            check_places(on, given)?;
            let mut all = given.to_vec();
            let own = ranks(&sizes[..traced]);
            if all.len() < own {
                let why = format!("{} endpoints for {own} ranks", all.len());
                return Err(Refusal::new("placement", why, "an endpoint for every rank"));
            }
            if all.len() < ranks(sizes) {
                all.truncate(own);
                let endpoints = on.endpoints().len() as u32;
                let drawn = placement("random")?.place(on, endpoints, 1, spec.seed)?;
                let taken: HashSet<u32> = all.iter().copied().collect();
                all.extend(drawn.into_iter().filter(|e| !taken.contains(e)));
            }
            all
        }
    };
    if all.len() < ranks(sizes) {
        let why = format!("{} ranks, and endpoints for {}", ranks(sizes), all.len());
        return Err(Refusal::new("background", why, "fewer ranks"));
    }
    let mut rest = &all[..];
    let mut split = |&size: &u32| {
        let (first, others) = rest.split_at(size as usize);
        rest = others;
        first.to_vec()
    };
    Ok(sizes.iter().map(&mut split).collect())
}
