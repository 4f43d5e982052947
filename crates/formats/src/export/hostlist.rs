//! Names as Slurm takes them: which ones it can, and many in one word, `host-[0000-0199]`.

use super::working::{WorkingHost, WorkingPlane};
use crate::hosts::{self, host, of_several_adapters, short};
use base::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Longest name of a switch or a block.
const MAX_NAME: usize = 64;
/// Most names that are written as one range; Slurm takes at most 65,536.
const MAX_RANGE: u64 = 50_000;
/// Most digits of a number in a range: Slurm's numbers are below 2^25.
const MAX_DIGITS: usize = 7;

/// What of an endpoint's name is the name of the node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(rename = "Names")]
#[serde(rename_all = "kebab-case")]
pub(super) enum NodeNameForm {
    /// What stands before the first blank: `node-7` of `node-7 HCA-1`.
    #[default]
    FirstWord,
    /// Of that word what stands before the first dot: `node-7` of `node-7.site.example HCA-1`.
    Short,
    /// All of it.
    Whole,
}

/// A node of Slurm.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlurmNode<'a> {
    pub(super) name: &'a str,
    /// Its endpoint, of several adapters the first that works.
    pub(super) host: WorkingHost,
}

impl NodeNameForm {
    /// The nodes of `w`, in the order of its endpoints.
    ///
    /// # Errors
    /// When Slurm cannot take a name, or two hosts have the same.
    pub(super) fn nodes<'a>(self, w: &WorkingPlane<'a>) -> Result<SlurmNodes<'a>, Refusal> {
        let several = match self {
            Self::FirstWord | Self::Short => of_several_adapters(w.t),
            Self::Whole => HashMap::new(),
        };
        let working: HashMap<u32, &WorkingHost> =
            w.hosts.iter().map(|h| (h.endpoint.0, h)).collect();
        let (mut all, mut spread) = (Vec::with_capacity(w.hosts.len()), Vec::new());
        let mut seen = HashSet::new();
        for own in &w.hosts {
            let whole = w.host_name(own);
            let word = if self == Self::Whole { whole } else { host(whole) };
            let name = if self == Self::Short { short(word) } else { word };
            let mut first = own;
            let mut is_spread = own.is_spread;
            if let Some(adapters) = several.get(word) {
                if !seen.insert(word) {
                    continue;
                }
                let mut adapters = adapters.iter().filter_map(|e| working.get(e));
                first = adapters.next().unwrap_or(&own);
                is_spread = first.is_spread || adapters.any(|a| a.at != first.at || a.is_spread);
            }
            if is_spread {
                spread.push(name);
            }
            all.push(SlurmNode { name, host: *first });
        }
        let names: Vec<&str> = all.iter().map(|node| node.name).collect();
        let advice = if self == Self::Whole { "; or names=first-word" } else { "" };
        check(&names, "endpoint", advice)?;
        let domain = names.iter().find(|name| short(name) != **name).copied();
        Ok(SlurmNodes { all, spread, domain })
    }
}

/// The nodes of a network.
pub(super) struct SlurmNodes<'a> {
    pub(super) all: Vec<SlurmNode<'a>>,
    /// Names of the nodes with cables to several switches.
    spread: Vec<&'a str>,
    /// The first name with a domain.
    domain: Option<&'a str>,
}

impl SlurmNodes<'_> {
    /// Lines for people: names with domains, and nodes that have cables to several switches, where
    /// in Slurm each is on one.
    pub(super) fn remark(&self) -> String {
        let names = self.domain.map_or_else(String::new, |name| {
            let short = short(name);
            format!(
                "# full names as {name}: names=short has {short}, as hostname -s in slurm.conf\n"
            )
        });
        names + &self.spread_remark()
    }

    fn spread_remark(&self) -> String {
        let who = match self.spread[..] {
            [] => return String::new(),
            [one] => format!("{one} has"),
            [one, two] => format!("{one} and {two} have"),
            [first, ..] => format!("{first} and {} more have", self.spread.len() - 1),
        };
        format!("# {who} cables to several switches: the switch of the first\n")
    }
}

/// Refuses names that Slurm cannot take, or takes for something else, and those that come twice.
pub(super) fn check(names: &[&str], what: &str, advice: &str) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for &name in names {
        let why = if let Some(why) = hosts::fault(name) {
            why
        } else if name.len() > MAX_NAME {
            format!("'{name}' has {} bytes", name.len())
        } else if name.eq_ignore_ascii_case("all") || name.eq_ignore_ascii_case("default") {
            format!("'{name}' means something else to Slurm")
        } else if !seen.insert(name) {
            format!("'{name}' comes twice")
        } else {
            continue;
        };
        let help = format!(
            "Slurm takes different names of up to {MAX_NAME} bytes: {}{advice}",
            hosts::NAMES
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

/// The ranges, as in `0000-0199,0300`, of numbers in ascending order; leading zeros stay.
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
        let long = "x".repeat(65);
        for bad in ["a b", "a[0]", "a,b", "", "ALL", "Default", "a#", "ä", "-a", ".", &long] {
            assert!(why(bad).is_err(), "{bad}");
        }
        assert!(why("node-7.rack_3").is_ok());
        assert!(check(&["a", "b", "a"], "endpoint", "").is_err());
    }
}
