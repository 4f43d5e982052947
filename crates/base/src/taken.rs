//! Describes what a table of parameters accepts, by its schema: its keys, or the value of one of
//! them.

use crate::Refusal;
use schemars::JsonSchema;
use serde_json::Value;

/// Describes what the table `name`, which is read as a `T`, accepts: the value of its key `field`,
/// where it has such a key, and the names of all its keys. A field `a.b` is the key `b` of its
/// table `a`.
pub fn taken<T: JsonSchema>(name: &str, field: &str) -> String {
    taken_by(&schemars::schema_for!(T).to_value(), name, field)
}

/// [`taken`] by the schema itself.
pub fn taken_by(root: &Value, name: &str, field: &str) -> String {
    match field.rsplit_once('.') {
        Some((path, last)) => {
            match path.split('.').try_fold(root, |at, key| inner(root, at, key)) {
                Some(table) => listed(root, table, &format!("{name}.{path}"), last),
                None => listed(root, root, name, ""),
            }
        }
        None => listed(root, root, name, field),
    }
}

/// The schema of the table `key` in a table.
fn inner<'a>(root: &'a Value, table: &'a Value, key: &str) -> Option<&'a Value> {
    let key = table["properties"].get(key)?;
    let either = key["anyOf"].as_array().map_or(std::slice::from_ref(key), Vec::as_slice);
    let places = either.iter().filter_map(|one| one["$ref"].as_str()?.strip_prefix('#'));
    let mut tables = places.filter_map(|place| root.pointer(place));
    tables.find(|table| table["properties"].is_object())
}

/// The refusal of the table `name`, which is read as a `T`, because of its key `field`, or, where
/// that is none of its keys, because of a key that it does not have. `why` is what the reader said,
/// and `near` a hint that precedes the help.
///
/// A value that is none of a key's is answered with what the key takes; a reader that names the
/// valid values itself has said all.
pub fn refused<T: JsonSchema>(name: &str, field: String, why: String, near: &str) -> Refusal {
    let root = schemars::schema_for!(T).to_value();
    let help = taken_by(&root, name, &field);
    let Some((help, _)) = help.rsplit_once(" (") else {
        return Refusal::new(field, why, format!("{near}{help}"));
    };
    if why.contains("; ") || (why.starts_with("there is no ") && why.contains(", only ")) {
        return Refusal::new(field, why, "");
    }
    // the bounds of the key stand in its help; the reader knows those of its type alone
    let why = match why.split_once(", expected ") {
        Some((first, _)) if first.starts_with("invalid ") => first.to_owned(),
        _ => why,
    };
    Refusal::new(field, why, help)
}

fn listed(schema: &Value, table: &Value, name: &str, field: &str) -> String {
    let Some(known) = table["properties"].as_object().filter(|known| !known.is_empty()) else {
        return format!("{name} takes nothing");
    };
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let all = format!("{name} takes {}", names.join(", "));
    known.get(field).map_or_else(|| all.clone(), |key| format!("{} ({all})", held(schema, key)))
}

/// `did you mean TABLE.KEY? ` where the message `why` is about an unknown field, and a table in the
/// table that is read as a `T` has that field; else nothing.
pub fn in_a_table<T: JsonSchema>(why: &str) -> String {
    let Some(field) = why.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next())
    else {
        return String::new();
    };
    table_with(&schemars::schema_for!(T).to_value(), field)
        .map_or_else(String::new, |table| format!("did you mean {table}.{field}? "))
}

/// The first table of the parameters with the schema `root` that has the key `field`.
pub fn table_with<'a>(root: &'a Value, field: &str) -> Option<&'a str> {
    let mut known = root["properties"].as_object().into_iter().flat_map(|known| known.keys());
    let has = |key: &&String| {
        inner(root, root, key).is_some_and(|table| table["properties"].get(field).is_some())
    };
    known.find(has).map(String::as_str)
}

