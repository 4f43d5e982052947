//! Renamed parameters: the names of the previous version are accepted, with a note.

use crate::Refusal;
use serde_json::{Map, Value};

/// A parameter that had another name, another unit, or other words as its values.
#[derive(Debug, Clone, Copy)]
pub struct RenamedParameter {
    /// The old name, a dotted path; the path of a table stands for everything in it.
    pub old: &'static str,
    /// The new name. It equals the old one where only the words of its values changed.
    pub new: &'static str,
    /// The change of the parameter's value.
    pub change: RenamedValueConversion,
}

/// The change of a renamed parameter's value: its unit, or its words.
#[derive(Debug, Clone, Copy)]
pub enum RenamedValueConversion {
    /// The value stays the same.
    Same,
    /// The unit changed: the new value is the old one times this factor.
    Times(f64),
    /// These words changed, given as pairs of old and new word; all other values stay.
    Words(&'static [(&'static str, &'static str)]),
}

/// A note about a renamed parameter in a user's input: the old name and the new one, or the old
/// word of a value and the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedParameterNote {
    /// The words in the user's input.
    pub old: String,
    /// The words of this version.
    pub new: String,
}

impl std::fmt::Display for RenamedParameterNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is now {}; the old name is read in this version only", self.old, self.new)
    }
}

impl RenamedParameter {
    /// A parameter whose value stays as it is.
    pub const fn name(old: &'static str, new: &'static str) -> Self {
        Self { old, new, change: RenamedValueConversion::Same }
    }

    /// A parameter in another unit.
    pub const fn times(old: &'static str, new: &'static str, factor: f64) -> Self {
        Self { old, new, change: RenamedValueConversion::Times(factor) }
    }

    /// A parameter whose values have other words.
    pub const fn words(
        old: &'static str,
        new: &'static str,
        words: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { old, new, change: RenamedValueConversion::Words(words) }
    }

    /// The value in the words and the unit of this version, and whether it differs from the old
    /// one.
    fn value(&self, old: Value) -> (Value, bool) {
        match (self.change, old) {
            (RenamedValueConversion::Times(factor), Value::Number(number)) => {
                (number.as_f64().map_or(Value::Number(number), |x| (x * factor).into()), true)
            }
            (RenamedValueConversion::Words(words), Value::String(word)) => {
                match words.iter().find(|(old, _)| *old == word) {
                    Some((_, new)) => ((*new).into(), true),
                    None => (word.into(), false),
                }
            }
            (_, other) => (other, false),
        }
    }
}

/// Renames old names in `given` by `table`, also in nested tables and in lists of tables. Returns
/// what was renamed.
///
/// # Errors
/// When a parameter is given by both its names.
pub fn renew(
    given: &mut Map<String, Value>,
    table: &[RenamedParameter],
) -> Result<Vec<RenamedParameterNote>, Refusal> {
    let mut notes = Vec::new();
    for renamed in table {
        if renamed.old == renamed.new {
            revalue(given, renamed.old, renamed, &mut notes);
            continue;
        }
        let shared = shared_tables(renamed.old, renamed.new);
        let (at, old) = (&renamed.old[..shared], &renamed.old[shared..]);
        let new = &renamed.new[shared..];
        in_tables(given, at, &mut |table| rename(table, (old, new), renamed, &mut notes))?;
    }
    Ok(notes)
}

/// The length of the part that both paths share: whole tables, the dot after them included.
fn shared_tables(old: &str, new: &str) -> usize {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    old[..same].rfind('.').map_or(0, |dot| dot + 1)
}

/// An action on one table.
type TableAction<'a> = dyn FnMut(&mut Map<String, Value>) -> Result<(), Refusal> + 'a;

