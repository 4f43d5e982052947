//! Selections: which of the ways that a packet may take it takes.
//!
//! What ways there are is said by the candidates of `fabric`, and proved of them; here is only the
//! choice, by what can be seen of queues. One file for the ways in the form that hot loops read,
//! one for each kind of choice.

mod choices;
mod lane_use;
mod lists;
mod rail;
mod tables;
mod updown;
mod via;

pub use choices::Choices;
pub use lane_use::LaneUse;
pub use rail::Rail;
pub use tables::Layers;
pub use updown::NearestAncestor;
pub use via::{Detours, MOST_CLASSES};

use base::Refusal;
use fabric::size::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// A shortest way, at random where there are several; of tables, their ways, a layer at random.
    Minimal,
    /// Over a switch drawn for each packet (Valiant 1982).
    Valiant,
    /// Directly or over one of some drawn switches, by the queues at the source (UGAL-L).
    #[serde(alias = "adaptive")]
    UgalL,
    /// The same, by all queues on the way (UGAL-G).
    UgalG,
    /// As UGAL-L, and once more behind the first hop, in networks of groups while that is in the
    /// source's group (PAR).
    Par,
    /// On trees, up by the shorter of some drawn queues, then down (adaptive nearest common
    /// ancestor).
    Anca,
}

impl Selection {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Valiant => "valiant",
            Self::UgalL => "ugal_l",
            Self::UgalG => "ugal_g",
            Self::Par => "par",
            Self::Anca => "anca",
        }
    }

    /// Memory that its tables take at most, bytes: for each pair of switches hops, a port or the
    /// number of a list, and the lists, few where all switches are alike.
    pub fn table_bytes(self, size: &Size) -> f64 {
        let are_alike = size.sources <= 1.0;
        let a_pair = if are_alike && self != Self::UgalL { 4.0 } else { 8.0 };
        a_pair * size.switches * size.switches
    }
}

/// How much a selection looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Choosing {
    /// Ways that are drawn and compared: detours of UGAL, ports up of ANCA; 1 to 64.
    pub candidates: u32,
    /// UGAL goes directly where hops x queue of the direct way is at most this more than that of
    /// the best detour, flits x hops.
    pub threshold: i64,
}

impl Choosing {
    /// What `selection` looks at unless it is told: 4 detours (SC14), 2 ports up.
    pub fn usual(selection: Selection) -> Self {
        Self { candidates: if selection == Selection::Anca { 2 } else { 4 }, threshold: 0 }
    }

    /// Whether the numbers are in their ranges.
    ///
    /// # Errors
    /// When one is not.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=64).contains(&self.candidates) {
            let why = format!("{} is out of range", self.candidates);
            return Err(Refusal::new("choosing.candidates", why, "1 to 64"));
        }
        Ok(())
    }
}

impl Default for Choosing {
    fn default() -> Self {
        Self::usual(Selection::UgalL)
    }
}
