//! Names of switches as Slurm takes them.
//!
//! Tried with slurmctld 22.05: a blank, `,`, `[`, `]`, `#` and `"` end a name or mean a list, `\`
//! and control characters are refused to be sure; all others are part of it. Managed switches are
//! called `MF0;NAME:MODEL/UNIT`, and those of a chassis have one NAME.

use super::working::WorkingPlane;
use base::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// Longest name of a switch.
const MAX_NAME: usize = 128;

/// What of a switch's name is its name in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "SwitchNames")]
pub(super) enum SwitchNameForm {
    /// The name that a managed switch was given, else all of it, `_` for what cannot be; where that
    /// is several switches' name, with the unit, else the GUID, behind it.
    #[default]
    Short,
    /// All of it.
    Whole,
    /// What stands before the first blank.
    FirstWord,
}

fn is_good(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !",[]#\"\\".contains(c)
}

/// `leaf-1` and `U1` of `MF0;leaf-1:MQM8700/U1`; for other names the whole name, and no unit.
fn parts(name: &str) -> (&str, &str) {
    let managed = name.split_once(';').and_then(|(form, rest)| {
        let (given, model) = rest.rsplit_once(':')?;
        let unit = model.split_once('/').map_or("", |(_, unit)| unit);
        let is_form =
            form.strip_prefix("MF").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
        (is_form && !given.is_empty()).then_some((given, unit))
    });
    managed.unwrap_or((name, ""))
}

impl SwitchNameForm {
    /// The names of the switches of `w`, by their numbers. O(switches).
    ///
    /// # Errors
    /// When Slurm cannot take one of those that have `used`, or two of them have the same.
    pub(super) fn of(self, w: &WorkingPlane, used: &[bool]) -> Result<Vec<String>, Refusal> {
        let all = (0..w.switches.len()).map(|s| w.switch_name(s));
        let names: Vec<String> = match self {
            Self::Whole => all.map(str::to_owned).collect(),
            Self::FirstWord => {
                let first = |name: &str| name.split_whitespace().next().unwrap_or("").to_owned();
                all.map(first).collect()
            }
            Self::Short => short(w, used),
        };
        let mut seen = HashSet::new();
        for name in names.iter().zip(used).filter(|(_, used)| **used).map(|(name, _)| name) {
            let why = if name.is_empty() {
                "an empty name".to_owned()
            } else if name.len() > MAX_NAME {
                format!("'{name}' has {} bytes", name.len())
            } else if let Some(c) = name.chars().find(|c| !is_good(*c)) {
                format!("'{name}' has the character '{}'", c.escape_debug())
            } else if !seen.insert(name) {
                format!("'{name}' comes twice")
            } else {
                continue;
            };
            let help = format!(
                "Slurm takes different names of up to {MAX_NAME} bytes without blanks, commas, \
                 brackets, quotes and #; or switch-names=short"
            );
            return Err(Refusal::new("switch", why, help));
        }
        Ok(names)
    }
}

fn short(w: &WorkingPlane, used: &[bool]) -> Vec<String> {
    let plain =
        |text: &str| -> String { text.chars().map(|c| if is_good(c) { c } else { '_' }).collect() };
    let mut names: Vec<String> =
        (0..used.len()).map(|s| plain(parts(w.switch_name(s)).0)).collect();
    // names that several switches have get the unit, then the GUID
    for longer in [
        &(|s: usize| parts(w.switch_name(s)).1.replace('/', "-")) as &dyn Fn(usize) -> String,
        &|s| match w.t.switches()[w.switches[s].ix()].guid {
            Some(guid) => format!("{guid:016x}"),
            None => format!("switch-{s}"),
        },
    ] {
        let mut count: HashMap<String, usize> = HashMap::new();
        for (name, _) in names.iter().zip(used).filter(|(_, used)| **used) {
            *count.entry(name.clone()).or_default() += 1;
        }
        for (s, name) in names.iter_mut().enumerate() {
            let more = plain(&longer(s));
            if count.get(name).is_some_and(|count| *count > 1) && !more.is_empty() {
                *name = if name.is_empty() { more } else { format!("{name}-{more}") };
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_managed_switch_has_the_name_that_it_was_given() {
        for (name, expect) in [
            ("MF0;leaf-1:MQM8700/U1", ("leaf-1", "U1")),
            ("MF0;core:CS7520/L05/U1", ("core", "L05/U1")),
            ("MF12;a:b:SX6036/U1", ("a:b", "U1")),
            ("leaf-1", ("leaf-1", "")),
            ("Quantum Mellanox Technologies", ("Quantum Mellanox Technologies", "")),
            ("MF0;:MQM8700/U1", ("MF0;:MQM8700/U1", "")),
            ("MX;leaf:MQM8700/U1", ("MX;leaf:MQM8700/U1", "")),
        ] {
            assert_eq!(parts(name), expect, "{name}");
        }
    }
}
