//! The measures: a row for each, whatever crate it stands in, and the inputs they are run on.
//!
//! A new measure is one file that implements [`Stage`]; `cargo xtask gen` adds its row.

use base::stage::parameters;
use base::{Frame, Metric, Need, Refusal, Stage, Stop, Watch};
use fabric::Topology;
use fabric::tables::Routing;
use measure::load::sent::Loaded;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value};
use traffic::sending::Sending;

// gen:begin
/// Every `Stage`, by crate and file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static STAGES: &[Entry] = &[
    Entry::of::<engines::lanes::needed::Params>(),
    Entry::of::<engines::repair::told::Params>(),
    Entry::of::<measure::load::diversity::Params>(),
    Entry::of::<measure::load::ebb::Params>(),
    Entry::of::<measure::load::edge_load::Params>(),
    Entry::of::<measure::load::simulated::Params>(),
    Entry::of::<measure::structure::resilience::ResilienceRules>(),
    Entry::of::<measure::structure::surveyed::Params>(),
    Entry::of::<plan::priced::Params>(),
    Entry::of::<verify::proof::Params>(),
];
// gen:end

/// What measures are run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A network.
    Topology,
    /// Its tables.
    Routing,
}

/// What there is to run a measure on.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// A network.
    pub topology: &'a Topology,
    /// Its tables, if there are any.
    pub routing: Option<&'a Routing>,
    /// The traffic that a parameter names, read for this network.
    pub traffic: Option<&'a Sending>,
}

/// A kind of input, as a type.
pub trait Take<'a>: Sized {
    /// The kind.
    const INPUT: Input;

    /// It, out of all that there is.
    ///
    /// # Errors
    /// When there is none.
    fn take(from: Inputs<'a>) -> Result<Self, Refusal>;
}

impl<'a> Take<'a> for &'a Topology {
    const INPUT: Input = Input::Topology;

    fn take(from: Inputs<'a>) -> Result<Self, Refusal> {
        Ok(from.topology)
    }
}

impl<'a> Take<'a> for &'a Routing {
    const INPUT: Input = Input::Routing;

    fn take(from: Inputs<'a>) -> Result<Self, Refusal> {
        from.routing.ok_or_else(|| Refusal::new("", "a network without tables", "tables: route it"))
    }
}

impl<'a> Take<'a> for Loaded<'a> {
    const INPUT: Input = Input::Routing;

    fn take(from: Inputs<'a>) -> Result<Self, Refusal> {
        Ok(Self { routing: Take::take(from)?, traffic: from.traffic })
    }
}

type Parameters<'a> = &'a Map<String, Value>;

/// One row of the table of measures.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What it is run on.
    pub input: Input,
    /// The figures that go into tables.
    pub columns: &'static [Metric],
    schema: fn() -> Value,
    record: fn() -> Value,
    examples: fn() -> Vec<Map<String, Value>>,
    complete: fn(Parameters<'_>) -> Result<Map<String, Value>, Refusal>,
    need: fn(Parameters<'_>, Inputs<'_>, usize) -> Result<Need, Refusal>,
    run: fn(Parameters<'_>, Inputs<'_>, &dyn Watch) -> Result<Frame, Stop>,
}

impl Entry {
    /// The row of measure `S`.
    const fn of<S>() -> Self
    where
        S: Stage,
        for<'a> S::On<'a>: Take<'a>,
    {
        Self {
            name: S::NAME,
            input: <S::On<'static> as Take<'static>>::INPUT,
            columns: S::COLUMNS,
            schema: || schemars::schema_for!(S).to_value(),
            record: || written::<S::Record>(),
            examples: || S::examples().iter().map(object).collect(),
            complete: |given| parameters::<S>(given).map(|all| object(&all)),
            need: |given, on, threads| Ok(parameters::<S>(given)?.need(Take::take(on)?, threads)),
            run: |given, on, watch| {
                Ok(Frame::of(parameters::<S>(given)?.run(Take::take(on)?, watch)?))
            },
        }
    }

    /// The JSON schema of its parameters, with their documentation.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// The JSON schema of its record, with the documentation of every field; `required` are the
    /// fields that every record has.
    pub fn record_schema(&self) -> Value {
        (self.record)()
    }

    /// Parameters that the conformance tests run.
    pub fn examples(&self) -> Vec<Map<String, Value>> {
        (self.examples)()
    }

    /// All parameters: those given, and the defaults of the others.
    ///
    /// # Errors
    /// When one is unknown or of the wrong type.
    pub fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        (self.complete)(given).map_err(|r| r.within(self.name))
    }

    /// What a run will take.
    ///
    /// # Errors
    /// As [`Entry::run`], but for what only the run finds.
    pub fn need(
        &self,
        given: &Map<String, Value>,
        on: Inputs<'_>,
        threads: usize,
    ) -> Result<Need, Refusal> {
        (self.need)(given, on, threads).map_err(|r| r.within(self.name))
    }

    /// Runs it.
    ///
    /// # Errors
    /// When a parameter is unknown, of the wrong type or out of range, when it needs tables and
    /// there are none, or when `watch` says stop.
    pub fn run(
        &self,
        given: &Map<String, Value>,
        on: Inputs<'_>,
        watch: &dyn Watch,
    ) -> Result<Frame, Stop> {
        (self.run)(given, on, watch).map_err(|e| match e {
            Stop::Refused(r) => Stop::Refused(r.within(self.name)),
            stopped @ Stop::Interrupted(_) => stopped,
        })
    }
}

/// The schema of what is written, which is not always that of what is read.
fn written<R: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<R>()
        .to_value()
}

fn object<S: Serialize>(parameters: &S) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(all)) => all.into_iter().filter(|(_, v)| !v.is_null()).collect(),
        _ => Map::new(),
    }
}

/// The row of the measure called `name`.
///
/// # Errors
/// When there is none; the refusal lists those that exist.
pub fn stage(name: &str) -> Result<&'static Entry, Refusal> {
    STAGES.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = STAGES.iter().map(|e| e.name).collect();
        let why = format!("there is no measure '{name}'");
        Refusal::new("measure", why, format!("measures: {}", names.join(", ")))
    })
}
