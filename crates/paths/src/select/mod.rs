//! Selections: which of its possible paths a packet takes.
//!
//! The candidates of `fabric` are the paths that exist, and these are proved free of deadlock. A
//! selection only chooses among them, by the queues that it can see. One file holds the candidates
//! in the form that hot loops read, and each kind of choice has a file.

mod choices;
mod custom;
mod expression;
mod lane_use;
mod lists;
mod rail;
mod tables;
mod updown;
mod via;

pub use choices::PortChoices;
pub use custom::{CustomSelection, DecisionPoint, ScoredSelection, SelectionSpec};
pub use expression::QUANTITIES;
pub use lane_use::LaneUseRule;
pub use rail::RailSelection;
pub use tables::TableGuide;
pub use updown::AncestorGuide;
pub use via::{DetourGuide, MOST_CLASSES};

use base::Refusal;
use fabric::size::NetworkSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rule by which a packet chooses its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// A minimal path, at random where there are several; with forwarding tables their path, in a
    /// layer drawn at random.
    Minimal,
    /// Over an intermediate switch that is drawn for each packet (Valiant 1982).
    Valiant,
    /// The minimal path or a detour over one of several drawn switches, by the queues at the source
    /// (UGAL-L).
    #[serde(alias = "adaptive")]
    UgalL,
    /// The minimal path or a detour over one of several drawn switches, by all queues on the path
    /// (UGAL-G).
    UgalG,
    /// As UGAL-L, with a second choice behind the first hop; in networks of groups only while the
    /// packet is in the group of its source (PAR).
    Par,
    /// On trees: up by the port with the shorter of several drawn queues, then down (adaptive
    /// nearest common ancestor).
    Anca,
    /// The candidate with the lowest score, which is an expression of the user's:
    /// `custom score=hops*queue detours=4`.
    Custom,
}

impl Selection {
    /// The name of the selection in files and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Valiant => "valiant",
            Self::UgalL => "ugal_l",
            Self::UgalG => "ugal_g",
            Self::Par => "par",
            Self::Anca => "anca",
            Self::Custom => "custom",
        }
    }

    /// Upper bound of the memory of the selection's tables, in bytes. For each pair of switches
    /// they have the hops, and a port or the number of a list. In addition there are the lists;
    /// they are few where all switches are equivalent.
    pub fn table_bytes(self, size: &NetworkSize) -> f64 {
        let are_alike = size.sources <= 1.0;
        let a_pair = if are_alike && self != Self::UgalL { 4.0 } else { 8.0 };
        a_pair * size.switches * size.switches
    }
}

/// The numbers that a selection is tuned by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectionParams {
    /// Paths that are drawn and compared: detours of UGAL, ports up of ANCA; 1 to 64.
    pub candidates: u32,
    /// UGAL takes the minimal path where its hops x queue exceeds that of the best detour by at
    /// most this, in flits x hops; 0 where it is not given. Where it is, `least_queue` is 0 unless
    /// that is given too.
    pub threshold: Option<i64>,
    /// A detour is taken only where more than this number of flits is queued for the minimal path;
    /// packets at the packet level. By default half of what a cable of the network has in flight at
    /// its full rate, at least 4 and the length of a packet, at most half of a buffer.
    pub least_queue: Option<u32>,
}

/// The default of `least_queue`: no detour unless more than this number of flits is queued for the
/// minimal path.
///
/// Flits whose credits have not returned count as queued, and a port without any contention has a
/// few of them. `docs/pictures/adaptive_thresholds.py` compares numbers. Other programs: BookSim's
/// dragonfly takes the minimal path where its queue is at most twice that of the detour and 30
/// flits, its flattened butterfly where hops x queue is at most 2 larger; CODES' dragonflies where
/// at most `adaptive_threshold` bytes wait for it.
pub const LEAST_QUEUE: u32 = 4;

impl SelectionParams {
    /// The defaults for a selection: 4 detours (SC14), 2 ports up for ANCA.
    pub fn usual(selection: Selection) -> Self {
        let candidates = if selection == Selection::Anca { 2 } else { 4 };
        Self { candidates, threshold: None, least_queue: None }
    }

    /// The same parameters with `least_queue` filled in where it is not given. `in_flight` is the
    /// number of flits between the departure of a flit and the return of its credit, and `buffer`
    /// that of a buffer. The result is half of `in_flight`, at least `least`, at most half of
    /// `buffer`.
    #[must_use]
    pub fn on_cables(self, in_flight: u32, least: u32, buffer: u32) -> Self {
        if self.threshold.is_some() {
            return self;
        }
        let usual = (in_flight / 2).max(least).min((buffer / 2).max(1));
        Self { least_queue: self.least_queue.or(Some(usual)), ..self }
    }

    /// The same parameters with the numbers that are used where none is given.
    #[must_use]
    pub fn written_out(self) -> Self {
        let usual = if self.threshold.is_some() { 0 } else { LEAST_QUEUE };
        let least_queue = self.least_queue.or(Some(usual));
        Self { threshold: Some(self.margin()), least_queue, ..self }
    }

    /// Whether the queue for the minimal path is so short that no detour is taken.
    #[inline]
    pub(super) fn is_short(&self, queue: u64) -> bool {
        let usual = if self.threshold.is_some() { 0 } else { LEAST_QUEUE };
        queue <= u64::from(self.least_queue.unwrap_or(usual))
    }

    /// The least difference in flits x hops by which a detour must be better.
    #[inline]
    pub(super) fn margin(&self) -> i64 {
        self.threshold.unwrap_or(0)
    }

    /// Checks that the parameters are in their ranges.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn check(&self) -> Result<(), Refusal> {
        if !(1..=64).contains(&self.candidates) {
            let why = format!("{} is out of range", self.candidates);
            return Err(Refusal::new("choosing.candidates", why, "1 to 64"));
        }
        Ok(())
    }
}

impl Default for SelectionParams {
    fn default() -> Self {
        Self::usual(Selection::UgalL)
    }
}
