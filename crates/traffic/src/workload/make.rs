//! Schedules by name: collective operations and applications, with their parameters.

use super::program::{RankProgram, fits, joined_schedule_of, schedule_of};
use super::script::OPERATIONS;
use super::{Schedule, UnexpandedCollective, WorkloadRequest, application, collective};
use base::part::PartDescription;
use base::words::did_you_mean;
use base::{ComputationError, Interrupted, ProgressWatch, Refusal};
use serde_json::{Map, Value};

/// A generator of workloads.
#[derive(Clone, Copy)]
pub enum WorkloadGenerator {
    /// A collective operation alone.
    Collective(&'static collective::CollectiveAlgorithmEntry),
    /// An application.
    Application(&'static application::ApplicationEntry),
}

/// All generators, collective operations first, each kind sorted by name.
pub fn generators() -> Vec<WorkloadGenerator> {
    let collectives = collective::ALGORITHMS.iter().map(WorkloadGenerator::Collective);
    collectives
        .chain(application::APPLICATIONS.iter().map(WorkloadGenerator::Application))
        .collect()
}

/// The generator of this name.
///
/// # Errors
/// When there is no such generator.
pub fn generator(name: &str) -> Result<WorkloadGenerator, Refusal> {
    let all = generators();
    all.iter().copied().find(|one| one.part().name == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| one.part().name).collect();
        let help = did_you_mean(name, names.iter().copied()) + &names.join(", ");
        Refusal::new("workload", format!("there is no '{name}'"), help)
    })
}

impl WorkloadGenerator {
    /// Its name, description and parameters.
    pub fn part(&self) -> PartDescription {
        match self {
            Self::Collective(entry) => entry.part,
            Self::Application(entry) => entry.part,
        }
    }

    /// The kind of generator: `collective` or `application`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Collective(_) => "collective",
            Self::Application(_) => "application",
        }
    }

    /// The program for these parameters.
    fn program(
        &self,
        given: &Map<String, Value>,
        watch: &dyn ProgressWatch,
    ) -> Result<Box<dyn RankProgram>, ComputationError> {
        let request = WorkloadRequest::new(self.part(), given, watch)?;
        match self {
            Self::Collective(entry) => collective::alone(entry, &request),
            Self::Application(entry) => (entry.make)(&request),
        }
    }
}

/// The schedule of the generator `name` with its parameters. O(operations).
///
/// # Errors
/// When there is no such generator, a parameter is invalid, there would be more than 2^28
/// operations, or `watch` says stop.
pub fn make(
    name: &str,
    given: &Map<String, Value>,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let program = generator(name)?.program(given, watch).map_err(|stop| stop.within(name))?;
    match schedule_of(&*program, watch) {
        Err(ComputationError::Refused(refused)) if refused.param == OPERATIONS => {
            let mut refused = refused.within(name);
            refused.help += &smaller(name, given, watch)?;
            Err(refused.into())
        }
        made => made.map_err(|stop| stop.within(name)),
    }
}

/// The other algorithms of the same collective operation that have few enough operations with these
/// parameters, for the end of a refusal; empty where there is none.
fn smaller(
    name: &str,
    given: &Map<String, Value>,
    watch: &dyn ProgressWatch,
) -> Result<String, Interrupted> {
    let WorkloadGenerator::Collective(asked) = generator(name).expect("it was made") else {
        return Ok(String::new());
    };
    let mut names = Vec::new();
    for entry in collective::ALGORITHMS.iter().filter(|e| e.operation == asked.operation) {
        let found = WorkloadGenerator::Collective(entry)
            .program(given, watch)
            .and_then(|program| fits(&*program, watch));
        match found {
            Ok(true) => names.push(entry.part.name),
            Err(ComputationError::Interrupted(stop)) => return Err(stop),
            Ok(false) | Err(ComputationError::Refused(_)) => {} // it takes other parameters
        }
    }
    let or = if names.is_empty() { "" } else { "; or another algorithm: " };
    Ok(format!("{or}{}", names.join(", ")))
}

/// The schedule of the generator `name`, and the collective operations of all ranks that are one
/// operation in it: those that MPI has with one size for all ranks. O(operations).
///
/// # Errors
/// As [`make`].
pub fn make_joined(
    name: &str,
    given: &Map<String, Value>,
    watch: &dyn ProgressWatch,
) -> Result<(Schedule, Vec<UnexpandedCollective>), ComputationError> {
    let program = generator(name)?.program(given, watch).map_err(|stop| stop.within(name))?;
    let mut joined = Vec::new();
    let made = joined_schedule_of(&*program, Some(&mut joined), watch)
        .map_err(|stop| stop.within(name))?;
    Ok((made, joined))
}
