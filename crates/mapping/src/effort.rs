//! The objective of a mapping, and the effort of the search for it.

use base::Refusal;
use base::words::did_you_mean;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error};

/// The objective of a mapping: what is to be small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MappingObjective {
    /// The maximum congestion, with hop-bytes near to the least found.
    Congestion,
    /// Hop-bytes.
    Hops,
}

/// The effort of a search: how much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEffort {
    /// At most a tenth of a second for some 1,200 processes.
    Fast,
    /// About half a second.
    Normal,
    /// Many runs on all processors.
    Best,
}

impl MappingObjective {
    /// All objectives, with the names that users type; the first is the default.
    pub const ALL: [(&str, Self); 2] = [("congestion", Self::Congestion), ("hops", Self::Hops)];

    /// The objective of this name; `param` is the parameter that a refusal names.
    ///
    /// # Errors
    /// When there is no objective of this name.
    pub fn named(param: &str, name: &str) -> Result<Self, Refusal> {
        named(param, name, &Self::ALL)
    }
}

impl SearchEffort {
    /// All efforts, with the names that users type.
    pub const ALL: [(&str, Self); 3] =
        [("fast", Self::Fast), ("normal", Self::Normal), ("best", Self::Best)];

    /// The effort of this name; `param` is the parameter that a refusal names.
    ///
    /// # Errors
    /// When there is no effort of this name.
    pub fn named(param: &str, name: &str) -> Result<Self, Refusal> {
        named(param, name, &Self::ALL)
    }
}

impl<'de> Deserialize<'de> for MappingObjective {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::named("", &String::deserialize(from)?).map_err(|why| refused(&why))
    }
}

impl<'de> Deserialize<'de> for SearchEffort {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::named("", &String::deserialize(from)?).map_err(|why| refused(&why))
    }
}

/// A refusal as an error of serde, which adds the name of the parameter.
fn refused<E: Error>(why: &Refusal) -> E {
    E::custom(format!("{}; {}", why.why, why.help))
}

fn named<T: Copy>(param: &str, name: &str, all: &[(&str, T)]) -> Result<T, Refusal> {
    all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        let near = did_you_mean(name, names.iter().copied());
        Refusal::new(param, format!("there is no {name:?}"), format!("{near}{}", names.join(", ")))
    })
}
