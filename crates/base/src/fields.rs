//! Reads parameters that people write, and says which field is at fault.

use crate::amount::whole_amount;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The default `N` of a field: `#[serde(default = "whole::<4>")]`.
pub const fn whole<const N: u64>() -> u64 {
    N
}

/// Reads one of a fixed set of words, for `#[serde(deserialize_with)]`. A word that consists of
/// digits may also be written as a number.
///
/// # Errors
/// When the value is none of the words.
pub fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<T, D::Error> {
    let given = Value::deserialize(from)?;
    let given = if given.is_number() { Value::String(given.to_string()) } else { given };
    T::deserialize(given).map_err(D::Error::custom)
}

/// Reads `given` as a `T`. Text that stands where a whole number should be may be one with a unit,
/// such as `64KiB`.
///
/// # Errors
/// Returns the field at fault (empty where no single field is), and what is wrong.
pub fn typed<T: DeserializeOwned>(given: &Value) -> Result<T, (String, String)> {
    read(given).map_err(|(given, e)| {
        let (why, all) = (e.to_string(), given.as_object());
        // a field with a wrong value gives the same error when it is read alone
        let fault = all.into_iter().flatten().find(|(key, value)| {
            let alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            serde_json::from_value::<T>(Value::Object(alone)).is_err_and(|e| e.to_string() == why)
        });
        // errors about missing and unknown fields occur for every field alone, so they name none
        let is_at_fault_alone =
            !why.starts_with("missing field ") && !why.starts_with("unknown field ");
        let named = fault.filter(|_| is_at_fault_alone).map(|(key, _)| key.clone());
        (named.unwrap_or_default(), in_words(&why))
    })
}

/// As [`typed`], for nested tables whose fields may all be left out: it names the field at fault by
/// its dotted path, even where the struct has no such field.
///
/// # Errors
/// As [`typed`].
pub fn typed_by_path<T: DeserializeOwned>(given: &Value) -> Result<T, (String, String)> {
    read(given).map_err(|(given, e)| {
        let why = e.to_string();
        let mut all = Vec::new();
        paths(&given, &mut Vec::new(), &mut all);
        let fault = all.into_iter().find(|(path, value)| {
            let alone = path.iter().rev().fold((*value).clone(), |inner, step| match step {
                FieldPathStep::Key(key) => {
                    Value::Object(Map::from_iter([((*key).to_owned(), inner)]))
                }
                FieldPathStep::Item(_) => Value::Array(vec![inner]),
            });
            serde_json::from_value::<T>(alone).is_err_and(|e| e.to_string() == why)
        });
        (fault.map(|(path, _)| written(&path)).unwrap_or_default(), in_words(&why))
    })
}

/// Reads `given` as a `T`. Where that fails, it reads text that is a number with a unit as this
/// number, wherever the failure then is another one or none.
///
/// # Errors
/// The values as they were read at last, and what is wrong with them.
fn read<T: DeserializeOwned>(given: &Value) -> Result<T, (Value, serde_json::Error)> {
    let mut error = match T::deserialize(given) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let mut now = given.clone();
    let mut amounts = Vec::new();
    collect_amounts(given, &mut String::new(), &mut amounts);
    for group in amounts {
        let mut tried = now.clone();
        for (at, number) in &group {
            if let Some(value) = tried.pointer_mut(at) {
                *value = (*number).into();
            }
        }
        let is_misplaced = |why: &str| {
            group.iter().any(|(_, n)| why.starts_with(&format!("invalid type: integer `{n}`")))
        };
        match T::deserialize(&tried) {
            Ok(found) => return Ok(found),
            Err(e) if is_misplaced(&e.to_string()) => {} // text belongs there
            Err(e) if e.to_string() != error.to_string() => (now, error) = (tried, e),
            Err(_) => {}
        }
    }
    Err((now, error))
}

/// Numbers with units that are read together: the JSON pointer and the number of each.
type AmountGroup = Vec<(String, i64)>;

