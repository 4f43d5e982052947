//! Parameters as users give them, checked against their schema and read as a struct.

use crate::Refusal;
use crate::amount::whole_amount;
use crate::fields::typed;
use crate::taken::{taken, taken_by};
use crate::words::did_you_mean;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads `given` as a `T`, a struct whose fields are the parameters of the part called `name`.
///
/// # Errors
/// When a parameter is unknown, missing or of the wrong type; the refusal lists the valid ones.
pub fn read<T: DeserializeOwned + JsonSchema>(name: &str, given: &Value) -> Result<T, Refusal> {
    typed(given).map_err(|(field, why)| {
        let help = taken::<T>(name, &field);
        Refusal::new(field, why, help)
    })
}

/// As [`read`], for a struct that has only some of the parameters; `schema` is the schema of all of
/// them.
///
/// # Errors
/// As [`read`], but a parameter without a field in `T` is accepted: it belongs to another struct.
pub(crate) fn read_some<T: DeserializeOwned>(
    name: &str,
    schema: &dyn Fn() -> Value,
    given: &Map<String, Value>,
) -> Result<T, Refusal> {
    typed(&Value::Object(given.clone())).map_err(|(field, why)| {
        let help = taken_by(&schema(), name, &field);
        Refusal::new(field, why, help)
    })
}

/// Checks `given` against a schema, except for the types: every parameter exists, all required
/// parameters are given, and numbers are within their bounds.
///
/// # Errors
/// The refusal names the parameter, and says what values it takes.
pub(crate) fn check(name: &str, schema: &Value, given: &Map<String, Value>) -> Result<(), Refusal> {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    if let Some(strange) = given.keys().find(|key| !known.contains_key(*key)) {
        let near = did_you_mean(strange, known.keys().map(String::as_str));
        let help = near + &taken_by(schema, name, "");
        return Err(Refusal::new(strange, "there is no such parameter", help));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for field in required {
        if !given.contains_key(field) {
            let help = taken_by(schema, name, field);
            return Err(Refusal::new(field, "it is not given", help));
        }
    }
    for (field, value) in given {
        let bounds = &known[field];
        let amount = value.as_str().and_then(whole_amount).map(Value::from);
        let value = amount.as_ref().unwrap_or(value);
        if is_below(value, &bounds["minimum"]) || is_below(&bounds["maximum"], value) {
            let help = taken_by(schema, name, field);
            return Err(Refusal::new(field, format!("{value} is out of range"), help));
        }
    }
    Ok(())
}

/// Whether both are numbers, and the first is less.
fn is_below(one: &Value, other: &Value) -> bool {
    match (one.as_u64(), other.as_u64()) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one < other),
    }
}

/// The union of two schemas of parameters; those of `first` come before those of `second`.
pub(crate) fn joined(mut first: Value, second: Value) -> Value {
    let Value::Object(mut second) = second else { return first };
    for key in ["properties", "$defs"] {
        if let Some(Value::Object(more)) = second.remove(key) {
            match &mut first[key] {
                Value::Object(all) => all.extend(more),
                none => *none = Value::Object(more),
            }
        }
    }
    if let Some(Value::Array(more)) = second.remove("required") {
        match &mut first["required"] {
            Value::Array(all) => all.extend(more),
            none => *none = Value::Array(more),
        }
    }
    first
}
