//! The measures and the simulators: a row for each, whatever crate it stands in, and the inputs
//! they are run on.
//!
//! A new measure is one file that implements [`ExperimentStage`]; `cargo xtask gen` adds its row. A
//! simulator is a stage too, called `sim.LEVEL`; its function and its command are those of all
//! simulators.

use crate::over_seeds::over_seeds;
use base::part::PartDescription;
use base::renamed::{RenamedParameter, RenamedParameterNote};
use base::stage::{parameters, renewed};
use base::{
    ComputationError, ExperimentStage, ProgressWatch, RecordColumn, RecordJson, Refusal,
    ResourceNeed,
};
use fabric::Topology;
use fabric::size::NetworkSize;
use fabric::tables::Routing;
use flit::case::UserSuppliedTraffic;
use flit::stage::FlitSimulationInputs;
use measure::load::sent::RoutingWithTraffic;
use message::stage::MessageSimulationInputs;
use packet::replay::UserSuppliedJobs;
use paths::over_seeds::check_seeds;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use traffic::sending::OfferedTraffic;
use traffic::times::TimedPacketLists;
use traffic::workload::Schedule;

// gen:begin
/// Every `ExperimentStage`, by crate and file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static STAGES: &[StageEntry] = &[
    StageEntry::of::<engines::lanes::needed::LanesNeededParams>(),
    StageEntry::of::<engines::repair::record::RepairParams>(),
    StageEntry::of::<measure::load::diversity::DiversityParams>(),
    StageEntry::of::<measure::load::ebb::EbbParams>(),
    StageEntry::of::<measure::load::edge_load::EdgeLoadParams>(),
    StageEntry::of::<measure::load::simulated::CongestionParams>(),
    StageEntry::of::<measure::structure::resilience::ResilienceParameters>(),
    StageEntry::of::<measure::structure::surveyed::StructureParams>(),
    StageEntry::of::<measure::structure::traffic_limits::TrafficLimitParameters>(),
    StageEntry::of::<plan::priced::CostParams>(),
    StageEntry::of::<verify::proof::ProofParams>(),
];
// gen:end

/// The simulators.
pub static SIMULATORS: &[StageEntry] = &[
    StageEntry::of::<flit::spec::FlitSimulationParameters>(),
    StageEntry::of::<message::stage::MessageSimulationParameters>(),
    StageEntry::of::<packet::spec::PacketSimulationParameters>(),
];

/// The kinds of inputs that stages are run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageInputKind {
    /// A network.
    Topology,
    /// Forwarding tables over a network.
    Routing,
    /// Forwarding tables, or a network where there are none.
    Either,
}

/// Everything that a stage may be run on.
#[derive(Clone, Copy)]
pub struct StageInputs<'a> {
    /// A network.
    pub topology: &'a Arc<Topology>,
    /// The network's forwarding tables, if there are any.
    pub routing: Option<&'a Routing>,
    /// The traffic that a parameter names, read for this network.
    pub traffic: Option<&'a OfferedTraffic>,
    /// The schedules of processes that a parameter names as files.
    pub schedules: Option<&'a [&'a Schedule]>,
    /// The timed packets that a parameter names as a file.
    pub times: Option<&'a Arc<TimedPacketLists>>,
    /// The endpoint of every process, in place of a placement that a parameter names.
    pub places: Option<&'a [u32]>,
}

/// The inputs of a kind of stages, as a type.
pub trait StageInput<'a>: Sized {
    /// The kind of these inputs.
    const INPUT: StageInputKind;

    /// Takes these inputs out of all inputs.
    ///
    /// # Errors
    /// When one is missing.
    fn take(from: StageInputs<'a>) -> Result<Self, Refusal>;
}

impl<'a> StageInput<'a> for &'a Topology {
    const INPUT: StageInputKind = StageInputKind::Topology;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        Ok(from.topology)
    }
}

impl<'a> StageInput<'a> for &'a Routing {
    const INPUT: StageInputKind = StageInputKind::Routing;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        from.routing.ok_or_else(|| Refusal::new("", "a network without tables", "tables: route it"))
    }
}

impl<'a> StageInput<'a> for RoutingWithTraffic<'a> {
    const INPUT: StageInputKind = StageInputKind::Routing;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        Ok(Self { routing: StageInput::take(from)?, traffic: from.traffic })
    }
}

