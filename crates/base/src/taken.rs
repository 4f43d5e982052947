//! Describes what a table of parameters accepts, by its schema: its keys, or the value of one of
//! them.

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
    let root = schemars::schema_for!(T).to_value();
    let mut known = root["properties"].as_object().into_iter().flat_map(|known| known.keys());
    known
        .find(|key| inner(&root, &root, key).is_some_and(|t| t["properties"].get(field).is_some()))
        .map_or_else(String::new, |key| format!("did you mean {key}.{field}? "))
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
    match (bound("minimum"), bound("maximum")) {
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
    struct SampleParameters {
        #[schemars(range(min = 1, max = 15))]
        lanes: Option<u8>,
        ends: Vec<String>,
        word: SampleWord,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code)]
    enum SampleWord {
        /// One.
        Links,
        /// Two.
        Switches,
    }

    #[derive(JsonSchema)]
    struct NoParameters {}

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct OuterParameters {
        some: SampleParameters,
        perhaps: Option<SampleParameters>,
        plain: u32,
    }

    #[test]
    fn keys_and_what_they_hold_are_described() {
        let all = "[some] takes lanes, ends, word";
        assert_eq!(taken::<SampleParameters>("[some]", ""), all);
        assert_eq!(taken::<SampleParameters>("[some]", "lane"), all);
        let check = |field: &str, what: &str| {
            assert_eq!(taken::<SampleParameters>("[some]", field), format!("{what} ({all})"));
        };
        check("lanes", "a whole number from 1 to 15");
        check("ends", "a list");
        check("word", "links or switches");
        assert_eq!(taken::<NoParameters>("it", "x"), "it takes nothing");
        let inner = |table: &str| format!("it.{table} takes lanes, ends, word");
        assert_eq!(taken::<OuterParameters>("it", "some.lane"), inner("some"));
        let expected = format!("a list ({})", inner("perhaps"));
        assert_eq!(taken::<OuterParameters>("it", "perhaps.ends"), expected);
        for (field, near) in [("ends", "did you mean some.ends? "), ("plain", ""), ("other", "")] {
            let why = format!("unknown field `{field}`, expected `some`");
            assert_eq!(in_a_table::<OuterParameters>(&why), near);
        }
        for nowhere in ["other.ends", "plain.ends", "some.ends.more"] {
            assert_eq!(taken::<OuterParameters>("it", nowhere), "it takes some, perhaps, plain");
        }
    }
}
