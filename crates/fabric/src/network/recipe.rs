//! The recipe of a network, and the text in which people write it.

use base::Refusal;
use base::amount::whole_amount;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The recipe of a network: a family with its parameters, or a file.
///
/// Displays as the inline form, `slim_fly:q=5,p=4`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkRecipe {
    /// The family's name, or `file`.
    pub family: String,
    /// The family's parameters as the user would write them.
    pub params: Map<String, Value>,
}

impl NetworkRecipe {
    /// Whether the network was read from a file of a fabric. The parameters `keep`, `only` and
    /// `adapters` choose among the devices of such a file.
    pub fn is_of_fabric(&self) -> bool {
        self.family == "file" && self.asked("format") == Some("ibnetdiscover")
    }

    /// The value of a parameter where that is a word; `None` where it is missing or no word.
    pub fn asked(&self, key: &str) -> Option<&str> {
        self.params.get(key).and_then(Value::as_str)
    }
}

impl fmt::Display for NetworkRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.family)?;
        // the parameter `of` takes the rest of the text, so it comes last
        let given = self.params.iter().filter(|(k, v)| !v.is_null() && *k != "of");
        let of = self.params.get_key_value("of").into_iter();
        for (i, (key, value)) in given.chain(of).enumerate() {
            f.write_str(if i == 0 { ":" } else { "," })?;
            match value {
                Value::String(s) => write!(f, "{key}={s}")?,
                Value::Array(items) => {
                    let items: Vec<String> = items.iter().map(Value::to_string).collect();
                    write!(f, "{key}={}", items.join("x"))?;
                }
                other => write!(f, "{key}={other}")?,
            }
        }
        Ok(())
    }
}

/// Parses the text form of a part: `name key=value key=value`, or `name:key=value,key=value`, which
/// is one word.
///
/// A value is an integer, a shape (`8x8x4`), or a word. The value of `of` is a network itself and
/// takes the rest of the text: `multi_plane:planes=2,of=slim_fly:q=5,p=4`.
///
/// # Errors
/// When a part has no `=` or a key occurs twice. The rules of the family are not checked.
pub fn parse_inline(text: &str) -> Result<NetworkRecipe, Refusal> {
    let text = text.trim();
    let end = text.find(|c: char| c == ':' || c.is_whitespace()).unwrap_or(text.len());
    let (family, rest) = text.split_at(end);
    let blanks = rest.starts_with(char::is_whitespace).then(|| rest.split_whitespace());
    let commas = blanks.is_none().then(|| parts(rest.strip_prefix(':').unwrap_or(rest)));
    let mut params = Map::new();
    let mut last: Option<(&str, String)> = None;
    for part in blanks.into_iter().flatten().chain(commas.into_iter().flatten()) {
        let (key, value) = part.split_once('=').ok_or_else(|| {
            if let Some((key, value)) = &last
                && part.starts_with(|c: char| c.is_ascii_digit())
            {
                let why = format!("'{value},{part}': commas part parameters");
                return Refusal::new(*key, why, format!("write {key}={value}x{part}"))
                    .within(family);
            }
            Refusal::new(
                family,
                format!("'{part}' is no parameter"),
                "write key=value, as in slim_fly:q=5,p=4",
            )
        })?;
        let (key, value) = (key.trim(), value.trim());
        last = Some((key, value.to_owned()));
        let old = params.insert(key.to_owned(), parse_value(value));
        if old.is_some() {
            return Err(Refusal::new(
                family,
                format!("{key} is given twice"),
                "give each parameter once",
            ));
        }
    }
    Ok(NetworkRecipe { family: family.trim().to_owned(), params })
}

/// The parameters of an inline form, which commas separate. Commas behind `of=` do not: the network
/// that it names has parameters of its own.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([',', ' ']);
        let of = rest.starts_with("of=");
        let end = if of { rest.len() } else { rest.find(',').unwrap_or(rest.len()) };
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then(|| part.trim())
    })
}

fn parse_value(text: &str) -> Value {
    if let Some(n) = text.parse().ok().or_else(|| whole_amount(text)) {
        return n.into();
    }
    if let Some(items) = text.split('x').map(|i| i.parse::<u32>().ok()).collect::<Option<Vec<_>>>()
    {
        return items.into();
    }
    match text {
        "true" => true.into(),
        "false" => false.into(),
        // JSON has no word for `nan` and `inf`; they would become null, which means that nothing is
        // given
        _ => text.parse().ok().filter(|x: &f64| x.is_finite()).map_or(text.into(), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_inline, parse_value};

    #[test]
    fn large_numbers_have_units() {
        for (text, number) in [("64KiB", 65_536), ("1.5M", 1_500_000), ("2e6", 2_000_000)] {
            assert_eq!(parse_value(text), number, "{text}");
        }
        for text in ["k", "4B", "9223372036854775807k"] {
            assert_eq!(parse_value(text), text, "{text}");
        }
    }

    #[test]
    fn both_text_forms_say_the_same() {
        for (words, word) in [
            ("slim_fly q=5 p=4", "slim_fly:q=5,p=4"),
            ("  torus   shape=4x4  p=1 ", "torus:shape=4x4,p=1"),
            ("alltoall", "alltoall"),
            ("alltoall", "alltoall:"),
        ] {
            let [one, other] = [words, word].map(|text| parse_inline(text).expect(text));
            assert_eq!((&one.family, &one.params), (&other.family, &other.params), "{words}");
        }
        for wrong in ["slim_fly q", "slim_fly q=5 q=7", "slim_fly q=5 4"] {
            let refused = parse_inline(wrong).expect_err(wrong);
            assert!(refused.param.starts_with("slim_fly"), "{refused}");
        }
    }
}
