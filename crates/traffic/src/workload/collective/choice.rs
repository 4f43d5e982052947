//! The choice of an algorithm for a given operation, by its name without the operation, such as
//! `ring`.

use super::ALGORITHMS;
use super::kind::CollectiveOperation;
use base::words::did_you_mean;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// One of the algorithms in the table for the operation whose number is `OPERATION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectiveAlgorithmName<const OPERATION: u8> {
    name: &'static str,
}

/// An algorithm of the operation allreduce.
pub type AllreduceChoice = CollectiveAlgorithmName<{ CollectiveOperation::Allreduce as u8 }>;
/// An algorithm of the operation allgather.
pub type AllgatherChoice = CollectiveAlgorithmName<{ CollectiveOperation::Allgather as u8 }>;

impl<const OPERATION: u8> CollectiveAlgorithmName<OPERATION> {
    /// The choice of the algorithm with this name, which must be in the table.
    pub const fn new(name: &'static str) -> Self {
        Self { name }
    }

    /// Its name in the table, which includes the operation.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The operation.
    fn operation() -> CollectiveOperation {
        let own = ALGORITHMS.iter().find(|entry| entry.operation as u8 == OPERATION);
        own.expect("an operation has an algorithm").operation
    }

    /// All algorithms of the operation: the word that users type, and the name in the table.
    fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = ALGORITHMS.iter().filter(|entry| entry.operation as u8 == OPERATION);
        own.map(|entry| (entry.operation.without(entry.part.name), entry.part.name))
    }

    /// The words that users type for these algorithms.
    pub(in crate::workload) fn words() -> Vec<&'static str> {
        Self::all().map(|(word, _)| word).collect()
    }
}

impl<const OPERATION: u8> Default for CollectiveAlgorithmName<OPERATION> {
    fn default() -> Self {
        Self { name: Self::operation().usual() }
    }
}

impl<const OPERATION: u8> Serialize for CollectiveAlgorithmName<OPERATION> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Self::operation().without(self.name).serialize(to)
    }
}

impl<'de, const OPERATION: u8> Deserialize<'de> for CollectiveAlgorithmName<OPERATION> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = String::deserialize(from)?;
        let found = Self::all().find(|(word, _)| *word == given);
        found.map(|(_, name)| Self { name }).ok_or_else(|| {
            let words = Self::words();
            let near = did_you_mean(&given, words.iter().copied());
            D::Error::custom(format!("there is no '{given}', {near}only {}", words.join(", ")))
        })
    }
}

impl<const OPERATION: u8> JsonSchema for CollectiveAlgorithmName<OPERATION> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Choice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let description = format!("Algorithm, `{}_...`.", Self::operation().name());
        json_schema!({ "description": description, "type": "string", "enum": Self::words() })
    }
}
