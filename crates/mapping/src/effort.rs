//! What is to be small, and how much is tried for it.

use base::Refusal;
use base::words::did_you_mean;

/// What is to be small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// The maximum congestion, with hop-bytes near to the least found.
    Congestion,
    /// Hop-bytes.
    Hops,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// At most a tenth of a second for some 1,200 processes.
    Fast,
    /// About half a second.
    Normal,
    /// Many runs on all processors.
    Best,
}

impl Objective {
    /// All, with the names users type; the first is the usual one.
    pub const ALL: [(&str, Self); 2] = [("congestion", Self::Congestion), ("hops", Self::Hops)];

    /// That of a name; `param` is where it was given.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn named(param: &str, name: &str) -> Result<Self, Refusal> {
        named(param, name, &Self::ALL)
    }
}

impl Effort {
    /// All, with the names users type.
    pub const ALL: [(&str, Self); 3] =
        [("fast", Self::Fast), ("normal", Self::Normal), ("best", Self::Best)];

    /// That of a name; `param` is where it was given.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn named(param: &str, name: &str) -> Result<Self, Refusal> {
        named(param, name, &Self::ALL)
    }
}

fn named<T: Copy>(param: &str, name: &str, all: &[(&str, T)]) -> Result<T, Refusal> {
    all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(known, _)| *known).collect();
        let near = did_you_mean(name, names.iter().copied());
        Refusal::new(param, format!("there is no {name:?}"), format!("{near}{}", names.join(", ")))
    })
}
