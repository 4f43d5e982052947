//! Proof that tables are right, for tables of any origin: every verdict comes with its evidence.
//!
//! A verdict that holds carries a witness that other, simpler code can check again
//! ([`checker::recheck`]); one that fails carries a counterexample a person can follow.

use base::{Interrupted, Watch};
use fabric::tables::Routing;

mod alike;
pub mod certificate;
pub mod checker;
pub mod complete;
pub mod deadlock;
pub mod faults;
pub mod lane_use;
pub mod proof;
pub mod scheme;
mod verdict;
mod verified;

pub use verdict::Verdict;
pub use verified::Verified;

/// What routes must stay within.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most links between switches that a route may take.
    pub hops: u32,
    /// The data lanes that there are.
    pub lanes: u8,
}

impl Limits {
    /// As many hops as it takes, and all fifteen data lanes of InfiniBand.
    pub const NONE: Self = Self { hops: u32::MAX, lanes: 15 };

    /// The same lanes, and at most so many hops.
    #[must_use]
    pub fn hops(self, hops: u32) -> Self {
        Self { hops, ..self }
    }
}

/// The standard verdicts on one routing.
#[derive(Debug, Clone)]
pub struct Verification {
    /// Every terminal is reached from every switch with endpoints, without loops, within the limit.
    pub complete: Verdict<complete::Reach, complete::Break>,
    /// The same from every other switch and to every switch: what management packets need. It does
    /// not count for [`Verification::holds`]; up*/down* routing leaves such routes out by design.
    pub management: Verdict<u64, complete::Break>,
    /// No set of packets can wait for one another in a circle; `None` when routes are incomplete.
    pub deadlock: Option<Verdict<deadlock::Numbering, deadlock::Cycle>>,
    /// Whether the separate checker accepts the numbering; `None` when there is none.
    pub rechecked: Option<Result<(), String>>,
    /// No route leaves the lanes that there are; `None` when routes are incomplete.
    pub lanes: Option<Verdict<u8, lane_use::Excess>>,
}

impl Verification {
    /// Whether every verdict holds and the separate checker agrees.
    pub fn holds(&self) -> bool {
        self.complete.holds()
            && self.deadlock.as_ref().is_some_and(Verdict::holds)
            && matches!(self.rechecked, Some(Ok(())))
            && self.lanes.as_ref().is_some_and(Verdict::holds)
    }
}

/// Checks `routing` for completeness, deadlock, and that it stays within `limits`.
///
/// O(hops of all routes + dependencies).
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn verify(
    routing: &Routing,
    limits: Limits,
    watch: &dyn Watch,
) -> Result<Verification, Interrupted> {
    let (complete, management) = complete::check(routing, limits.hops, watch)?;
    let mut found =
        Verification { complete, management, deadlock: None, rechecked: None, lanes: None };
    if !found.complete.holds() {
        return Ok(found);
    }
    let deadlock = deadlock::check(routing, watch)?;
    if let Verdict::Holds(numbering) = &deadlock {
        found.rechecked = Some(checker::recheck(routing, numbering, watch)?);
    }
    found.deadlock = Some(deadlock);
    found.lanes = Some(lane_use::within(routing, limits.lanes, watch)?);
    Ok(found)
}
