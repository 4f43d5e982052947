//! A measure is a stage: its value holds the parameters of one run, and it gives a record.

use crate::renamed::{Note, Renamed, renew};
use crate::{Refusal, Stop, Watch};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Memory and time that some work takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Bytes of memory beyond what is in use before.
    pub bytes: f64,
    /// Seconds.
    pub seconds: f64,
}

impl Need {
    /// This much of each.
    pub const fn new(bytes: f64, seconds: f64) -> Self {
        Self { bytes, seconds }
    }

    /// One after the other: the larger memory, both times.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self::new(self.bytes.max(next.bytes), self.seconds + next.seconds)
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Real numbers.
    Real,
    /// True or false.
    Truth,
    /// Words.
    Text,
}

/// Which values of a column are the better ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Large ones.
    Higher,
    /// Small ones.
    Lower,
    /// It says nothing of quality.
    Neither,
}

/// One figure of a stage's record, as a column of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Name of the column; the stage's name goes before it where several stages share a table.
    pub name: &'static str,
    /// Where it stands in the record, a JSON pointer.
    pub at: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its unit; empty for numbers of things and words.
    pub unit: &'static str,
    /// What it says, a clause.
    pub meaning: &'static str,
    /// Which values are better.
    pub better: Better,
}

impl Metric {
    /// A column.
    pub const fn new(
        name: &'static str,
        at: &'static str,
        kind: Kind,
        unit: &'static str,
        meaning: &'static str,
        better: Better,
    ) -> Self {
        Self { name, at, kind, unit, meaning, better }
    }
}

/// What a stage found, as JSON has it; its columns are read from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Frame(pub Map<String, Value>);

impl Frame {
    /// A record of any stage.
    ///
    /// # Panics
    /// When it is no object: a stage's record is a struct with named fields.
    pub fn of(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => Self(fields),
            other => panic!("a record is an object, not {other:?}"),
        }
    }

    /// The values of these columns; null where the record has none.
    pub fn cells(&self, columns: &[Metric]) -> Vec<Value> {
        let record = Value::Object(self.0.clone());
        columns.iter().map(|c| record.pointer(c.at).cloned().unwrap_or_default()).collect()
    }
}

/// A measure or a simulator: one file that implements this is a command, a function, an
/// experiment's table, its columns and its page.
///
/// The value holds the parameters of one run, all of which have defaults. Its comments, those of
/// the record and those of their fields are what users read.
pub trait Stage: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The name users type.
    const NAME: &'static str;
    /// The figures that go into tables.
    const COLUMNS: &'static [Metric];
    /// Parameters that had other names in the version before, see [`renew`].
    const RENAMED: &'static [Renamed] = &[];
    /// Parameters that may name files of the user: what these hold travels with a point.
    const FILES: &'static [&'static str] = &[];

    /// What it is run on: a network, tables, or either.
    type On<'a>;
    /// What it finds: a struct whose fields say their meaning and unit. A field that only some
    /// records have is an `Option` left out by `skip_serializing_if`.
    type Record: Serialize + JsonSchema;

    /// Parameters that the conformance tests run.
    fn examples() -> Vec<Self>;

    /// Whether these parameters can be, as far as that is known without what they are run on.
    ///
    /// # Errors
    /// The refusal names the parameter.
    fn check(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// What a run will take on `threads` processors, known before it begins.
    fn need(&self, on: Self::On<'_>, threads: usize) -> Need;

    /// Runs it. The same parameters give the same record, whatever the number of threads.
    ///
    /// # Errors
    /// When the parameters do not fit what it is run on, or `watch` says stop.
    fn run(&self, on: Self::On<'_>, watch: &dyn Watch) -> Result<Self::Record, Stop>;
}

/// `given` in the words of this version, and what had other ones.
///
/// # Errors
/// When a parameter is given by its old name and by its new one.
pub fn renewed<S: Stage>(
    given: &Map<String, Value>,
) -> Result<(Map<String, Value>, Vec<Note>), Refusal> {
    let mut new = given.clone();
    let notes = renew(&mut new, S::RENAMED)?;
    Ok((new, notes))
}

/// `given` as the parameters of `S`; old names of parameters are read as the new ones.
///
/// # Errors
/// When one is unknown, of the wrong type or out of range; the refusal lists what there is.
pub fn parameters<S: Stage>(given: &Map<String, Value>) -> Result<S, Refusal> {
    let (given, _) = renewed::<S>(given)?;
    let given = Value::Object(given);
    let found: S = crate::fields::typed(&given).map_err(|plain| {
        // of tables in tables the whole path
        let deep = crate::fields::typed_by_path::<S>(&given).err();
        let is_deep = |field: &str| field.contains(['.', ' ']);
        let (field, why) = deep.filter(|(field, _)| is_deep(field)).unwrap_or(plain);
        // what there is follows
        let why = match why.split_once(", expected one of") {
            Some((unknown, _)) if unknown.starts_with("unknown field") && field.is_empty() => {
                unknown.to_owned()
            }
            _ => why,
        };
        let help = crate::taken::taken::<S>(S::NAME, &field);
        Refusal::new(field, why, help)
    })?;
    found.check()?;
    Ok(found)
}