impl<'a> StageInput<'a> for packet::stage::PacketSimulationInputs<'a> {
    const INPUT: StageInputKind = StageInputKind::Either;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        let jobs = UserSuppliedJobs { schedules: from.schedules, places: from.places };
        Ok(Self { topology: from.topology, routing: from.routing, traffic: from.traffic, jobs })
    }
}

impl<'a> StageInput<'a> for FlitSimulationInputs<'a> {
    const INPUT: StageInputKind = StageInputKind::Either;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        Ok(Self {
            topology: from.topology,
            routing: from.routing,
            traffic: from
                .times
                .map(UserSuppliedTraffic::Times)
                .or(from.traffic.map(UserSuppliedTraffic::Sending)),
        })
    }
}

impl<'a> StageInput<'a> for MessageSimulationInputs<'a> {
    const INPUT: StageInputKind = StageInputKind::Either;

    fn take(from: StageInputs<'a>) -> Result<Self, Refusal> {
        let StageInputs { topology, routing, schedules, places, .. } = from;
        let schedule = schedules.and_then(|all| all.first().copied());
        Ok(Self { topology: Some(topology), routing, schedule, places })
    }
}

type Parameters<'a> = &'a Map<String, Value>;
/// Parameters by their names of this version, and notes on those that had old names.
type RenamedParameters = (Map<String, Value>, Vec<RenamedParameterNote>);

/// A row of the table of stages.
pub struct StageEntry {
    /// Its name, its documentation and parameters, and the parameters that may name files.
    pub part: PartDescription,
    /// The kind of inputs of the stage.
    pub input: StageInputKind,
    /// The figures that become columns of tables.
    pub columns: &'static [RecordColumn],
    /// Parameters whose names have changed since the last version.
    pub renames: &'static [RenamedParameter],
    record: fn() -> Value,
    examples: fn() -> Vec<Map<String, Value>>,
    renewed: fn(Parameters<'_>) -> Result<RenamedParameters, Refusal>,
    complete: fn(Parameters<'_>) -> Result<Map<String, Value>, Refusal>,
    need: fn(Parameters<'_>, StageInputs<'_>, usize) -> Result<ResourceNeed, Refusal>,
    run: fn(
        Parameters<'_>,
        StageInputs<'_>,
        &dyn ProgressWatch,
    ) -> Result<RecordJson, ComputationError>,
}

impl StageEntry {
    /// The row of stage `S`.
    pub const fn of<S>() -> Self
    where
        S: ExperimentStage,
        for<'a> S::Input<'a>: StageInput<'a>,
    {
        Self {
            part: PartDescription::of::<S>(S::NAME).reads(S::FILES),
            input: <S::Input<'static> as StageInput<'static>>::INPUT,
            columns: S::COLUMNS,
            renames: S::RENAMED,
            record: || written::<S::Record>(),
            examples: || S::examples().iter().map(object).collect(),
            renewed: |given| renewed::<S>(given),
            complete: |given| parameters::<S>(given).map(|all| object(&all)),
            need: |given, on, threads| {
                Ok(parameters::<S>(given)?.need(StageInput::take(on)?, threads))
            },
            run: |given, on, watch| {
                Ok(RecordJson::of(parameters::<S>(given)?.run(StageInput::take(on)?, watch)?))
            },
        }
    }

    /// The JSON schema of the stage's record, with the documentation of every field; `required`
    /// lists the fields that every record has.
    pub fn record_schema(&self) -> Value {
        (self.record)()
    }

    /// Parameters with which the conformance tests run the stage.
    pub fn examples(&self) -> Vec<Map<String, Value>> {
        (self.examples)()
    }

    /// The parameters given, by their names of this version, and notes on those that had old names.
    ///
    /// # Errors
    /// When a parameter is given by both its old and its new name.
    pub fn renewed(&self, given: &Map<String, Value>) -> Result<RenamedParameters, Refusal> {
        (self.renewed)(given).map_err(|r| r.within(self.part.name))
    }

    /// All parameters: those given, and the defaults of the others.
    ///
    /// # Errors
    /// When a parameter is unknown or of the wrong type.
    pub fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        (self.complete)(given).map_err(|r| r.within(self.part.name))
    }

    /// The memory and time that a run needs.
    ///
    /// # Errors
    /// The errors of [`StageEntry::run`] that can be found before the run.
    pub fn need(
        &self,
        given: &Map<String, Value>,
        on: StageInputs<'_>,
        threads: usize,
    ) -> Result<ResourceNeed, Refusal> {
        (self.need)(given, on, threads).map_err(|r| r.within(self.part.name))
    }

    /// Runs the stage.
    ///
    /// # Errors
    /// When a parameter is unknown, of the wrong type or out of range, when tables are needed and
    /// there are none, or when `watch` says stop.
    pub fn run(
        &self,
        given: &Map<String, Value>,
        on: StageInputs<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<RecordJson, ComputationError> {
        let found = match seeds(given).filter(|_| SEED_BY_SEED.contains(&self.part.name)) {
            Some(seeds) => over_seeds(seeds, 1, self.columns, |seed, _| {
                (self.run)(&with_seed(given, seed), on, watch)
            }),
            None => (self.run)(given, on, watch),
        };
        found.map_err(|stop| stop.within(self.part.name))
    }
}

/// The simulators that run a single seed at a time.
const SEED_BY_SEED: [&str; 2] = [
    message::stage::MessageSimulationParameters::NAME,
    packet::spec::PacketSimulationParameters::NAME,
];

/// The seed of the first of several runs, and their number; `None` where there is one run, or where
/// the number is out of range, which the run then refuses.
fn seeds(given: &Map<String, Value>) -> Option<(u64, u32)> {
    let seeds = given.get("seeds")?.as_u64().and_then(|n| u32::try_from(n).ok())?;
    let seed = given.get("seed").map_or(Some(0), Value::as_u64)?;
    (seeds > 1 && check_seeds(seeds).is_ok()).then_some((seed, seeds))
}

/// The parameters `given` with the single seed `seed`.
fn with_seed(given: &Map<String, Value>, seed: u64) -> Map<String, Value> {
    let mut one = given.clone();
    one.insert("seed".to_owned(), seed.into());
    one.insert("seeds".to_owned(), 1.into());
    one
}

/// The schema of records as they are written, which may differ from that of records as they are
/// read.
fn written<R: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<R>()
        .to_value()
}

fn object<S: Serialize>(parameters: &S) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(all)) => given(all),
        _ => Map::new(),
    }
}

