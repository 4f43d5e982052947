//! The trait of measures and simulators: a value holds the parameters of one run, and the run
//! returns a record.

use crate::renamed::{RenamedParameter, RenamedParameterNote, renew};
use crate::{ComputationError, ProgressWatch, Refusal};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The resources that some work needs: memory and time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResourceNeed {
    /// Bytes of memory beyond what is already in use.
    pub bytes: f64,
    /// Seconds of time.
    pub seconds: f64,
}

impl ResourceNeed {
    /// A need of this memory and this time.
    pub const fn new(bytes: f64, seconds: f64) -> Self {
        Self { bytes, seconds }
    }

    /// The need of two pieces of work one after the other: the larger memory, and both times.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self::new(self.bytes.max(next.bytes), self.seconds + next.seconds)
    }
}

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Whole numbers.
    Whole,
    /// Real numbers.
    Real,
    /// True or false.
    Truth,
    /// Words.
    Text,
}

/// Which values of a column are the better ones: high, low, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BetterDirection {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
    /// The column says nothing about quality.
    Neither,
}

/// One figure of a stage's record, as a column of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RecordColumn {
    /// Name of the column; the name of the stage is put before it where several stages share a
    /// table.
    pub name: &'static str,
    /// The place of the value in the record, as a JSON pointer.
    pub at: &'static str,
    /// The type of its values.
    pub kind: ColumnType,
    /// The unit of the values; empty for counts and words.
    pub unit: &'static str,
    /// The meaning of the values, as a clause.
    pub meaning: &'static str,
    /// Which values are better.
    pub better: BetterDirection,
}

impl RecordColumn {
    /// A column.
    pub const fn new(
        name: &'static str,
        at: &'static str,
        kind: ColumnType,
        unit: &'static str,
        meaning: &'static str,
        better: BetterDirection,
    ) -> Self {
        Self { name, at, kind, unit, meaning, better }
    }
}

/// The record of a stage as JSON; columns are read from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RecordJson(pub Map<String, Value>);

impl RecordJson {
    /// Converts the record of any stage.
    ///
    /// # Panics
    /// When `value` is no JSON object: the record of a stage is a struct with named fields.
    pub fn of(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => Self(fields),
            other => panic!("a record is an object, not {other:?}"),
        }
    }

    /// The values of these columns; null where the record has no such value.
    pub fn cells(&self, columns: &[RecordColumn]) -> Vec<Value> {
        let record = Value::Object(self.0.clone());
        columns.iter().map(|c| record.pointer(c.at).cloned().unwrap_or_default()).collect()
    }
}

/// A measure or a simulator. One file that implements this trait becomes a command, a function, a
/// table of experiments with its columns, and a page of documentation.
///
/// The value holds the parameters of one run, all of which have defaults. Users read the comments
/// on it, on the record and on the fields of both.
pub trait ExperimentStage:
    Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The name users type.
    const NAME: &'static str;
    /// The figures that go into tables.
    const COLUMNS: &'static [RecordColumn];
    /// Parameters that had other names in the version before, see [`renew`].
    const RENAMED: &'static [RenamedParameter] = &[];
    /// Parameters that may name files of the user. Their files go with a point of an experiment to
    /// the machine that runs it.
    const FILES: &'static [&'static str] = &[];

    /// The input of a run: a network, routing tables, or either.
    type Input<'a>;
    /// The result of a run: a struct whose fields say their meaning and unit. A field that only
    /// some records have is an `Option` left out by `skip_serializing_if`.
    type Record: Serialize + JsonSchema;

    /// The parameters that the conformance tests run.
    fn examples() -> Vec<Self>;

    /// Checks the parameters, as far as that is possible without the input.
    ///
    /// # Errors
    /// The refusal names the parameter.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// The memory and time that a run will take on `threads` processors, estimated before it
    /// begins.
    fn need(&self, on: Self::Input<'_>, threads: usize) -> ResourceNeed;

    /// Runs the stage. The same parameters give the same record, whatever the number of threads.
    ///
    /// # Errors
    /// When the parameters do not fit the input, or `watch` stops the run.
    fn run(
        &self,
        on: Self::Input<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self::Record, ComputationError>;
}

/// Renames old parameters in `given` to the names of this version, and returns what was renamed.
///
/// # Errors
/// When a parameter is given by its old name and by its new one.
pub fn renewed<S: ExperimentStage>(
    given: &Map<String, Value>,
) -> Result<(Map<String, Value>, Vec<RenamedParameterNote>), Refusal> {
    let mut new = given.clone();
    let notes = renew(&mut new, S::RENAMED)?;
    Ok((new, notes))
}

/// Reads `given` as the parameters of `S`; old names of parameters are accepted.
///
/// # Errors
/// When a parameter is unknown, of the wrong type or out of range; the refusal lists the parameters
/// that exist.
pub fn parameters<S: ExperimentStage>(given: &Map<String, Value>) -> Result<S, Refusal> {
    let (given, _) = renewed::<S>(given)?;
    let given = Value::Object(given);
    let found: S = crate::fields::typed(&given).map_err(|plain| {
        // a field of a nested table is named by its whole path
        let deep = crate::fields::typed_by_path::<S>(&given).err();
        let is_deep = |field: &str| field.contains(['.', ' ']);
        let (field, why) = deep.filter(|(field, _)| is_deep(field)).unwrap_or(plain);
        // the known parameters are added below
        let (why, near) = match why.split_once("expected one of") {
            Some((unknown, _)) if unknown.starts_with("unknown field") && field.is_empty() => {
                let (why, near) = unknown.split_once(", ").unwrap_or((unknown, ""));
                (why.to_owned(), near.to_owned())
            }
            _ => (why, String::new()),
        };
        let in_a_table = crate::taken::in_a_table::<S>(&why);
        let near = if in_a_table.is_empty() { near } else { in_a_table };
        crate::taken::refused::<S>(S::NAME, field, why, &near)
    })?;
    found.check()?;
    Ok(found)
}
