//! Finds the place in the text of an experiment that a refusal is about.

use base::Refusal;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The name of the file, with the line and column of byte `at` of its text.
pub(crate) fn at(text: &str, file: &str, at: usize) -> String {
    let before = &text[..at.min(text.len())];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{file}: line {line}, column {column}")
}

/// The top-level key whose value contains byte `at` of the text.
pub(crate) fn key_over(text: &str, at: usize) -> Option<String> {
    let whole = DeTable::parse(text).ok()?;
    let over = |span: Range<usize>| span.start <= at && at < span.end.max(span.start + 1);
    let entry = whole.get_ref().iter().find(|(key, value)| over(key.span()) || over(value.span()));
    entry.map(|(key, _)| key.get_ref().to_string())
}

/// Adds the line and column of the key that a refusal names, in the text of `file`.
///
/// The key is the unknown field, or the last of the words in the refusal's parameter that is a key.
/// Of several keys with this name, the one with most of the other words above it is taken, and a
/// key of a sweep before one that it replaces. O(keys).
pub fn placed(mut refused: Refusal, text: &str, file: &str) -> Refusal {
    let Some(rest) = refused.param.strip_prefix(file) else { return refused };
    if rest.starts_with(": line ") {
        return refused;
    }
    let Ok(whole) = DeTable::parse(text) else { return refused };
    let mut keys = Vec::new();
    let mut above = Vec::new();
    gather(whole.get_ref(), &mut above, &mut keys);
    let unknown = refused.why.split_once("unknown field `").and_then(|(_, e)| e.split_once('`'));
    let words = rest.split(": ").flat_map(|word| word.split('.')).map(str::trim);
    let words: Vec<&str> =
        words.chain(unknown.map(|(name, _)| name)).filter(|word| !word.is_empty()).collect();
    for (i, word) in words.iter().enumerate().rev().filter(|(_, w)| !w.starts_with("point ")) {
        let fits = |key: &&KeyLocation| key.path.last().is_some_and(|last| last == word);
        let score = |key: &&KeyLocation| {
            let outer = &key.path[..key.path.len() - 1];
            let shared = words[..i].iter().filter(|w| outer.iter().any(|o| o == *w)).count();
            (shared, outer.iter().any(|o| o == "sweep"), usize::MAX - key.span.start)
        };
        if let Some(key) = keys.iter().filter(fits).max_by_key(score) {
            refused.param = at(text, file, key.span.start) + rest;
            return refused;
        }
    }
    refused
}

/// Refuses the first value of `text` that no parameter takes, with its place in `file`: TOML has
/// `nan`, `inf` and dates. In JSON the first two would become null, which means "not given".
///
/// # Errors
/// The refusal of that value. O(values).
pub(crate) fn plain(text: &str, file: &str) -> Result<(), Refusal> {
    let Ok(whole) = DeTable::parse(text) else { return Ok(()) };
    plain_table(whole.get_ref(), &mut Vec::new()).map_err(|(span, key, why)| {
        let help = "a finite number, text, true, false, a list or a table";
        Refusal::new(key, why, help).within(&at(text, file, span.start))
    })
}

/// An invalid value: where it stands, its dotted key, and what is wrong with it.
type InvalidValue = (Range<usize>, String, String);

fn plain_table(table: &DeTable<'_>, above: &mut Vec<String>) -> Result<(), InvalidValue> {
    for (key, value) in table {
        above.push(key.get_ref().to_string());
        plain_value(value.get_ref(), value.span(), above)?;
        above.pop();
    }
    Ok(())
}

fn plain_value(
    value: &DeValue<'_>,
    span: Range<usize>,
    above: &mut Vec<String>,
) -> Result<(), InvalidValue> {
    let why = match value {
        DeValue::Float(number) if number.as_str().parse().is_ok_and(f64::is_finite) => {
            return Ok(());
        }
        DeValue::Float(number) => format!("{number} is no finite number"),
        DeValue::Datetime(date) => format!("{date} is a date"),
        DeValue::Table(table) => return plain_table(table, above),
        DeValue::Array(items) => {
            return items
                .iter()
                .try_for_each(|item| plain_value(item.get_ref(), item.span(), above));
        }
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Boolean(_) => return Ok(()),
    };
    Err((span, above.join("."), why))
}

/// The place of a key in the file, with the keys above it.
struct KeyLocation {
    path: Vec<String>,
    span: Range<usize>,
}

/// Collects every key of a table and of the tables in it. `"routing.engine"` counts as two keys,
/// one inside the other; the keys of entry i of a list are below a word such as `point 1`.
fn gather(table: &DeTable<'_>, above: &mut Vec<String>, keys: &mut Vec<KeyLocation>) {
    for (key, value) in table {
        let depth = above.len();
        above.extend(key.get_ref().split('.').map(str::to_owned));
        keys.push(KeyLocation { path: above.clone(), span: key.span() });
        match value.get_ref() {
            DeValue::Table(inner) => gather(inner, above, keys),
            DeValue::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    if let DeValue::Table(inner) = item.get_ref() {
                        above.push(format!("{} {}", key.get_ref(), i + 1));
                        gather(inner, above, keys);
                        above.pop();
                    }
                }
            }
            _ => {}
        }
        above.truncate(depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = \"x\"\n[ebb]\n  seed = 1\n[routing]\nseed = 2\n[sweep.grid]\n\
        \"routing.layers\" = [1]\n[[point]]\na = { colour = 1 }\n[[point]]\na = { colour = 2 }\n";

    fn place(param: &str, why: &str) -> String {
        placed(Refusal::new(format!("f.toml{param}"), why, ""), TEXT, "f.toml").param
    }

    #[test]
    fn what_json_has_no_word_for_is_found_at_its_place() {
        let refused = |text: &str| {
            let Refusal { param, why, .. } = plain(text, "f.toml").expect_err(text);
            (param, why)
        };
        let expected = |param: &str, why: &str| (param.to_owned(), why.to_owned());
        let text = "a = 1.5\n[sim.flit]\nload = [0.1, nan]\n";
        let why = "nan is no finite number";
        assert_eq!(refused(text), expected("f.toml: line 3, column 14: sim.flit.load", why));
        let text = "[[point]]\nb = 1\n[[point]]\nc = { d = -inf }\n";
        let why = "-inf is no finite number";
        assert_eq!(refused(text), expected("f.toml: line 4, column 11: point.c.d", why));
        let why = "2026-11-27 is a date";
        assert_eq!(refused("p = 2026-11-27"), expected("f.toml: line 1, column 5: p", why));
        assert!(plain("a = [1, 2.5e3, \"nan\", true]\n[b]\nc = {}\n", "f.toml").is_ok());
    }

    #[test]
    fn the_key_below_the_named_tables_is_meant() {
        assert_eq!(place(": ebb: seed", "bad"), "f.toml: line 3, column 3: ebb: seed");
        let unknown = "unknown field `seed`, expected";
        assert_eq!(
            place(": routing: dfsssp", unknown),
            "f.toml: line 5, column 1: routing: dfsssp"
        );
        assert_eq!(place(": routing", "bad"), "f.toml: line 4, column 2: routing");
        assert_eq!(place(": routing.layers", "0"), "f.toml: line 7, column 1: routing.layers");
        assert_eq!(
            place(": point 2: a", "unknown field `colour`"),
            "f.toml: line 11, column 7: point 2: a"
        );
        assert_eq!(place(": nowhere", "bad"), "f.toml: nowhere");
        assert_eq!(place("", "bad"), "f.toml");
    }
}
