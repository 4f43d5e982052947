//! Which jobs run where: schedules made or given, endpoints drawn or given.

use super::super::nic::Births;
use super::super::spec::Spec;
use super::asked::made;
use super::{Background, Collectives, Compute, Placed, Replay, chunks_of};
use crate::message::{self, LogGops};
use base::{Quiet, Refusal, Stop, Watch};
use fabric::Topology;
use std::borrow::Cow;
use std::collections::HashSet;
use traffic::placement::{Policy, check_places};
use traffic::workload::Schedule;

/// What processes do, and where they are, in place of what the parameters say.
#[derive(Clone, Copy, Default)]
pub struct Jobs<'a> {
    /// For each trace of the parameters, in their order, its schedule.
    pub schedules: Option<&'a [&'a Schedule]>,
    /// The endpoint of every process, job after job; those of the background may be left out: they
    /// get any of the endpoints that are left.
    pub places: Option<&'a [u32]>,
}

impl Jobs<'_> {
    /// About how many packets the traces of a spec are, without what is beside them; 0 where that
    /// is not known, as the run itself will say why.
    pub(in super::super) fn packets(self, spec: &Spec) -> u64 {
        let of = |schedule: &Schedule| chunks_of(schedule, &spec.mpi, spec.packet_bytes.max(1));
        if let Some(given) = self.schedules {
            return given.iter().map(|one| of(one)).sum();
        }
        let made = spec.trace.0.iter().filter_map(|word| made(word, spec.collectives, &Quiet).ok());
        made.map(|schedule| of(&schedule)).sum()
    }

    /// All jobs on their endpoints, where a rail has a rate in GiB/s and messages are born as the
    /// dialect has it.
    pub(in super::super) fn replay(
        self,
        spec: &Spec,
        on: &Topology,
        (rate, births): (f64, Births),
        watch: &dyn Watch,
    ) -> Result<Replay, Stop> {
        let schedules: Vec<Cow<'_, Schedule>> = if let Some(given) = self.schedules {
            given.iter().map(|one| Cow::Borrowed(*one)).collect()
        } else {
            let of = |word: &String| made(word, spec.collectives, watch).map(Cow::Owned);
            spec.trace.0.iter().map(of).collect::<Result<_, Stop>>()?
        };
        if schedules.len() != spec.trace.0.len() {
            let why = format!("{} schedules for {}", schedules.len(), spec.trace.0.len());
            return Err(Refusal::new("trace", why, "one for each").into());
        }
        let traced = schedules.iter().map(|one| one.ranks());
        let sizes: Vec<u32> = traced.chain(spec.background.some().map(|one| one.ranks)).collect();
        let places = placed(spec, on, self.places, (&sizes, schedules.len()))?;
        let mut background = Vec::new();
        for (one, homes) in spec.background.some().zip(&places[schedules.len()..]) {
            background.push(Background {
                homes: homes.clone(),
                bytes: one.message_bytes(rate)?,
                interval_ps: one.interval_us * 1e6,
                births: one.births.unwrap_or(births),
                class: one.class as u8 - 1,
            });
        }
        let jobs = spec.trace.0.iter().zip(&schedules).zip(&places);
        let classes = spec.trace_class.iter().map(|&class| class as u8 - 1);
        let jobs: Vec<Placed<'_>> = jobs
            .zip(classes.chain(std::iter::repeat(0)))
            .map(|(((name, schedule), places), class)| Placed { name, schedule, places, class })
            .collect();
        let computes = spec.compute == Compute::On;
        let mut mpi = spec.mpi;
        if spec.collectives == Collectives::Codes && mpi.least_compute_ns.is_none() {
            mpi.least_compute_ns = Some(CODES_COMPUTE_NS);
        }
        if !background.is_empty() {
            check_ends(&schedules, spec, watch)?;
        }
        Replay::new(&jobs, background, on.endpoints().len() as u32, (mpi, computes), watch)
    }
}

/// CODES takes shorter gaps between calls for none.
const CODES_COMPUTE_NS: u64 = 100;

/// Refuses schedules that cannot come to their end: the background would go on for ever.
fn check_ends(schedules: &[Cow<'_, Schedule>], spec: &Spec, watch: &dyn Watch) -> Result<(), Stop> {
    let asks = spec.mpi.eager_bytes.saturating_sub(1).min(u32::MAX.into());
    let free = LogGops { L: 0.0, o: 0.0, g: 0.0, G: 0.0, O: 0.0, S: asks };
    for schedule in schedules {
        let found = message::run(schedule, message::Dialect::Causal, &free, None, watch)?;
        if let Some(left) = &found.left {
            return Err(left.refusal(schedule).into());
        }
    }
    Ok(())
}

/// The endpoints of jobs of these sizes, of which so many send what traces say.
fn placed(
    spec: &Spec,
    on: &Topology,
    given: Option<&[u32]>,
    (sizes, traced): (&[u32], usize),
) -> Result<Vec<Vec<u32>>, Refusal> {
    let ranks = |sizes: &[u32]| sizes.iter().map(|&size| size as usize).sum::<usize>();
    let all = match given {
        None => {
            let ranks = u32::try_from(ranks(sizes)).unwrap_or(u32::MAX);
            Policy::parse(&spec.placement)?.place(on, ranks, 1, spec.seed)?
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
                let drawn = Policy::Random.place(on, endpoints, 1, spec.seed)?;
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