/// Collects all text in `value` that is a number with a unit. Those of one list are a group.
fn collect_amounts(value: &Value, at: &mut String, all: &mut Vec<AmountGroup>) {
    let amount = |at: &str, one: &Value| Some((at.to_owned(), whole_amount(one.as_str()?)?));
    let mut inside = |step: &str, inner: &Value| {
        let length = at.len();
        at.push('/');
        at.push_str(&step.replace('~', "~0").replace('/', "~1"));
        collect_amounts(inner, at, all);
        at.truncate(length);
    };
    match value {
        Value::Object(table) => table.iter().for_each(|(key, inner)| inside(key, inner)),
        Value::Array(list) => {
            let own = list.iter().enumerate();
            let (texts, others): (Vec<_>, Vec<_>) = own.partition(|(_, one)| one.is_string());
            for (i, inner) in others {
                inside(&i.to_string(), inner);
            }
            let own = texts.into_iter().filter_map(|(i, one)| amount(&format!("{at}/{i}"), one));
            all.extend(Some(own.collect()).filter(|group: &AmountGroup| !group.is_empty()));
        }
        Value::String(_) => all.extend(amount(at, value).map(|one| vec![one])),
        _ => {}
    }
}

/// A step of the path to a field.
#[derive(Debug, Clone, Copy)]
enum FieldPathStep<'a> {
    /// The key of a table.
    Key(&'a str),
    /// The number of a table in a list, from 0.
    Item(usize),
}

