//! The experiment file as types: everything that a user can write, with defaults; unknown keys are
//! refused.

use crate::need::NetworkChoiceParameters;
use crate::stages::{SIMULATORS, STAGES, StageEntry};
use base::Refusal;
use engines::lanes::LaneMethodParameters;
use measure::load::sent::TrafficParameter;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// An experiment: a single point, or the points of its sweep.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Version of this format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Short name; results go to `out/<name>`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$"))]
    pub name: String,
    /// Title of the report.
    #[serde(default)]
    pub title: Option<String>,
    /// A few sentences for the top of the report.
    #[serde(default)]
    pub summary: Option<String>,
    /// Seed of every random draw.
    #[serde(default)]
    pub seed: u64,
    /// Rules of the floor on which every network is laid out; those of docs/plan.md that differ
    /// from the defaults.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub floor: Map<String, Value>,
    /// The need that a network is chosen for (docs/choosing.md): candidates are ranked, and
    /// `chosen = 1` in `[topology]` is the first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NetworkChoiceParameters>")]
    pub choose: Option<Map<String, Value>>,
    /// Python files with topologies, engines and measures of the user; paths from this file's
    /// folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugins: Vec<String>,
    /// Dimensions over which every point is repeated.
    #[serde(default)]
    pub sweep: Option<ParameterSweep>,
    /// Points written out one by one. A table of a point is laid over the common table of the same
    /// name, key by key, and its `sweep` applies to this point alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub point: Vec<Map<String, Value>>,
    /// The keys that all points have in common.
    #[serde(flatten)]
    pub common: Map<String, Value>,
}

/// Dimensions of a sweep. Keys are dotted paths into the point, such as `routing.engine`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sweep")]
pub struct ParameterSweep {
    /// Every value with every other: a list, or `{ from, to, step }`.
    #[serde(default)]
    pub grid: Map<String, Value>,
    /// Lists of equal length taken together; several zips multiply.
    #[serde(default)]
    pub zip: Vec<Map<String, Value>>,
}

/// One point: a network, its routing, and what to find out about them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Point")]
pub struct ExperimentPoint {
    /// Name of the network in tables and charts; its recipe when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `family` and its parameters, or `file` with the path of a network (and `p` endpoints a
    /// switch where the file has none), or `chosen` with the rank of a network that `[choose]`
    /// found. `gbps` is the rate of the cables. `failures` is a table of
    /// the `links` (`SWITCH:SWITCH`, `SWITCH:PORT` or numbers) and `switches` that fail, and of the
    /// number of `random` links that fail, drawn by `seed`.
    pub topology: Map<String, Value>,
    /// The routing of the network; left out: none, and only what needs no tables is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingEngineParameters>,
    /// The method by which routes get their lanes; left out: that of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<LaneMethodParameters>,
    /// Proof of the tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerificationOptions>,
    /// Effective bisection bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebb: Option<EbbOptions>,
    /// Loads the tables into a subnet manager and reads them back; left out: does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deploy: Option<DeployOptions>,
    /// Simulators, each with a table of its parameters: `[sim.flit]`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sim: Map<String, Value>,
    /// Further measures, each with a table of its parameters: `[congestion]`, `[resilience]`, ...
    #[serde(flatten)]
    pub measures: Map<String, Value>,
}

impl ExperimentPoint {
    /// The options of the engine, including the lanes of the point.
    ///
    /// # Errors
    /// When `[routing]` gives the lanes as well.
    pub fn options(&self) -> Result<Map<String, Value>, Refusal> {
        let mut options = self.routing.as_ref().map(|r| r.options.clone()).unwrap_or_default();
        if let Some(lanes) = &self.lanes
            && options.insert("lanes".to_owned(), json!(lanes)).is_some()
        {
            return Err(Refusal::new("lanes", "given twice", "in [routing] or in [lanes]"));
        }
        Ok(options)
    }
}

/// The keys of a point that are not further measures.
pub const KEYS: [&str; 8] =
    ["label", "topology", "routing", "lanes", "verify", "ebb", "deploy", "sim"];

/// A routing engine and its options.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Routing")]
pub struct RoutingEngineParameters {
    /// One of ours (`flyloom list engines`), or `opensm:<engine>` for OpenSM's own.
    pub engine: String,
    /// LID mask control: 2^lmc routes to every terminal, 0 to 7; that of `layers` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 7))]
    pub lmc: Option<u8>,
    /// Routes to every terminal, 1 to 128; 2^lmc when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 128))]
    pub layers: Option<u32>,
    /// Whether LIDs that a network from a file carries may change where `lmc` does not let them
    /// stay.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_lids: bool,
    /// The engine's own options.
    #[serde(flatten)]
    pub options: Map<String, Value>,
}

/// Proof of the tables.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Verify")]
#[serde(deny_unknown_fields, default)]
pub struct VerificationOptions {
    /// The largest number of links between switches that a route may take.
    pub hop_limit: u32,
}

impl Default for VerificationOptions {
    fn default() -> Self {
        Self { hop_limit: verify::proof::ProofParams::default().hop_limit }
    }
}

/// Effective bisection bandwidth.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Ebb")]
#[serde(deny_unknown_fields, default)]
pub struct EbbOptions {
    /// Number of random bisections; 0 leaves it out.
    pub samples: u32,
    /// Traffic in place of random bisections, as in the measure `ebb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficParameter>,
}

