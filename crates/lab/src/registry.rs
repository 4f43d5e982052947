//! The tables of families and engines as JSON: what the generated files and `flyloom list` read.

use net::{routing, topology};
use serde_json::{Value, json};

/// Every family and engine with its documentation and parameters.
///
/// A list of `{kind, name, doc, params: [{name, type, required, default, doc}]}`.
pub fn registry() -> Value {
    let families = topology::FAMILIES.iter().map(|e| describe("topology", e.name, &e.schema()));
    let engines = routing::ENGINES.iter().map(|e| describe("engine", e.name, &e.schema()));
    families.chain(engines).collect()
}

fn describe(kind: &str, name: &str, schema: &Value) -> Value {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object();
    let params: Vec<Value> = fields
        .into_iter()
        .flatten()
        .map(|(field, s)| {
            json!({
                "name": field,
                "type": type_of(schema, s),
                "required": required.contains(&field.as_str()),
                "default": s.get("default").cloned().unwrap_or(Value::Null),
                "doc": s.get("description").cloned().unwrap_or_default(),
            })
        })
        .collect();
    let doc = schema.get("description").cloned().unwrap_or_default();
    json!({ "kind": kind, "name": name, "doc": doc, "params": params })
}

fn type_of(root: &Value, schema: &Value) -> String {
    let resolve = |s: &Value| -> Value {
        let path = s["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
        path.and_then(|p| root.pointer(p)).unwrap_or(s).clone()
    };
    if let Some(options) = schema["anyOf"].as_array() {
        let real = options.iter().find(|o| o["type"] != "null");
        return real.map_or_else(|| "any".into(), |o| type_of(root, o));
    }
    let schema = resolve(schema);
    let named = |v: &Value| v.as_str().map(str::to_owned);
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(named).find(|k| k != "null"),
        one => named(one),
    };
    match kind.as_deref() {
        Some("integer") => "int".into(),
        Some("number") => "float".into(),
        Some("boolean") => "bool".into(),
        Some("array") => "list[int]".into(),
        Some("string") | None => "str".into(),
        Some(other) => other.into(),
    }
}
