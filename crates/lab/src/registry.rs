//! The tables of families, engines, measures and simulators as JSON: what the generated files and
//! `flyloom list` read.

use crate::records::classes;
use crate::stages::{Entry, SIMULATORS, STAGES};
use serde_json::{Value, json};

/// Every family, engine and measure with its documentation and parameters.
///
/// A list of `{kind, name, doc, params: [{name, type, required, default, doc}]}`; families have
/// besides `examples` (small members, in the inline form); engines `promise: {minimal,
/// deadlock_free}`, `lanes` (those that their routes get where nobody names a method: `one`,
/// `online` or `own`) and, of the parameters that all engines take, `shared: true`; measures
/// `input` (`topology`, `routing`; of simulators `either`), `columns: [{name, at, kind, unit,
/// meaning, better}]`, `renamed` (pairs of an old name of a parameter and its name) and `records`,
/// see [`classes`].
pub fn registry() -> Value {
    let families = families::FAMILIES.iter().map(|e| {
        let mut row = describe("topology", e.name, &e.schema());
        let examples = e.examples().into_iter().map(|recipe| recipe.to_string());
        row["examples"] = examples.collect();
        row
    });
    let engines = engines::ENGINES.iter().map(|e| {
        let mut row = describe("engine", e.name, &e.schema());
        row["promise"] = json!(e.promise);
        row["lanes"] = json!(e.lanes);
        let shared = describe("engine", e.name, &engines::lanes::schema());
        add_shared(&mut row["params"], &shared["params"]);
        row
    });
    let measures = STAGES.iter().map(|e| staged("measure", e));
    families.chain(engines).chain(measures).collect()
}

/// Every simulator: rows as those of measures, of the kind `simulator`.
pub fn simulators() -> Value {
    SIMULATORS.iter().map(|e| staged("simulator", e)).collect()
}

/// The row of a measure or a simulator.
fn staged(kind: &str, e: &Entry) -> Value {
    let mut row = describe(kind, e.name, &e.schema());
    row["input"] = json!(e.input);
    row["columns"] = json!(e.columns);
    row["renamed"] = e.renames.iter().map(|one| json!([one.old, one.new])).collect();
    row["records"] = classes(&e.name.replace('.', "_"), &e.record_schema()).into();
    row
}

/// Adds those of the parameters that all engines take which the engine has not itself.
fn add_shared(own: &mut Value, shared: &Value) {
    let Value::Array(own) = own else { return };
    for param in shared.as_array().into_iter().flatten() {
        if own.iter().all(|p| p["name"] != param["name"]) {
            let mut param = param.clone();
            param["shared"] = true.into();
            own.push(param);
        }
    }
}

fn describe(kind: &str, name: &str, schema: &Value) -> Value {
    let params = parameters(schema);
    let doc = schema.get("description").cloned().unwrap_or_default();
    json!({ "kind": kind, "name": name, "doc": doc, "params": params })
}

/// The parameters that a schema describes, as the rows of [`registry`] have them.
pub fn parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object();
    fields
        .into_iter()
        .flatten()
        .map(|(field, s)| {
            json!({
                "name": field,
                "type": type_of(schema, s),
                "required": required.contains(&field.as_str()),
                "default": s.get("default").cloned().unwrap_or(Value::Null),
                "doc": s.get("description").cloned().unwrap_or_default(),
                "choices": choices_of(schema, s),
            })
        })
        .collect()
}

/// The words that a parameter may be, where it is one of some; empty where it is not.
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
