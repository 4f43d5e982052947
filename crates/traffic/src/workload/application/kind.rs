//! The table of applications, and the parameters and operations that they share.

use crate::workload::collective::{AllreduceChoice, CollectiveCall};
use crate::workload::{RankProgram, WorkloadRequest};
use base::ComputationError;
use base::part::PartDescription;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A program, or the reason why it cannot be made.
pub(super) type ProgramResult = Result<Box<dyn RankProgram>, ComputationError>;

/// A row of the table of applications.
pub struct ApplicationEntry {
    /// Its name, what it does, and its parameters.
    pub part: PartDescription,
    /// Makes the program for these parameters.
    pub(in crate::workload) make: fn(&WorkloadRequest<'_>) -> ProgramResult,
}

/// The algorithm of allreduces, named `allreduce_...`; none if they are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AllreduceAlgorithm(Option<AllreduceChoice>);

/// The word that leaves allreduces out.
const NONE: &str = "none";

impl Default for AllreduceAlgorithm {
    fn default() -> Self {
        Self(Some(AllreduceChoice::default()))
    }
}

/// The default algorithm for allreduces of large vectors.
pub(super) fn ring() -> AllreduceAlgorithm {
    AllreduceAlgorithm(Some(AllreduceChoice::new("allreduce_ring")))
}

impl Serialize for AllreduceAlgorithm {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => NONE.serialize(to),
            Some(algorithm) => algorithm.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for AllreduceAlgorithm {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        if given == NONE {
            return Ok(Self(None));
        }
        AllreduceChoice::deserialize(&given).map(|chosen| Self(Some(chosen))).map_err(|why| {
            let unknown = why.to_string();
            let but = if given.is_string() { format!(", {NONE}") } else { String::new() };
            D::Error::custom(unknown + &but)
        })
    }
}

impl JsonSchema for AllreduceAlgorithm {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sums".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = AllreduceChoice::words().into_iter().chain([NONE]);
        json_schema!({
            "description": "Algorithm of sums, `allreduce_...`; none: they are left out.",
            "type": "string",
            "enum": words.collect::<Vec<&str>>(),
        })
    }
}

impl AllreduceAlgorithm {
    /// The allreduce over this number of ranks; an empty operation if allreduces are left out.
    pub(super) fn call(self, ranks: u32, bytes: u64) -> Result<CollectiveCall, ComputationError> {
        match self.0 {
            None => Ok(CollectiveCall::nothing(ranks)),
            Some(algorithm) => CollectiveCall::new(algorithm.name(), ranks, bytes),
        }
    }
}
