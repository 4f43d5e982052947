//! Parsing of the text for a pattern: its name, and its parameters by name or by position.

use base::part::PartDescription;
use serde_json::{Map, Number, Value};

/// Splits a text into the pattern's name and its argument: `NAME`, `NAME:WORD,...` or `NAME WORD
/// ...`.
pub(super) fn split(text: &str) -> (&str, Option<String>) {
    if let Some((name, argument)) = text.split_once(':') {
        return (name, Some(argument.to_owned()));
    }
    match text.split_once(' ') {
        Some((name, rest)) if !rest.trim().is_empty() => {
            (name, Some(rest.split_whitespace().collect::<Vec<_>>().join(",")))
        }
        _ => (text, None),
    }
}

/// Parses the parameters of a part from words separated by commas; the error is the invalid word.
///
/// A word is `KEY=VALUE`, or the value of the next parameter whose type it fits, so that parameters
/// with a default can be skipped. A parameter that is a list takes all words that follow.
pub(super) fn parameters<'a>(
    part: &PartDescription,
    words: &'a str,
) -> Result<Map<String, Value>, &'a str> {
    let schema = part.schema();
    let known: Vec<(&String, &Value)> =
        schema["properties"].as_object().into_iter().flatten().collect();
    let required = schema["required"].as_array();
    let (mut given, mut next) = (Map::new(), 0);
    for word in words.split(',') {
        let named = word.split_once('=').and_then(|(key, value)| {
            let at = known.iter().position(|(name, _)| *name == key)?;
            Some((at, value))
        });
        let (at, value) = if let Some((at, text)) = named {
            (at, value(&schema, known[at].1, text).unwrap_or(text.into()))
        } else {
            let needed = |name: &str| required.is_some_and(|all| all.iter().any(|n| n == name));
            let last = (next..known.len()).find(|&at| needed(known[at].0));
            let last = last.map_or(known.len(), |at| at + 1);
            let fit = |at: usize| Some((at, value(&schema, known[at].1, word)?));
            (next..last).find_map(fit).ok_or(word)?
        };
        let (name, is_list) = (known[at].0, known[at].1["type"] == "array");
        match given.get_mut(name) {
            Some(Value::Array(all)) if is_list => {
                all.extend(value.as_array().cloned().unwrap_or_default());
            }
            Some(_) => return Err(word),
            None => _ = given.insert(name.clone(), value),
        }
        next = if is_list { at } else { at + 1 };
    }
    Ok(given)
}

/// A word as a value that the schema allows; `None` if the schema does not allow it.
fn value(root: &Value, schema: &Value, word: &str) -> Option<Value> {
    if let Some(path) = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#')) {
        return value(root, root.pointer(path)?, word);
    }
    if let Some(either) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return either.iter().find_map(|one| value(root, one, word));
    }
    if let Some(only) = schema.get("const") {
        return (only == word).then(|| word.into());
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().any(|one| one == word).then(|| word.into());
    }
    let kind = match &schema["type"] {
        Value::Array(several) => several.iter().find(|kind| **kind != "null")?,
        one => one,
    };
    match kind.as_str()? {
        "integer" => Some(word.parse::<u64>().ok()?.into()),
        "number" => Some(Number::from_f64(word.parse().ok()?)?.into()),
        "array" => Some(vec![value(root, &schema["items"], word)?].into()),
        "string" => Some(word.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde_json::json;

    /// The parameters of a pattern for the tests, with numbers and an order.
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(rename = "ChanceParameters")]
    struct TestPatternParameters {
        count: u32,
        chance: Option<f64>,
        order: TestSenderOrder,
    }

    /// The order of senders, as a word of the test pattern's parameters.
    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    #[schemars(rename = "SenderOrderWord")]
    enum TestSenderOrder {
        /// One after the other.
        Linear,
        /// At random.
        Rand,
    }

    /// The parameters of a pattern for the tests, with a list.
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(rename = "SpotParameters")]
    struct TestListPatternParameters {
        at: Vec<String>,
    }

    #[test]
    fn words_are_parameters_by_name_or_in_their_order() {
        const CHANCES: PartDescription =
            PartDescription::new("chances", "").takes::<TestPatternParameters>();
        const SPOTS: PartDescription =
            PartDescription::new("spots", "").takes::<TestListPatternParameters>();
        for (part, words, found) in [
            (&CHANCES, "3", json!({ "count": 3 })),
            (&CHANCES, "3,0.5,linear", json!({ "count": 3, "chance": 0.5, "order": "linear" })),
            (&CHANCES, "3,rand", json!({ "count": 3, "order": "rand" })),
            (&CHANCES, "order=rand,count=3", json!({ "count": 3, "order": "rand" })),
            (&CHANCES, "chance=1,count=x", json!({ "count": "x", "chance": 1.0 })),
            (&SPOTS, "3", json!({ "at": ["3"] })),
            (&SPOTS, "3=4,0", json!({ "at": ["3=4", "0"] })),
            (&SPOTS, "at=3=4,0", json!({ "at": ["3=4", "0"] })),
        ] {
            assert_eq!(parameters(part, words).map(Value::Object), Ok(found), "{words}");
        }
        for (words, fault) in [
            ("", ""),
            ("3,", ""),
            ("3,nan", "nan"),
            ("3,linear,0.5", "0.5"),
            ("3,order=linear,rand", "rand"),
            ("3,count=4", "count=4"),
            ("3,counts=4", "counts=4"),
            ("-1", "-1"),
            ("0.5", "0.5"),
        ] {
            assert_eq!(parameters(&CHANCES, words), Err(fault), "{words}");
        }
    }

    #[test]
    fn a_name_stands_before_a_colon_or_a_blank() {
        for (text, name, words) in [
            ("shift", "shift", None),
            ("shift:2", "shift", Some("2")),
            ("shift:by=2", "shift", Some("by=2")),
            ("shift by=2", "shift", Some("by=2")),
            ("receivers 3  chance=0.5", "receivers", Some("3,chance=0.5")),
            ("shift:", "shift", Some("")),
        ] {
            assert_eq!(split(text), (name, words.map(str::to_owned)), "{text}");
        }
    }
}