impl Default for EbbOptions {
    fn default() -> Self {
        Self { samples: measure::load::ebb::EbbParams::default().samples, traffic: None }
    }
}

/// The fabric that tables are loaded into.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Deploy")]
#[serde(deny_unknown_fields)]
pub struct DeployOptions {
    /// `ibsim`: a simulated InfiniBand fabric under a real OpenSM.
    pub fabric: DeployFabricKind,
    /// Lets ibutils' ibdmchk check the tables too (time grows with the square of the LIDs).
    #[serde(default)]
    pub oracle: bool,
}

/// A fabric that tables can be loaded into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fabric")]
#[serde(rename_all = "lowercase")]
pub enum DeployFabricKind {
    /// The InfiniBand fabric simulator.
    Ibsim,
}

/// The experiment with all defaults filled in and all points spelled out, as TOML text that
/// [`crate::expand()`] reads again.
pub fn effective(experiment: &Experiment, points: &[ExperimentPoint]) -> String {
    /// An experiment with all defaults written out.
    #[derive(Serialize)]
    struct ExperimentWithDefaults<'a> {
        schema: u32,
        name: &'a str,
        seed: u64,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        plugins: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        choose: Option<&'a Map<String, Value>>,
        point: &'a [ExperimentPoint],
    }
    let Experiment { schema, name, seed, plugins, choose, .. } = experiment;
    let (schema, seed, choose) = (*schema, *seed, choose.as_ref());
    let all = ExperimentWithDefaults { schema, name, seed, plugins, choose, point: points };
    toml::to_string(&all).unwrap_or_else(|e| format!("# cannot be written as TOML: {e}\n"))
}

/// The schema of a measure's table, and the definitions that it refers to.
fn measure(entry: &StageEntry) -> (Value, Map<String, Value>) {
    let mut table = entry.part.schema();
    let parts = table.as_object_mut().and_then(|t| {
        t.remove("$schema");
        t.remove("title");
        t.remove("$defs")
    });
    (table, parts.and_then(|p| p.as_object().cloned()).unwrap_or_default())
}

/// Gives those definitions of a stage that are not what others have under their names the name of
/// the stage, too.
fn with_own_names(
    stage: &str,
    table: &mut Value,
    parts: &mut Map<String, Value>,
    known: &Map<String, Value>,
) {
    let differs = |name: &String| known.get(name).is_some_and(|other| *other != parts[name]);
    let taken: Vec<String> = parts.keys().filter(|name| differs(name)).cloned().collect();
    for name in taken {
        let (old, own) = (format!("#/$defs/{name}"), format!("{stage}.{name}"));
        if let Some(part) = parts.remove(&name) {
            parts.insert(own.clone(), part);
        }
        for value in parts.values_mut().chain([&mut *table]) {
            refer(value, &old, &format!("#/$defs/{own}"));
        }
    }
}

/// Changes all references to one definition into references to another.
fn refer(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                match inner {
                    Value::String(path) if key == "$ref" && path == from => to.clone_into(path),
                    _ => refer(inner, from, to),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| refer(inner, from, to)),
        _ => {}
    }
}

/// The JSON schema of the experiment file, for editors and for tests.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Experiment).to_value();
    let point = schemars::schema_for!(ExperimentPoint).to_value();
    // a file is an experiment whose other keys are those of a point; none of these is required
    // before the sweep has been applied
    if let (Some(all), Some(extra)) = (schema.as_object_mut(), point.as_object()) {
        for part in ["properties", "$defs"] {
            let extra = extra.get(part).and_then(Value::as_object).cloned().unwrap_or_default();
            let into = all.entry(part).or_insert_with(|| Value::Object(Map::new()));
            if let Some(into) = into.as_object_mut() {
                into.extend(extra);
            }
        }
        let measures = STAGES.iter().filter(|e| !KEYS.contains(&e.part.name));
        for entry in measures.chain(SIMULATORS) {
            let (mut table, mut parts) = measure(entry);
            if let Some(known) = all.get("$defs").and_then(Value::as_object) {
                with_own_names(entry.part.name, &mut table, &mut parts, known);
            }
            let of = all.entry("properties").or_insert_with(|| json!({}));
            match entry.part.name.split_once('.') {
                Some((group, level)) => of[group]["properties"][level] = table,
                None => of[entry.part.name] = table,
            }
            let defs = all.entry("$defs").or_insert_with(|| json!({}));
            for (name, part) in parts {
                defs[name] = part;
            }
        }
        all["properties"]["sim"]["additionalProperties"] = Value::Bool(false);
        all.insert("additionalProperties".into(), Value::Bool(false));
        if let Some(Value::Object(routing)) =
            all.get_mut("$defs").and_then(|defs| defs.get_mut("Routing"))
        {
            routing.remove("required");
        }
        let alone = json!({ "not": { "anyOf": [
            { "required": ["sweep"] }, { "required": ["point"] }, { "required": ["choose"] },
        ] } });
        all.insert("if".into(), alone);
        let complete = json!({
            "required": ["topology"],
            "properties": { "routing": { "required": ["engine"] } },
        });
        all.insert("then".into(), complete);
    }
    schema
}
