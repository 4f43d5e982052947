//! The parameters of workloads: their names, and what becomes of calculations and collectives.

use base::{ComputationError, ProgressWatch, Refusal};
use fabric::network::parse_inline;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use traffic::workload::{Schedule, generator, make};

/// The names of workloads: one, or several jobs that run at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct WorkloadNames(pub Vec<String>);

/// The forms in which a file may name workloads.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "WrittenTraces")]
enum RawWorkloadNames {
    /// A single name.
    One(String),
    /// Several names: jobs that run at the same time.
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for WorkloadNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match RawWorkloadNames::deserialize(from)? {
            RawWorkloadNames::One(name) => vec![name],
            RawWorkloadNames::Several(names) => names,
        }))
    }
}

impl JsonSchema for WorkloadNames {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Traces".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RawWorkloadNames::json_schema(generator)
    }
}

/// Whether calculations take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Compute")]
#[serde(rename_all = "snake_case")]
pub enum ComputeTimeMode {
    /// Calculations take no time, so that communication alone is left.
    #[default]
    Off,
    /// Calculations take the time that the schedule gives.
    On,
}

/// What collective operations send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Collectives")]
#[serde(rename_all = "snake_case")]
pub enum CollectiveTrafficMode {
    /// Collective operations send what their algorithms send.
    #[default]
    Real,
    /// Collective operations send nothing and take no time, as in CODES.
    Codes,
}

/// The schedule of a generator given with its parameters in one word, such as
/// `amg_like:p=12,levels=4`; it has `ranks` where the word says no number of ranks.
///
/// # Errors
/// When there is no such generator, a parameter is invalid, or `watch` says stop.
pub(super) fn generate(
    word: &str,
    collectives: CollectiveTrafficMode,
    ranks: Option<u32>,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let recipe = parse_inline(word).map_err(|refused| refused.within("workload"))?;
    let mut given = recipe.params;
    if collectives == CollectiveTrafficMode::Codes
        && generator(&recipe.family)?.part().has("allreduce")
    {
        given.insert("allreduce".to_owned(), "none".into());
    }
    let takes = generator(&recipe.family).is_ok_and(|one| one.part().has("ranks"));
    if let (true, false, Some(ranks)) = (takes, given.contains_key("ranks"), ranks) {
        given.insert("ranks".to_owned(), ranks.into());
    }
    make(&recipe.family, &given, watch).map_err(|stop| stop.within("workload"))
}

/// The refusal of parameter `name`, which has no effect without a workload.
pub(crate) fn needs_trace(name: &str) -> Refusal {
    Refusal::new(name, "there is no workload", "workload = \"amg_like p=12 ...\", or leave it out")
}