/// A path in readable form: `link.latency_ns`, or `traffic_class 2: weight`.
fn written(path: &[FieldPathStep<'_>]) -> String {
    let mut out = String::new();
    let mut before = "";
    for step in path {
        match step {
            FieldPathStep::Key(key) => {
                out = out + before + key;
                before = ".";
            }
            FieldPathStep::Item(at) => {
                out = format!("{out} {}", at + 1);
                before = ": ";
            }
        }
    }
    out
}

/// A field by its path, with its value.
type FieldAtPath<'a> = (Vec<FieldPathStep<'a>>, &'a Value);

/// Collects all values that are not tables, and empty tables, with their paths.
fn paths<'a>(value: &'a Value, at: &mut Vec<FieldPathStep<'a>>, all: &mut Vec<FieldAtPath<'a>>) {
    match value {
        Value::Object(table) if !table.is_empty() => {
            for (key, inner) in table {
                at.push(FieldPathStep::Key(key));
                paths(inner, at, all);
                at.pop();
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (item, inner) in list.iter().enumerate() {
                at.push(FieldPathStep::Item(item));
                paths(inner, at, all);
                at.pop();
            }
        }
        _ => all.push((at.clone(), value)),
    }
}

/// The message of serde about a value that fits none of several kinds.
const NO_KIND: &str = "data did not match any variant";

/// Translates a message of serde into plain words.
pub fn in_words(why: &str) -> String {
    let known = why.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, "));
    if let Some((word, known)) = known {
        let known = known.trim_start_matches("expected one of ").trim_start_matches("expected ");
        let near = crate::words::did_you_mean(word, known.split('`').skip(1).step_by(2));
        return format!("there is no '{word}', {near}only {}", known.replace('`', ""));
    }
    if why.starts_with(NO_KIND) {
        return "a value of the wrong kind".to_owned();
    }
    if let Some(plain) = no_number(why) {
        return plain;
    }
    if let Some((field, known)) =
        why.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, expected "))
    {
        let names = known.split('`').skip(1).step_by(2);
        let near = crate::words::did_you_mean(field, names);
        return format!("unknown field `{field}`, {near}expected {known}");
    }
    if let Some((found, _)) =
        why.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected struct "))
    {
        return format!("{found} where a table should be");
    }
    KINDS.iter().fold(why.to_owned(), |why, (kind, plain)| match why.strip_suffix(kind) {
        Some(before) if before.ends_with("expected ") => format!("{before}{plain}"),
        _ => why,
    })
}

/// Kinds of values in the words of serde and in plain words.
const KINDS: [(&str, &str); 13] = [
    ("u8", "a whole number below 256"),
    ("u16", "a whole number below 65536"),
    ("u32", "a whole number below 4294967296"),
    ("u64", "a whole number from 0"),
    ("usize", "a whole number from 0"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("a string", "text"),
    ("string or map", "a word"),
    ("a sequence", "a list"),
    ("a map", "a table"),
];

/// Translates a message of serde about a word where a number, or true or false, should be; `None`
/// for other messages.
fn no_number(why: &str) -> Option<String> {
    let rest = why.strip_prefix("invalid type: ")?;
    let rest = rest.strip_prefix("string ").or(rest.strip_prefix("floating point "))?;
    let (word, expected) = rest.rsplit_once(", expected ")?;
    let what = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" => "whole number",
        "f32" | "f64" => "number",
        "a boolean" => "answer: true or false",
        _ => return None,
    };
    let number = word.starts_with('`');
    let word: String = word.trim_matches(['"', '`']).chars().take(40).collect();
    // a whole number beyond all integer types arrives as a floating-point number
    if number && what == "whole number" && word.parse().is_ok_and(|x: f64| x.abs() >= 2e18) {
        return Some(format!("{word} is out of range"));
    }
    Some(if number { format!("{word} is no {what}") } else { format!("'{word}' is no {what}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct TestTableParameters {
        q: u32,
        share: Option<f64>,
        balance: Option<bool>,
    }

    /// Parameters with a nested table, for the tests.
    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[allow(dead_code)]
    struct TestOuterParameters {
        share: f64,
        inner: TestNestedParameters,
    }

    /// The parameters of the nested table, for the tests.
    #[derive(Debug, Default, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[allow(dead_code)]
    struct TestNestedParameters {
        count: u8,
        lanes: u8,
    }

    #[test]
    fn fields_of_tables_in_tables_are_named_by_their_path() {
        let fault =
            |given: Value| typed_by_path::<TestOuterParameters>(&given).expect_err("no value");
        let (path, why) = fault(json!({ "share": 0.5, "inner": { "count": 1, "lanes": 300 } }));
        assert_eq!(path, "inner.lanes");
        assert!(why.contains("`300`") && why.contains("below 256"), "{why}");
        let (path, why) = fault(json!({ "inner": { "count": 1, "lane": 3 } }));
        assert_eq!(path, "inner.lane");
        assert!(why.contains("did you mean lanes?"), "{why}");
        let (path, why) = fault(json!({ "inner": 1 }));
        assert_eq!((&*path, &*why), ("inner", "integer `1` where a table should be"));
        assert!(typed_by_path::<TestOuterParameters>(&json!({ "inner": {} })).is_ok());
    }

    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    struct TestClassesParameters {
        class: Vec<TestNestedParameters>,
    }

    /// One number or several, and a word, for the tests.
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct TestSizeParameters {
        label: String,
        bytes: TestNumberOrList,
        count: u32,
        rate: f64,
        inner: Vec<TestSizeParameters>,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(untagged)]
    enum TestNumberOrList {
        One(u64),
        Several(Vec<u64>),
    }

    impl Default for TestSizeParameters {
        fn default() -> Self {
            Self {
                label: String::new(),
                bytes: TestNumberOrList::One(0),
                count: 0,
                rate: 0.0,
                inner: Vec::new(),
            }
        }
    }

    #[test]
    fn numbers_have_units_where_numbers_should_be_and_text_stays_text() {
        let given = json!({
            "label": "64k", "bytes": ["1k", 5, "2KiB"], "count": "1.5M", "rate": "2e6",
            "inner": [{ "bytes": "4Mi", "label": "3" }, { "count": "7k", "label": "7k" }],
        });
        let expected = TestSizeParameters {
            label: "64k".into(),
            bytes: TestNumberOrList::Several(vec![1000, 5, 2048]),
            count: 1_500_000,
            rate: 2e6,
            inner: vec![
                TestSizeParameters {
                    bytes: TestNumberOrList::One(4 << 20),
                    label: "3".into(),
                    ..TestSizeParameters::default()
                },
                TestSizeParameters {
                    count: 7000,
                    label: "7k".into(),
                    ..TestSizeParameters::default()
                },
            ],
        };
        assert_eq!(typed::<TestSizeParameters>(&given).as_ref(), Ok(&expected));
        assert_eq!(typed_by_path::<TestSizeParameters>(&given), Ok(expected));
        let fault =
            |given: Value| typed_by_path::<TestSizeParameters>(&given).expect_err("no value");
        // what is wrong besides is what is reported, and what is too large as a number
        let (field, why) = fault(json!({ "count": "2k", "rate": "fast" }));
        assert_eq!((&*field, &*why), ("rate", "'fast' is no number"));
        let (field, why) = fault(json!({ "count": "5G" }));
        assert_eq!(field, "count");
        assert!(why.contains("`5000000000`") && why.contains("below 4294967296"), "{why}");
        let (field, why) = fault(json!({ "label": "64k", "count": "64kb" }));
        assert_eq!((&*field, &*why), ("count", "'64kb' is no whole number"));
    }

    #[test]
    fn fields_of_tables_in_lists_are_named_with_the_number_of_the_table() {
        let given = json!({ "class": [{ "count": 1 }, { "count": 1, "lanes": -3 }] });
        let (path, why) = typed_by_path::<TestClassesParameters>(&given).expect_err("no value");
        assert_eq!(path, "class 2: lanes");
        assert_eq!(why, "invalid value: integer `-3`, expected a whole number below 256");
        let (path, _) =
            typed_by_path::<TestClassesParameters>(&json!({ "class": [1, 2] })).expect_err("none");
        assert_eq!(path, "class");
    }

    #[test]
    fn kinds_of_values_are_described_in_words_of_no_programming_language() {
        let expected = |kind: &str| in_words(&format!("invalid type: null, expected {kind}"));
        for kind in ["u8", "u16", "u32", "u64", "usize", "i32", "i64"] {
            assert!(expected(kind).contains(", expected a whole number"), "{}", expected(kind));
        }
        assert_eq!(expected("f64"), "invalid type: null, expected a number");
        assert_eq!(expected("a sequence"), "invalid type: null, expected a list");
        assert_eq!(expected("string or map"), "invalid type: null, expected a word");
        // a whole number beyond all integer types
        let (field, why) =
            typed::<TestTableParameters>(&json!({ "q": 1e19 })).expect_err("no value");
        assert_eq!((&*field, &*why), ("q", "1e+19 is out of range"));
    }

    #[test]
    fn words_where_numbers_should_be_are_named() {
        let fault = |given: Value| typed::<TestTableParameters>(&given).expect_err("no value");
        let expected = |field: &str, why: &str| (field.to_owned(), why.to_owned());
        assert_eq!(fault(json!({ "q": "five" })), expected("q", "'five' is no whole number"));
        assert_eq!(fault(json!({ "q": 2.5 })), expected("q", "2.5 is no whole number"));
        let given = json!({ "q": 5, "share": "half" });
        assert_eq!(fault(given), expected("share", "'half' is no number"));
        let given = json!({ "q": 5, "balance": "maybe" });
        assert_eq!(fault(given), expected("balance", "'maybe' is no answer: true or false"));
        let (field, why) = fault(json!({ "q": 5, "Balance": true }));
        assert_eq!(field, "");
        assert_eq!(fault(json!({ "share": 0.5 })), expected("", "missing field `q`"));
        assert!(
            why.starts_with("unknown field `Balance`, did you mean balance? expected"),
            "{why}"
        );
    }
}
