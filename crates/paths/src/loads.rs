//! The loads of a run, as users write them: one number, several, a range, or `auto`.

use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest load that any network accepts: one flit per cycle on each of 64 rails.
pub const MOST_LOAD: f64 = 64.0;
/// The largest number of loads of one run.
const MOST: usize = 1000;

/// The loads at which a run simulates the network, in flits per endpoint and cycle.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum SimulationLoads {
    /// The run chooses loads until it has found where the network saturates.
    #[default]
    Auto,
    /// The given loads, each above 0 and at most 1; at most the number of rails where endpoints
    /// have several.
    At(Vec<f64>),
}

/// The forms in which a file may give loads.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "WrittenLoads")]
enum RawSimulationLoads {
    /// A single load.
    One(f64),
    /// A list of loads.
    Several(Vec<f64>),
    /// `0.5`, `0.1,0.2`, `0.1:1.0:0.1` or `auto`.
    Text(String),
}

impl SimulationLoads {
    /// Reads `0.5`, `0.1,0.2`, `0.1:1.0:0.1` (first, last, step; both ends count) or `auto`. The
    /// range of the numbers is checked by [`Self::check`].
    ///
    /// # Errors
    /// When the text has none of these forms.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let mut all = Vec::new();
        for part in text.split(',') {
            let bad = || {
                let why = format!("invalid load '{text}'");
                Refusal::new("load", why, "0.5, 0.1,0.2, 0.1:1.0:0.1 or auto")
            };
            let numbers: Result<Vec<f64>, _> =
                part.split(':').map(|word| word.trim().parse()).collect();
            match *numbers.map_err(|_| bad())? {
                [one] => all.push(one),
                [first, last, step] if step > 0.0 && first <= last => {
                    all.extend(range(part, first, last, step)?);
                }
                _ => return Err(bad()),
            }
        }
        Ok(Self::At(all))
    }

    /// Checks that there is at least one load and that `fits` is true for every load; `range` says
    /// in words for which loads it is.
    ///
    /// # Errors
    /// When there is none, one does not fit or is there twice, or there are too many.
    pub fn check(&self, fits: impl Fn(f64) -> bool, range: &str) -> Result<(), Refusal> {
        let Self::At(all) = self else { return Ok(()) };
        if all.is_empty() {
            return Err(Refusal::new("load", "there is none", range));
        }
        if let Some(x) = all.iter().find(|x| !fits(**x)) {
            return Err(out_of_range(*x, range));
        }
        if all.len() > MOST {
            return Err(Refusal::new(
                "load",
                format!("{} loads", all.len()),
                format!("{MOST} at most"),
            ));
        }
        let twice = all.iter().enumerate().find(|(i, load)| all[..*i].contains(load));
        twice.map_or(Ok(()), |(_, load)| {
            Err(Refusal::new("load", format!("{load} is there twice"), "each once"))
        })
    }
}

/// The range of loads of the flit level, in words.
pub const RANGE: &str = "above 0, at most 1 for each rail of an endpoint, or auto";

/// Whether some network accepts this load of the flit level.
pub fn fits_some(load: f64) -> bool {
    load > 0.0 && load <= MOST_LOAD
}

/// The refusal of a load that lies outside of `range`.
pub fn out_of_range(load: f64, range: &str) -> Refusal {
    Refusal::new("load", format!("{load} is out of range"), range)
}

/// The loads from `first` to `last` in steps of `step`, both ends included, rounded so that 0.1 + 2
/// * 0.1 is 0.3.
fn range(text: &str, first: f64, last: f64, step: f64) -> Result<Vec<f64>, Refusal> {
    let steps = (last - first) / step + 1e-9;
    if steps.is_nan() || steps >= MOST as f64 {
        let why = format!("invalid load '{text}', which is too many");
        return Err(Refusal::new("load", why, format!("{MOST} at most")));
    }
    let round = |x: f64| (x * 1e12).round() / 1e12;
    Ok((0..=steps as usize).map(|i| round(first + i as f64 * step)).collect())
}

impl<'de> Deserialize<'de> for SimulationLoads {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match RawSimulationLoads::deserialize(from)? {
            RawSimulationLoads::One(load) => Ok(Self::At(vec![load])),
            RawSimulationLoads::Several(all) => Ok(Self::At(all)),
            RawSimulationLoads::Text(text) => Self::parse(&text)
                .map_err(|r| serde::de::Error::custom(format!("{}; {}", r.why, r.help))),
        }
    }
}

impl Serialize for SimulationLoads {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::At(all) => match all[..] {
                [one] => to.serialize_f64(one),
                _ => all.serialize(to),
            },
        }
    }
}

impl JsonSchema for SimulationLoads {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Loads".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RawSimulationLoads::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn loads_are_read_as_they_are_written() {
        let of = |given: Value| serde_json::from_value::<SimulationLoads>(given).expect("loads");
        assert_eq!(of(json!("auto")), SimulationLoads::Auto);
        assert_eq!(of(json!(0.5)), SimulationLoads::At(vec![0.5]));
        assert_eq!(of(json!(1)), of(json!("1")));
        assert_eq!(of(json!("0.1,0.25")), SimulationLoads::At(vec![0.1, 0.25]));
        assert_eq!(of(json!("0.1:0.4:0.1")), SimulationLoads::At(vec![0.1, 0.2, 0.3, 0.4]));
        assert_eq!(of(json!("0.1:0.35:0.1, 0.9")), SimulationLoads::At(vec![0.1, 0.2, 0.3, 0.9]));
        for given in [json!("auto"), json!(0.5), json!([0.1, 0.2])] {
            assert_eq!(json!(of(given.clone())), given);
        }
    }

    fn refused(text: &str) -> Refusal {
        let loads = SimulationLoads::parse(text).and_then(|loads| loads.check(fits_some, RANGE));
        loads.expect_err(text)
    }

    #[test]
    fn what_cannot_be_a_load_is_refused() {
        for (text, expected) in [
            ("", "invalid load"),
            ("fast", "invalid load"),
            ("0.1:0.9", "invalid load"),
            ("0.9:0.1:0.1", "invalid load"),
            ("0", "0 is out of range"),
            ("64.5", "64.5 is out of range"),
            ("nan", "NaN is out of range"),
            ("0.5:64.5:1", "64.5 is out of range"),
            ("0.1:inf:0.1", "too many"),
            ("0.1:1:0.0001", "too many"),
        ] {
            let refused = refused(text);
            assert!(refused.param == "load" && refused.why.contains(expected), "{refused}");
        }
        let check = |all| SimulationLoads::At(all).check(fits_some, RANGE);
        assert!(check(Vec::new()).is_err());
        assert!(check((1..=MOST).map(|i| i as f64 / MOST as f64).collect()).is_ok());
        assert!(check(vec![0.5; MOST + 1]).is_err());
        let twice = check(vec![0.1, 0.3, 0.1]).expect_err("0.1 comes twice");
        assert_eq!(twice.to_string(), "load: 0.1 is there twice; each once");
    }
}
