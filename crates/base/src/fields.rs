//! Parameters as people write them: which field of a value is at fault.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// `given` as a `T`.
///
/// # Errors
/// The field at fault, empty where it is none of them, and what is wrong.
pub fn typed<T: DeserializeOwned>(given: &Value) -> Result<T, (String, String)> {
    T::deserialize(given).map_err(|e: serde_json::Error| {
        let (why, all) = (e.to_string(), given.as_object());
        // a field whose value is at fault is at fault without the others, in the same words
        let fault = all.into_iter().flatten().find(|(key, value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            serde_json::from_value::<T>(Value::Object(alone)).is_err_and(|e| e.to_string() == why)
        });
        let told = why.starts_with("invalid ") || why.starts_with("unknown variant ");
        let named = fault.filter(|_| told).map(|(key, _)| key.clone());
        (named.unwrap_or_default(), in_words(&why))
    })
}

/// What serde says of a value, in our words.
fn in_words(why: &str) -> String {
    let known = why.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, "));
    if let Some((word, known)) = known {
        let known = known.trim_start_matches("expected one of ").trim_start_matches("expected ");
        return format!("there is no '{word}', only {}", known.replace('`', ""));
    }
    let why = why.replace("expected u32", "expected a whole number below 4294967296");
    let why = why.replace("expected u64", "expected a whole number from 0");
    why.replace("expected u8", "expected a whole number below 256")
}
