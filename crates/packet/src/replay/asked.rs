//! What is replayed, as people ask for it: traces and generated schedules by name.

use base::{Refusal, Stop, Watch};
use fabric::network::parse_inline;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use traffic::workload::{Schedule, generator, make};

/// Names of traces: one, or several jobs at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Traces(pub Vec<String>);

/// What stands in a file.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Said {
    /// One.
    One(String),
    /// Several, at the same time.
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for Traces {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Said::deserialize(from)? {
            Said::One(name) => vec![name],
            Said::Several(names) => names,
        }))
    }
}

impl JsonSchema for Traces {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Traces".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Said::json_schema(generator)
    }
}

/// Whether calculations take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compute {
    /// They take none: what is left is communication.
    #[default]
    Off,
    /// They take what the schedule says.
    On,
}

/// What becomes of collective operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Collectives {
    /// They send what their algorithms send.
    #[default]
    Real,
    /// They send nothing and take no time, as in CODES.
    Codes,
}

/// The schedule of a generator with its parameters in one word, such as `amg_like:p=12,levels=4`.
///
/// # Errors
/// When there is no such generator, a parameter cannot be, or `watch` says stop.
pub(super) fn made(
    word: &str,
    collectives: Collectives,
    watch: &dyn Watch,
) -> Result<Schedule, Stop> {
    let recipe = parse_inline(word).map_err(|refused| refused.within("workload"))?;
    let mut given = recipe.params;
    if collectives == Collectives::Codes && generator(&recipe.family)?.part().has("allreduce") {
        given.insert("allreduce".to_owned(), "none".into());
    }
    make(&recipe.family, &given, watch).map_err(|stop| stop.within("workload"))
}

/// Refuses a mixture that cannot be.
///
/// # Errors
/// When there is no trace and something of one is asked for.
pub(crate) fn needs_trace(name: &str) -> Refusal {
    Refusal::new(name, "there is no workload", "workload = \"amg_like p=12 ...\", or leave it out")
}