/// Describes a value of this schema: `a whole number from 1 to 15`.
fn held(root: &Value, schema: &Value) -> String {
    let path = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
    if let Some(named) = path.and_then(|at| root.pointer(at)) {
        return held(root, named);
    }
    let either = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(either) = either {
        let mut kinds: Vec<String> =
            either.iter().filter(|one| one["type"] != "null").map(|one| held(root, one)).collect();
        kinds.dedup();
        return kinds.join(" or ");
    }
    let texts = |of: &Value| -> Vec<String> {
        of.as_array().into_iter().flatten().filter_map(|v| v.as_str()).map(str::to_owned).collect()
    };
    if let Some(word) = schema["const"].as_str() {
        return word.to_owned();
    }
    if schema["enum"].is_array() {
        return texts(&schema["enum"]).join(" or ");
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.clone(),
        several => texts(several).into_iter().find(|kind| kind != "null").unwrap_or_default(),
    };
    match kind.as_str() {
        "integer" => format!("a whole number{}", bounds(schema)),
        "number" => format!("a number{}", bounds(schema)),
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "a table".to_owned(),
        _ => "a value".to_owned(),
    }
}

/// The range of a number, ` from A to B`, as far as the schema says it.
fn bounds(schema: &Value) -> String {
    let bound = |key: &str| schema[key].as_f64().map(|bound| bound.to_string());
    let of_type = || (schema["format"] == "uint64").then(|| u64::MAX.to_string());
    match (bound("minimum"), bound("maximum").or_else(of_type)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least}"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(rename = "SampleParameters")]
    struct TestParameters {
        #[schemars(range(min = 1, max = 15))]
        lanes: Option<u8>,
        ends: Vec<String>,
        word: TestWordParameter,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    #[schemars(rename = "SampleWord")]
    enum TestWordParameter {
        /// One.
        Links,
        /// Two.
        Switches,
    }

    #[derive(JsonSchema)]
    #[schemars(rename = "NoParameters")]
    struct TestNoParameters {}

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(rename = "OuterParameters")]
    struct TestOuterParameterList {
        some: TestParameters,
        perhaps: Option<TestParameters>,
        plain: u32,
    }

    #[test]
    fn keys_and_what_they_hold_are_described() {
        let all = "[some] takes lanes, ends, word";
        assert_eq!(taken::<TestParameters>("[some]", ""), all);
        assert_eq!(taken::<TestParameters>("[some]", "lane"), all);
        let check = |field: &str, what: &str| {
            assert_eq!(taken::<TestParameters>("[some]", field), format!("{what} ({all})"));
        };
        check("lanes", "a whole number from 1 to 15");
        check("ends", "a list");
        check("word", "links or switches");
        assert_eq!(taken::<TestNoParameters>("it", "x"), "it takes nothing");
        let inner = |table: &str| format!("it.{table} takes lanes, ends, word");
        assert_eq!(taken::<TestOuterParameterList>("it", "some.lane"), inner("some"));
        let expected = format!("a list ({})", inner("perhaps"));
        assert_eq!(taken::<TestOuterParameterList>("it", "perhaps.ends"), expected);
        for (field, near) in [("ends", "did you mean some.ends? "), ("plain", ""), ("other", "")] {
            let why = format!("unknown field `{field}`, expected `some`");
            assert_eq!(in_a_table::<TestOuterParameterList>(&why), near);
        }
        for nowhere in ["other.ends", "plain.ends", "some.ends.more"] {
            assert_eq!(
                taken::<TestOuterParameterList>("it", nowhere),
                "it takes some, perhaps, plain"
            );
        }
    }
    #[test]
    fn a_refusal_ends_after_what_the_key_takes() {
        let said = |field: &str, why: &str| {
            refused::<TestOuterParameterList>("it", field.to_owned(), why.to_owned(), "near? ")
                .to_string()
        };
        let below = "invalid value: integer `300`, expected a whole number below 256";
        assert_eq!(
            said("some.lanes", below),
            "some.lanes: invalid value: integer `300`; a whole number from 1 to 15"
        );
        let whole = "there is no 'x', only links, switches";
        assert_eq!(said("some.word", whole), format!("some.word: {whole}"));
        assert_eq!(said("plain", "'x' is none; 1 or 2"), "plain: 'x' is none; 1 or 2");
        assert_eq!(said("", "unknown"), "unknown; near? it takes some, perhaps, plain");
        let nowhere = said("some.lane", "unknown");
        assert_eq!(nowhere, "some.lane: unknown; near? it.some takes lanes, ends, word");
    }

    #[test]
    fn the_largest_number_of_its_type_is_a_bound_of_a_seed() {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        #[schemars(rename = "Drawn")]
        struct TestDrawnParameters {
            seed: u64,
        }
        let most = u64::MAX;
        let said = taken::<TestDrawnParameters>("it", "seed");
        assert_eq!(said, format!("a whole number from 0 to {most} (it takes seed)"));
    }
}
