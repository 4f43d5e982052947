//! Names as Slurm takes them: which ones it can, and many in one word, `host-[0000-0199]`.

use super::working::Working;
use base::Refusal;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Longest name of a switch or a block.
const MAX_NAME: usize = 64;
/// Most names of one range: Slurm takes 65,536.
const MAX_RANGE: u64 = 50_000;
/// Longest number that ranges are made of: Slurm's are below 2^25.
const MAX_DIGITS: usize = 7;

/// What of an endpoint's name is the name of the node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Names {
    /// All of it.
    #[default]
    Whole,
    /// What stands before the first blank: `node-7` of `node-7 HCA-1`.
    FirstWord,
}

impl Names {
    /// The node names of the endpoints of `w`, in their order.
    ///
    /// # Errors
    /// When Slurm cannot take one, or two endpoints have the same.
    pub(super) fn of_hosts<'a>(self, w: &Working<'a>) -> Result<Vec<&'a str>, Refusal> {
        let name = |host| match self {
            Self::Whole => w.host_name(host),
            Self::FirstWord => w.host_name(host).split_whitespace().next().unwrap_or_default(),
        };
        let names: Vec<&str> = w.hosts.iter().map(name).collect();
        let way_out = if self == Self::Whole { "; or names=first-word" } else { "" };
        let way_out = if self == Self::FirstWord && has_twice(&names) {
            "; --adapters joined or first reads a fabric with one endpoint a host"
        } else {
            way_out
        };
        check(&names, "endpoint", way_out)?;
        Ok(names)
    }
}

fn has_twice(names: &[&str]) -> bool {
    let mut seen = HashSet::new();
    names.iter().any(|name| !seen.insert(name))
}

/// Refuses names that Slurm cannot take, or takes for something else, and those that come twice.
pub(super) fn check(names: &[&str], what: &str, way_out: &str) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    for &name in names {
        let why = if name.is_empty() {
            "an empty name".to_owned()
        } else if name.len() > MAX_NAME {
            format!("'{name}' has {} bytes", name.len())
        } else if let Some(c) = name.chars().find(|c| !good(*c)) {
            format!("'{name}' has the character '{c}'")
        } else if name.eq_ignore_ascii_case("all") || name.eq_ignore_ascii_case("default") {
            format!("'{name}' means something else to Slurm")
        } else if !seen.insert(name) {
            format!("'{name}' comes twice")
        } else {
            continue;
        };
        let help = format!(
            "Slurm takes different names of up to {MAX_NAME} letters, digits, '-', '_' and '.'\
             {way_out}"
        );
        return Err(Refusal::new(what, why, help));
    }
    Ok(())
}

/// All names in one word of Slurm's hostlists: numbers at the end that follow each other are one
/// range. Names of one beginning stand where the first of them stood. O(names).
pub(super) fn compressed(names: &[&str]) -> String {
    let mut order: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut place: HashMap<&str, usize> = HashMap::new();
    for &name in names {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        if digits.is_empty() || digits.len() > MAX_DIGITS || stem.is_empty() {
            order.push((name, Vec::new()));
            continue;
        }
        let at = *place.entry(stem).or_insert(order.len());
        if at == order.len() {
            order.push((stem, Vec::new()));
        }
        order[at].1.push(digits);
    }
    let words: Vec<String> = order
        .iter()
        .map(|(stem, digits)| match digits[..] {
            [] => (*stem).to_owned(),
            [one] => format!("{stem}{one}"),
            _ => format!("{stem}[{}]", ranges(digits)),
        })
        .collect();
    words.join(",")
}

/// `0000-0199,0300` of numbers as they are written, in ascending order.
fn ranges(digits: &[&str]) -> String {
    let number = |d: &str| d.parse::<u64>().unwrap_or(0);
    let mut sorted: Vec<(usize, u64)> = digits.iter().map(|d| (d.len(), number(d))).collect();
    sorted.sort_unstable();
    let mut runs: Vec<(usize, u64, u64)> = Vec::new();
    for (width, n) in sorted {
        match runs.last_mut() {
            Some((w, first, last)) if *w == width && *last + 1 == n && n - *first < MAX_RANGE => {
                *last = n;
            }
            _ => runs.push((width, n, n)),
        }
    }
    let run = |(w, first, last): &(usize, u64, u64)| {
        if first == last { format!("{first:0w$}") } else { format!("{first:0w$}-{last:0w$}") }
    };
    runs.iter().map(run).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_are_one_range() {
        let of = |names: &[&str]| compressed(names);
        assert_eq!(of(&["h-0001", "h-0000", "h-0002"]), "h-[0000-0002]");
        assert_eq!(of(&["h8", "h9", "h10", "h12"]), "h[8-9,10,12]");
        assert_eq!(of(&["h08", "h09", "h10"]), "h[08-10]");
        assert_eq!(of(&["a-0-1", "a-1-0", "a-0-0", "b", "7"]), "a-0-[0-1],a-1-0,b,7");
        assert_eq!(of(&["h123456789", "h123456788"]), "h123456789,h123456788");
    }

    #[test]
    fn a_name_without_a_number_is_not_the_beginning_of_another() {
        assert_eq!(compressed(&["h1", "h", "h2"]), "h[1-2],h");
    }

    #[test]
    fn names_that_slurm_cannot_take_are_named() {
        let why = |name: &str| check(&[name], "endpoint", "").map_err(|r| r.to_string());
        for bad in ["a b", "a[0]", "a,b", "", "ALL", "Default", "a#", "ä", &"x".repeat(65)] {
            assert!(why(bad).is_err(), "{bad}");
        }
        assert!(why("node-7.rack_3").is_ok());
        assert!(check(&["a", "b", "a"], "endpoint", "").is_err());
    }
}
