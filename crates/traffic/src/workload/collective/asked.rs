//! The parameters of an algorithm, as they are given.

use super::{Entry, MOST_BYTES};
use base::Refusal;
use base::words::did_you_mean;
use serde_json::{Map, Value};

/// A parameter of an algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its value where none is given.
    pub default: u64,
    /// Its least value and its largest.
    pub range: (u64, u64),
}

/// The rank that has, or gets, the data.
pub(super) const ROOT: Key = Key {
    name: "root",
    doc: "the rank that has or gets the data",
    default: 0,
    range: (0, MOST_RANKS),
};

const MOST_RANKS: u64 = 1 << 24;

/// Values of the parameters.
#[derive(Debug)]
pub struct Asked<'a> {
    /// How many ranks.
    pub ranks: u32,
    /// Bytes: see [`super::make`].
    pub bytes: u64,
    own: &'a Map<String, Value>,
    keys: &'static [Key],
}

impl<'a> Asked<'a> {
    /// Checks what is given.
    ///
    /// # Errors
    /// When a parameter is unknown, missing or out of range.
    pub(super) fn new(given: &'a Map<String, Value>, of: &Entry) -> Result<Self, Refusal> {
        let own = of.keys.iter().map(|key| key.name);
        let names: Vec<&str> = ["ranks", "bytes"].into_iter().chain(own).collect();
        if let Some(strange) = given.keys().find(|key| !names.contains(&key.as_str())) {
            let near = did_you_mean(strange, names.iter().copied());
            let help = format!("{near}{}", names.join(", "));
            return Err(Refusal::new(strange, "there is no such parameter", help));
        }
        let barrier = of.operation == super::Operation::Barrier;
        let bytes = whole(given, "bytes", barrier.then_some(1), (0, MOST_BYTES))?;
        let ranks = whole(given, "ranks", None, (1, MOST_RANKS))? as u32;
        Ok(Self { ranks, bytes, own: given, keys: of.keys })
    }

    /// The value of one of its own parameters.
    ///
    /// # Errors
    /// When it is out of range.
    ///
    /// # Panics
    /// When the algorithm has no such key.
    pub(super) fn own(&self, name: &str) -> Result<u64, Refusal> {
        let key = self.keys.iter().find(|key| key.name == name).expect("it has this key");
        whole(self.own, name, Some(key.default), key.range)
    }

    /// The root, which must be one of the ranks.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn root(&self) -> Result<u32, Refusal> {
        let root = self.own("root")?;
        if root < u64::from(self.ranks) {
            return Ok(root as u32);
        }
        let help = format!("0 to {}", self.ranks - 1);
        Err(Refusal::new("root", format!("{root} is no rank"), help))
    }
}

fn whole(
    given: &Map<String, Value>,
    name: &str,
    default: Option<u64>,
    (least, most): (u64, u64),
) -> Result<u64, Refusal> {
    let help = format!("a whole number, {least} to {most}");
    match (given.get(name), default) {
        (None, Some(default)) => Ok(default),
        (None, None) => Err(Refusal::new(name, "it is not given", help)),
        (Some(value), _) => match value.as_u64().filter(|n| (least..=most).contains(n)) {
            Some(n) => Ok(n),
            None => Err(Refusal::new(name, format!("{value}"), help)),
        },
    }
}
