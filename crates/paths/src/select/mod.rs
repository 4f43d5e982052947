//! Selections: which of its possible paths a packet takes.
//!
//! The candidates of `fabric` are the paths that exist, and these are proved free of deadlock. A
//! selection only chooses among them, by the queues that it can see. One file holds the candidates
//! in the form that hot loops read, and each selection has a file.
//!
//! To add a selection, put a file with its `ENTRY` and its function beside this one; `cargo xtask
//! gen` adds it to the list.

#[macro_use]
mod table;
mod candidate_paths;
mod choices;
mod expression;
mod kind;
mod lane_use;
mod lists;
mod rail;
mod scored;
mod tables;
mod via;
// The selection of docs/adding-a-selection-in-rust.md, under a name that does not collide with it
// once added.
#[cfg(test)]
#[path = "../../../../docs/parts/short_detours.rs"]
#[allow(unreachable_pub, reason = "it is public where it is in the list")]
mod page_short_detours;

// gen:begin
mod anca;
mod custom;
mod minimal;
mod par;
mod ugal_g;
mod ugal_l;
mod valiant;

// All selections, by file; written by `cargo xtask gen`.
selections! {
    Anca: anca;
    Custom: custom;
    Minimal: minimal;
    Par: par;
    UgalG: ugal_g;
    UgalL: ugal_l;
    Valiant: valiant;
}
// gen:end

pub use anca::CommonAncestorGuide;
pub use candidate_paths::CandidatePaths;
pub use choices::PortChoicesByDestination;
pub use expression::QUANTITIES;
pub use kind::PathSelectionEntry;
pub use lane_use::LaneUseRule;
pub use rail::RailSelection;
pub use scored::{
    CompiledCustomSelection, CustomSelectionParameters, PathDecisionPoint, PathSelectionSpec,
};
pub use tables::ForwardingTableGuide;
pub use via::{DetourGuide, MOST_CLASSES};

use base::Refusal;
use fabric::size::NetworkSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

impl PathSelection {
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
#[schemars(rename = "SelectionParams")]
pub struct PathSelectionParameters {
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

impl PathSelectionParameters {
    /// The defaults for a selection: 4 detours (SC14), 2 ports up for ANCA.
    pub fn usual(selection: PathSelection) -> Self {
        Self { candidates: selection.entry().candidates, threshold: None, least_queue: None }
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

impl Default for PathSelectionParameters {
    fn default() -> Self {
        Self::usual(PathSelection::UgalL)
    }
}
