//! Parts that users write in Python: what the core knows of them, and the check of their
//! parameters.

use crate::stages::StageInputKind;
use base::Refusal;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The kinds of parts that users can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PluginPartKind {
    /// A family of networks.
    Topology,
    /// A routing engine.
    Engine,
    /// A measure.
    Measure,
    /// A pattern of traffic.
    Pattern,
    /// An order in which processes take endpoints.
    Placement,
    /// A method of mapping.
    Method,
    /// A format that networks are written in.
    Export,
    /// An application: a schedule for a number of ranks.
    Application,
}

/// The type of a parameter, by its annotation in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum PluginParamType {
    /// A whole number.
    #[serde(rename = "int")]
    Int,
    /// A number.
    #[serde(rename = "float")]
    Float,
    /// Text.
    #[serde(rename = "str")]
    Str,
    /// True or false.
    #[serde(rename = "bool")]
    Bool,
    /// A list of whole numbers; in an inline form a single number is a list too.
    #[serde(rename = "list[int]")]
    Ints,
    /// Text or a list of lists: traffic by its name, its file or its rows.
    #[serde(rename = "str | list[list]")]
    StrOrRows,
}

impl PluginParamType {
    const fn words(self) -> &'static str {
        match self {
            Self::Int => "a whole number",
            Self::Float => "a number",
            Self::Str => "text",
            Self::Bool => "true or false",
            Self::Ints => "a list of whole numbers",
            Self::StrOrRows => "text, or a list of lists",
        }
    }

    /// The value as Python gets it; `None` where it has another type.
    fn read(self, given: &Value) -> Option<Value> {
        let whole = |v: &Value| v.is_i64() || v.is_u64();
        match (self, given) {
            (Self::Int, v) if whole(v) => Some(v.clone()),
            (Self::Float, v) => v.as_f64().map(Value::from),
            (Self::Str | Self::StrOrRows, Value::String(_)) | (Self::Bool, Value::Bool(_)) => {
                Some(given.clone())
            }
            (Self::StrOrRows, Value::Array(rows)) if rows.iter().all(Value::is_array) => {
                Some(given.clone())
            }
            (Self::Ints, Value::Array(items)) if items.iter().all(whole) => Some(given.clone()),
            (Self::Ints, v) if whole(v) => Some(Value::Array(vec![v.clone()])),
            _ => None,
        }
    }
}

/// A parameter of a part that a user wrote.
#[derive(Debug, Clone, Deserialize)]
pub struct PluginParam {
    /// The name that users type.
    pub name: String,
    /// The type of its values.
    #[serde(rename = "type")]
    pub holds: PluginParamType,
    /// Whether the parameter has no default.
    pub required: bool,
    /// The default; null where there is none.
    #[serde(default)]
    pub default: Value,
}

/// A part that a user wrote: the fields of its row in the registry that the core needs.
#[derive(Debug, Clone, Deserialize)]
pub struct PluginDescription {
    /// The kind of the part.
    pub kind: PluginPartKind,
    /// The name that users type.
    pub name: String,
    /// The parameters of the part.
    pub params: Vec<PluginParam>,
    /// The input of a measure.
    #[serde(default)]
    pub input: Option<StageInputKind>,
}

impl PluginDescription {
    /// All parameters: those given, and the defaults of the others.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or of the wrong type; the refusal lists the parameters.
    pub fn complete(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
        let refuse = |param: &str, why: String, help: String| {
            Err(Refusal::new(param, why, help).within(&self.name))
        };
        let takes = || match self.params.as_slice() {
            [] => format!("{} takes no parameters", self.name),
            all => {
                let names: Vec<&str> = all.iter().map(|p| p.name.as_str()).collect();
                format!("{} takes {}", self.name, names.join(", "))
            }
        };
        if let Some(key) = given.keys().find(|key| self.params.iter().all(|p| p.name != **key)) {
            return refuse("", format!("unknown field `{key}`"), takes());
        }
        let mut all = Map::new();
        for param in &self.params {
            let value = match given.get(&param.name) {
                None if param.required => {
                    return refuse("", format!("missing field `{}`", param.name), takes());
                }
                None => param.default.clone(),
                Some(value) => {
                    let Some(value) = param.holds.read(value) else {
                        let help = param.holds.words().to_owned();
                        return refuse(&param.name, format!("{value} is of another type"), help);
                    };
                    value
                }
            };
            if !value.is_null() {
                all.insert(param.name.clone(), value);
            }
        }
        Ok(all)
    }
}

/// The plug-in of this kind and name, if there is one.
pub fn find<'a>(
    plugins: &'a [PluginDescription],
    kind: PluginPartKind,
    name: &str,
) -> Option<&'a PluginDescription> {
    plugins.iter().find(|p| p.kind == kind && p.name == name)
}

/// Adds the names of plug-ins to the refusal of a name that is not built in.
pub fn listed(
    mut refusal: Refusal,
    plugins: &[PluginDescription],
    kind: PluginPartKind,
) -> Refusal {
    for plugin in plugins.iter().filter(|p| p.kind == kind) {
        refusal.help = format!("{}, {}", refusal.help, plugin.name);
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plugin() -> PluginDescription {
        serde_json::from_value(json!({
            "kind": "topology", "name": "net", "doc": "", "params": [
                { "name": "n", "type": "int", "required": true, "default": null },
                { "name": "x", "type": "float", "required": false, "default": 0.5 },
                { "name": "shape", "type": "list[int]", "required": false, "default": [2] },
                { "name": "word", "type": "str", "required": false, "default": "a" },
                { "name": "on", "type": "bool", "required": false, "default": true },
                { "name": "p", "type": "int", "required": false, "default": null },
            ],
        }))
        .expect("a row")
    }

    fn completed(given: &Value) -> Result<Value, String> {
        let given = given.as_object().expect("a table").clone();
        plugin().complete(&given).map(Value::Object).map_err(|r| r.to_string())
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let all = json!({ "n": 3, "x": 0.5, "shape": [2], "word": "a", "on": true });
        assert_eq!(completed(&json!({ "n": 3 })), Ok(all));
        let given = json!({ "n": -3, "x": 2, "shape": 7, "word": "b", "on": false, "p": 0 });
        let all = json!({ "n": -3, "x": 2.0, "shape": [7], "word": "b", "on": false, "p": 0 });
        assert_eq!(completed(&given), Ok(all));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refusal = |given: Value| completed(&given).expect_err("cannot be");
        let takes = "net takes n, x, shape, word, on, p";
        assert_eq!(refusal(json!({ "m": 3 })), format!("net: unknown field `m`; {takes}"));
        assert_eq!(refusal(json!({})), format!("net: missing field `n`; {takes}"));
        let wrong = [
            (json!({ "n": 3.5 }), "n: 3.5", "a whole number"),
            (json!({ "n": "3" }), "n: \"3\"", "a whole number"),
            (json!({ "n": true }), "n: true", "a whole number"),
            (json!({ "n": 3, "x": "y" }), "x: \"y\"", "a number"),
            (json!({ "n": 3, "shape": [1, 0.5] }), "shape: [1,0.5]", "a list of whole numbers"),
            (json!({ "n": 3, "word": 8 }), "word: 8", "text"),
            (json!({ "n": 3, "on": 1 }), "on: 1", "true or false"),
        ];
        for (given, what, help) in wrong {
            assert_eq!(refusal(given), format!("net: {what} is of another type; {help}"));
        }
    }
}