/// Calls `act` for every table at the path `at`, which ends in a dot or is empty.
fn in_tables(
    given: &mut Map<String, Value>,
    at: &str,
    act: &mut TableAction<'_>,
) -> Result<(), Refusal> {
    let Some((first, rest)) = at.split_once('.') else { return act(given) };
    match given.get_mut(first) {
        Some(Value::Object(table)) => in_tables(table, rest, act),
        Some(Value::Array(several)) => several.iter_mut().try_for_each(|one| match one {
            Value::Object(table) => in_tables(table, rest, act),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

fn rename(
    table: &mut Map<String, Value>,
    (old, new): (&str, &str),
    renamed: &RenamedParameter,
    notes: &mut Vec<RenamedParameterNote>,
) -> Result<(), Refusal> {
    let Some(value) = take(table, old) else { return Ok(()) };
    put(table, new, renamed.value(value).0).map_err(|()| {
        let why = format!("given besides {}, which is its old name", renamed.old);
        Refusal::new(renamed.new, why, "one of both")
    })?;
    notes.push(RenamedParameterNote { old: renamed.old.to_owned(), new: renamed.new.to_owned() });
    Ok(())
}

/// Removes and returns the value at a path.
fn take(table: &mut Map<String, Value>, path: &str) -> Option<Value> {
    match path.split_once('.') {
        None => table.remove(path),
        Some((first, rest)) => {
            let inner = table.get_mut(first)?.as_object_mut()?;
            let found = take(inner, rest);
            if found.is_some() && inner.is_empty() {
                table.remove(first);
            }
            found
        }
    }
}

/// Writes a value to a path. Tables are merged; any other value must not exist yet.
fn put(table: &mut Map<String, Value>, path: &str, value: Value) -> Result<(), ()> {
    if let Some((first, rest)) = path.split_once('.') {
        let inner = table.entry(first).or_insert_with(|| Value::Object(Map::new()));
        return put(inner.as_object_mut().ok_or(())?, rest, value);
    }
    match (table.get_mut(path), value) {
        (None, value) => {
            table.insert(path.to_owned(), value);
            Ok(())
        }
        (Some(Value::Object(there)), Value::Object(more)) => {
            more.into_iter().try_for_each(|(key, value)| put(there, &key, value))
        }
        _ => Err(()),
    }
}

/// Changes the words of a parameter that keeps its name.
fn revalue(
    given: &mut Map<String, Value>,
    path: &str,
    renamed: &RenamedParameter,
    notes: &mut Vec<RenamedParameterNote>,
) {
    let (at, key) = path.rfind('.').map_or(("", path), |dot| path.split_at(dot + 1));
    // the action never fails
    let _ = in_tables(given, at, &mut |table| {
        if let Some(value) = table.get_mut(key) {
            let old = value.as_str().map(str::to_owned);
            let (new, changed) = renamed.value(value.take());
            if let (true, Some(old), Some(word)) = (changed, old, new.as_str()) {
                notes.push(RenamedParameterNote {
                    old: format!("{path}={old}"),
                    new: format!("{path}={word}"),
                });
            }
            *value = new;
        }
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: &[RenamedParameter] = &[
        RenamedParameter::name("router", "switch"),
        RenamedParameter::name("network.switch_ns", "switch.delay_ns"),
        RenamedParameter::words("rails", "rail", &[("striped", "spread")]),
        RenamedParameter::words("rail", "rail", &[("path", "shortest")]),
        RenamedParameter::times("end_us", "end_ns", 1000.0),
        RenamedParameter::name("run.links", "links"),
        RenamedParameter::name("class", "traffic_class"),
        RenamedParameter::name("traffic_class.process", "traffic_class.injection"),
    ];

    fn renewed(given: Value) -> (Value, Vec<String>) {
        let Value::Object(mut all) = given else { panic!("a table") };
        let notes = renew(&mut all, TABLE).expect("each is given once");
        (all.into(), notes.into_iter().map(|n| format!("{} {}", n.old, n.new)).collect())
    }

    #[test]
    fn old_names_of_parameters_and_of_tables_become_new_ones() {
        let (all, notes) = renewed(json!({
            "router": {"delay_ns": 5}, "rails": "striped", "end_us": 1.5, "run": {"links": true},
        }));
        assert_eq!(
            all,
            json!({"switch": {"delay_ns": 5}, "rail": "spread", "end_ns": 1500.0, "links": true})
        );
        assert_eq!(notes, ["router switch", "rails rail", "end_us end_ns", "run.links links"]);
        let (all, _) = renewed(json!({"network": {"switch_ns": 3, "nic_ns": 4}}));
        assert_eq!(all, json!({"network": {"nic_ns": 4}, "switch": {"delay_ns": 3}}));
    }

    #[test]
    fn lists_of_tables_and_words_of_values_too() {
        let (all, notes) = renewed(json!({"class": [{"process": "bernoulli"}, {"share": 2}]}));
        assert_eq!(all, json!({"traffic_class": [{"injection": "bernoulli"}, {"share": 2}]}));
        assert_eq!(notes.len(), 2);
        assert_eq!(renewed(json!({"rail": "path"})).1, ["rail=path rail=shortest"]);
    }

    #[test]
    fn what_has_new_names_stays_and_what_is_given_twice_is_refused() {
        let new = json!({"switch": {"delay_ns": 5}, "rail": "fixed", "end_ns": 1.5});
        assert_eq!(renewed(new.clone()), (new, Vec::new()));
        let both = json!({"rails": "random", "rail": "fixed"});
        let refused = renew(&mut both.as_object().expect("a table").clone(), TABLE);
        assert_eq!(refused.expect_err("twice").param, "rail");
        let (joined, _) = renewed(json!({"router": {"a": 1}, "switch": {"b": 2}}));
        assert_eq!(joined, json!({"switch": {"b": 2, "a": 1}}));
    }
}
