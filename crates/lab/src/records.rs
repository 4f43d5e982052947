//! The records of measures as classes with named and typed fields, from which `gen` writes Python.

use serde_json::{Value, json};

/// The classes of the record of measure `name` with this schema: that of the record itself, then
/// those of the records inside, in the order in which they occur.
///
/// A list of `{name, doc, fields: [{name, type, doc, always}]}`. The names of inner classes begin
/// with that of the record. Types are Python's; a field that is not `always` present is never None,
/// unless its schema says `nullable`.
pub fn classes(name: &str, schema: &Value) -> Vec<Value> {
    let mut all =
        PythonClassGenerator { record: class_name(name), root: schema, waiting: Vec::new() };
    let mut found = vec![all.class(&all.record.clone(), schema)];
    let mut next = 0;
    while let Some(part) = all.waiting.get(next).cloned() {
        let inside = &schema["$defs"][&part];
        found.push(all.class(&format!("{}{part}", all.record), inside));
        next += 1;
    }
    found
}

/// The name of a measure as a class name, a noun: `edge_load` becomes `EdgeLoad`.
fn class_name(measure: &str) -> String {
    if measure == "verify" {
        return "Verification".to_owned();
    }
    let words = measure.split('_').filter(|word| !word.is_empty());
    words.fold(String::new(), |all, word| all + &word[..1].to_uppercase() + &word[1..])
}

/// A writer of the classes of a record, from its schema.
struct PythonClassGenerator<'a> {
    record: String,
    root: &'a Value,
    /// Names of the definitions that fields refer to.
    waiting: Vec<String>,
}

impl PythonClassGenerator<'_> {
    fn class(&mut self, name: &str, schema: &Value) -> Value {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let fields = schema["properties"].as_object().into_iter().flatten();
        let fields: Vec<Value> = fields
            .map(|(field, s)| {
                let always = required.contains(&field.as_str());
                let mut kind = self.kind(s);
                if !always && s["nullable"] != true {
                    kind = kind.trim_end_matches(" | None").to_owned();
                }
                json!({ "name": field, "type": kind, "doc": s["description"], "always": always })
            })
            .collect();
        json!({ "name": name, "doc": schema["description"], "fields": fields })
    }

    /// The Python type of the values that a schema allows.
    fn kind(&mut self, schema: &Value) -> String {
        if let Some(name) = schema["$ref"].as_str().and_then(|r| r.strip_prefix("#/$defs/")) {
            let inside = &self.root["$defs"][name];
            if inside.get("properties").is_none() {
                return self.kind(inside);
            }
            if !self.waiting.iter().any(|known| known == name) {
                self.waiting.push(name.to_owned());
            }
            return format!("{}{name}", self.record);
        }
        let either = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
        if let Some(options) = either {
            let mut kinds: Vec<String> = options.iter().map(|s| self.kind(s)).collect();
            kinds.dedup();
            return kinds.join(" | ");
        }
        match &schema["type"] {
            Value::Array(words) => {
                let each = words.iter().map(|word| self.plain(word.as_str(), schema));
                each.collect::<Vec<_>>().join(" | ")
            }
            one => self.plain(one.as_str(), schema),
        }
    }

    fn plain(&mut self, word: Option<&str>, schema: &Value) -> String {
        match word {
            Some("integer") => "int".into(),
            Some("number") => "float".into(),
            Some("boolean") => "bool".into(),
            Some("null") => "None".into(),
            Some("array") => format!("list[{}]", self.items(schema)),
            Some("object") if !values(schema).is_null() => {
                format!("Mapping[str, {}]", self.kind(values(schema)))
            }
            Some("object") => "Mapping[str, Any]".into(),
            _ => "str".into(),
        }
    }

    /// The Python type of the items of a list; whole and real numbers together are real.
    fn items(&mut self, schema: &Value) -> String {
        let Some(each) = schema["prefixItems"].as_array() else {
            return self.kind(&schema["items"]);
        };
        let mut kinds: Vec<String> = each.iter().map(|s| self.kind(s)).collect();
        if kinds.iter().any(|kind| kind == "float") {
            kinds.retain(|kind| kind != "int");
        }
        kinds.sort();
        kinds.dedup();
        kinds.join(" | ")
    }
}

/// The schema of the values of a map with arbitrary keys; null where there is none.
fn values(schema: &Value) -> &Value {
    let by_pattern = schema["patternProperties"].as_object().and_then(|all| all.values().next());
    by_pattern.unwrap_or(&schema["additionalProperties"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_pythons_types() {
        let schema = json!({
            "description": "All.", "required": ["pairs", "by_name", "end", "word"],
            "properties": {
                "pairs": { "type": "array", "items": { "type": "array", "prefixItems": [
                    { "type": "number" }, { "type": "integer" },
                ] }, "description": "Pairs." },
                "by_name": { "type": "object", "additionalProperties": { "$ref": "#/$defs/End" } },
                "end": { "anyOf": [{ "$ref": "#/$defs/End" }, { "type": "null" }] },
                "word": { "$ref": "#/$defs/Word" },
                "some": { "type": ["integer", "null"] },
                "null": { "type": ["string", "null"], "nullable": true },
                "map": { "type": "object", "patternProperties": { "^x$": { "type": "integer" } } },
            },
            "$defs": {
                "Word": { "oneOf": [{ "type": "string", "const": "a" }, { "const": "b" }] },
                "End": { "properties": { "holds": { "type": "boolean" } }, "required": ["holds"] },
            },
        });
        let found = classes("two_words", &schema);
        let names: Vec<&Value> = found.iter().map(|class| &class["name"]).collect();
        assert_eq!(names, ["TwoWords", "TwoWordsEnd"]);
        let kinds: Vec<&str> = found[0]["fields"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|field| field["type"].as_str())
            .collect();
        let wanted = [
            "list[list[float]]",
            "Mapping[str, TwoWordsEnd]",
            "TwoWordsEnd | None",
            "str",
            "int",
            "str | None",
            "Mapping[str, int]",
        ];
        assert_eq!(kinds, wanted);
    }
}