/// Keeps the values that are not null, also inside tables and lists.
fn given(all: Map<String, Value>) -> Map<String, Value> {
    let some = all.into_iter().filter(|(_, value)| !value.is_null());
    some.map(|(key, value)| (key, given_in(value))).collect()
}

fn given_in(value: Value) -> Value {
    match value {
        Value::Object(inner) => Value::Object(given(inner)),
        Value::Array(items) => items.into_iter().map(given_in).collect(),
        other => other,
    }
}

/// The simulator of a level, such as `flit`.
///
/// # Errors
/// When there is no such level; the refusal lists those that exist.
pub fn simulator(name: &str) -> Result<&'static StageEntry, Refusal> {
    SIMULATORS.iter().find(|e| e.part.name.strip_prefix("sim.") == Some(name)).ok_or_else(|| {
        let levels: Vec<&str> = SIMULATORS.iter().map(|e| e.part.name).collect();
        Refusal::new(name, "there is no such simulator", levels.join(", "))
    })
}

/// The memory and time that a simulator needs with these parameters on a network of this size.
///
/// # Errors
/// When there is no such simulator, or a parameter is invalid.
pub fn simulated(
    name: &str,
    given: &Map<String, Value>,
    size: &NetworkSize,
) -> Result<ResourceNeed, Refusal> {
    let found = simulator(name)?.part.name;
    if found == message::stage::MessageSimulationParameters::NAME {
        let switches = size.switches;
        return Ok(ResourceNeed::new(switches * switches, 0.0));
    }
    if found == packet::spec::PacketSimulationParameters::NAME {
        return Ok(parameters::<packet::spec::PacketSimulationParameters>(given)?.need_of(size));
    }
    Ok(parameters::<flit::spec::FlitSimulationParameters>(given)?.need_of(size))
}

/// The row of the measure or simulator called `name`.
///
/// # Errors
/// When there is none; the refusal lists the measures that exist.
pub fn stage(name: &str) -> Result<&'static StageEntry, Refusal> {
    STAGES.iter().chain(SIMULATORS).find(|e| e.part.name == name).ok_or_else(|| {
        let names: Vec<&str> = STAGES.iter().map(|e| e.part.name).collect();
        let why = format!("there is no measure '{name}'");
        Refusal::new("measure", why, format!("measures: {}", names.join(", ")))
    })
}
