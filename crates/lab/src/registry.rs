//! The tables of families, engines, measures and simulators as JSON, which the generated files and
//! `flyloom list` read.

use crate::records::classes;
use crate::stages::{SIMULATORS, STAGES, StageEntry};
use base::part::PartDescription;
use mapping::spec::{MappingTask, TASKS};
use serde_json::{Value, json};

/// Every family, engine and measure with its documentation and parameters.
///
/// A list of `{kind, name, doc, files, params: [{name, type, required, default, doc}]}`, where
/// `files` are the parameters that may name files; families have
/// besides `examples` (small members, in the inline form); engines `promise: {minimal,
/// deadlock_free}`, `lanes` (those that their routes get where nobody names a method: `one`,
/// `online` or `own`) and, of the parameters that all engines take, `shared: true`; measures
/// `input` (`topology`, `routing`; of simulators `either`), `columns: [{name, at, kind, unit,
/// meaning, better}]`, `renamed` (pairs of an old name of a parameter and its name) and `records`,
/// see [`classes`].
pub fn registry() -> Value {
    [families(), engines(), stages()].concat().into()
}

/// The families of networks.
pub fn families() -> Vec<Value> {
    let row = |e: &families::FamilyEntry| {
        let mut row = describe("topology", &e.part);
        let examples = e.examples().into_iter().map(|recipe| recipe.to_string());
        row["examples"] = examples.collect();
        row
    };
    families::FAMILIES.iter().map(row).collect()
}

/// The routing engines.
pub fn engines() -> Vec<Value> {
    let row = |e: &engines::EngineEntry| {
        let mut row = describe("engine", &e.part);
        row["promise"] = json!(e.promise);
        row["lanes"] = json!(e.lanes);
        add_shared(&mut row["params"], &params(&engines::lanes::schema()));
        row
    };
    engines::ENGINES.iter().map(row).collect()
}

/// The measures.
pub fn stages() -> Vec<Value> {
    STAGES.iter().map(|e| staged("measure", e)).collect()
}

/// Every simulator: rows as those of measures, of the kind `simulator`.
pub fn simulators() -> Vec<Value> {
    SIMULATORS.iter().map(|e| staged("simulator", e)).collect()
}

/// The tasks of mapping, as rows of the kind `mapping`; a row has only the parameters that its task
/// uses.
pub fn mappings() -> Vec<Value> {
    let row = |task: &MappingTask| {
        let mut row = describe("mapping", &task.part);
        let params = row["params"].as_array_mut().map(std::mem::take).unwrap_or_default();
        let is_of = |param: &Value, names: &[&str]| names.iter().any(|name| param["name"] == *name);
        let own = params.into_iter().filter(|param| !is_of(param, task.without));
        row["params"] = own
            .map(|mut param| {
                param["required"] = is_of(&param, task.needs).into();
                param
            })
            .collect();
        row
    };
    TASKS.iter().map(row).collect()
}

/// The row of a measure or a simulator.
fn staged(kind: &str, e: &StageEntry) -> Value {
    let mut row = describe(kind, &e.part);
    row["input"] = json!(e.input);
    row["columns"] = json!(e.columns);
    row["renamed"] = e.renames.iter().map(|one| json!([one.old, one.new])).collect();
    row["records"] = classes(&e.part.name.replace('.', "_"), &e.record_schema()).into();
    row
}

/// Adds the parameters that all engines take and the engine does not have itself.
fn add_shared(own: &mut Value, shared: &[Value]) {
    let Value::Array(own) = own else { return };
    for param in shared {
        if own.iter().all(|p| p["name"] != param["name"]) {
            let mut param = param.clone();
            param["shared"] = true.into();
            own.push(param);
        }
    }
}

/// A part with its documentation and its parameters.
pub(crate) fn describe(kind: &str, part: &PartDescription) -> Value {
    let schema = part.schema();
    json!({ "kind": kind, "name": part.name, "doc": part.about(), "files": part.files,
            "params": params(&schema) })
}

/// The parameters of a schema.
pub(crate) fn params(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object();
    let of = |(field, s): (&String, &Value)| {
        json!({
            "name": field,
            "type": type_of(schema, s),
            "required": required.contains(&field.as_str()),
            "default": s.get("default").cloned().unwrap_or(Value::Null),
            "doc": s.get("description").cloned().unwrap_or_default(),
            "choices": choices_of(schema, s),
        })
    };
    fields.into_iter().flatten().map(of).collect()
}

/// The words that a parameter may be, if it is a choice of words; else empty.
fn choices_of(root: &Value, schema: &Value) -> Vec<Value> {
    let parts = [schema, &schema["anyOf"][0], &schema["anyOf"][1]];
    let named = parts.into_iter().filter_map(|part| part["$ref"].as_str()?.strip_prefix('#'));
    named
        .filter_map(|path| root.pointer(path))
        .flat_map(|one| match (&one["oneOf"], &one["enum"]) {
            (Value::Array(words), _) => words.iter().map(|word| word["const"].clone()).collect(),
            (_, Value::Array(words)) => words.clone(),
            _ => Vec::new(),
        })
        .filter(Value::is_string)
        .collect()
}

fn type_of(root: &Value, schema: &Value) -> String {
    let resolve = |s: &Value| -> Value {
        let path = s["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
        path.and_then(|p| root.pointer(p)).unwrap_or(s).clone()
    };
    let schema = resolve(schema);
    if let Some(options) = schema["anyOf"].as_array() {
        let mut kinds: Vec<String> =
            options.iter().filter(|o| o["type"] != "null").map(|o| type_of(root, o)).collect();
        kinds.dedup();
        return kinds.join(" | ");
    }
    let named = |v: &Value| v.as_str().map(str::to_owned);
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(named).find(|k| k != "null"),
        one => named(one),
    };
    match kind.as_deref() {
        Some("integer") => "int".into(),
        Some("number") => "float".into(),
        Some("boolean") => "bool".into(),
        Some("array") if schema.get("prefixItems").is_some() => "list".into(),
        Some("array") => format!("list[{}]", type_of(root, &schema["items"])),
        Some("object") => "dict".into(),
        Some("string") | None => "str".into(),
        Some(other) => other.into(),
    }
}
