//! Schedules by name: collective operations and applications with their parameters.

use super::program::{RankProgram, joined_schedule_of, schedule_of};
use super::{JoinedOperation, Schedule, WorkloadRequest, application, collective};
use base::part::Part;
use base::words::did_you_mean;
use base::{Refusal, Stop, Watch};
use serde_json::{Map, Value};

/// A generator of workloads.
#[derive(Clone, Copy)]
pub enum WorkloadGenerator {
    /// A collective operation alone.
    Collective(&'static collective::AlgorithmEntry),
    /// An application.
    Application(&'static application::ApplicationEntry),
}

/// All of them, collective operations first, by name.
pub fn generators() -> Vec<WorkloadGenerator> {
    let collectives = collective::ALGORITHMS.iter().map(WorkloadGenerator::Collective);
    collectives
        .chain(application::APPLICATIONS.iter().map(WorkloadGenerator::Application))
        .collect()
}

/// The one of that name.
///
/// # Errors
/// When there is none.
pub fn generator(name: &str) -> Result<WorkloadGenerator, Refusal> {
    let all = generators();
    all.iter().copied().find(|one| one.part().name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| one.part().name).collect();
        let help = did_you_mean(name, names.iter().copied()) + &names.join(", ");
        Refusal::new("workload", format!("there is no '{name}'"), help)
    })
}

impl WorkloadGenerator {
    /// Its name, what it does, and its parameters.
    pub fn part(&self) -> Part {
        match self {
            Self::Collective(entry) => entry.part,
            Self::Application(entry) => entry.part,
        }
    }

    /// `collective` or `application`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Collective(_) => "collective",
            Self::Application(_) => "application",
        }
    }

    /// What it is with these parameters.
    fn program(
        &self,
        given: &Map<String, Value>,
        watch: &dyn Watch,
    ) -> Result<Box<dyn RankProgram>, Stop> {
        let request = WorkloadRequest::new(self.part(), given, watch)?;
        match self {
            Self::Collective(entry) => collective::alone(entry, &request),
            Self::Application(entry) => (entry.make)(&request),
        }
    }
}

/// The schedule called `name` with its parameters. O(operations).
///
/// # Errors
/// When there is no such name, a parameter cannot be, there would be more operations than 2^28, or
/// `watch` says stop.
pub fn make(name: &str, given: &Map<String, Value>, watch: &dyn Watch) -> Result<Schedule, Stop> {
    let program = generator(name)?.program(given, watch).map_err(|stop| stop.within(name))?;
    schedule_of(&*program, watch).map_err(|stop| stop.within(name))
}

/// The schedule called `name` in which a collective operation of all ranks is one operation, where
/// MPI has it with one size for all, and these operations. O(operations).
///
/// # Errors
/// As [`make`].
pub fn make_joined(
    name: &str,
    given: &Map<String, Value>,
    watch: &dyn Watch,
) -> Result<(Schedule, Vec<JoinedOperation>), Stop> {
    let program = generator(name)?.program(given, watch).map_err(|stop| stop.within(name))?;
    let mut joined = Vec::new();
    let made = joined_schedule_of(&*program, Some(&mut joined), watch)
        .map_err(|stop| stop.within(name))?;
    Ok((made, joined))
}
