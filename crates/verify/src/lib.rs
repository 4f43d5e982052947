//! Proofs that routing tables of any origin are correct: every verdict comes with its evidence.
//!
//! A verdict that holds carries a witness that other, simpler code can check again
//! ([`checker::recheck`]). A verdict that fails carries a counterexample that a person can follow.

use base::{Interrupted, ProgressWatch};
use fabric::tables::Routing;

pub mod certificate;
pub mod checker;
pub mod complete;
pub mod deadlock;
pub mod faults;
mod lane_partition;
pub mod lane_use;
pub mod proof;
pub mod scheme;
mod verdict;
mod verified;

pub use verdict::Verdict;
pub use verified::VerifiedRouting;

/// Limits that routes must respect: hops and lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RouteLimits {
    /// The most links between switches that a route may take.
    pub hops: u32,
    /// The number of data lanes that the hardware has.
    pub lanes: u8,
}

impl RouteLimits {
    /// No limit on hops, and all fifteen data lanes of InfiniBand.
    pub const NONE: Self = Self { hops: u32::MAX, lanes: 15 };

    /// The same limit on lanes, with at most `hops` hops.
    #[must_use]
    pub fn hops(self, hops: u32) -> Self {
        Self { hops, ..self }
    }
}

/// The standard verdicts on one routing.
#[derive(Debug, Clone)]
pub struct VerificationVerdicts {
    /// Whether every terminal is reached from every switch with endpoints, without loops and within
    /// the hop limit.
    pub complete: Verdict<complete::RouteStatistics, complete::BrokenRoute>,
    /// Whether every route from the other switches, and to switches, arrives; management packets
    /// need that. It does not count for [`VerificationVerdicts::holds`]: up*/down* routing leaves
    /// such routes out by design.
    pub management: Verdict<u64, complete::BrokenRoute>,
    /// Whether the routes are free of deadlock: no cycle of packets can wait for each other. `None`
    /// when routes are incomplete.
    pub deadlock: Option<Verdict<deadlock::ChannelNumbering, deadlock::DependencyCycle>>,
    /// Whether the separate checker accepts the numbering of channels; `None` when there is none.
    pub rechecked: Option<Result<(), String>>,
    /// Whether every route stays on the lanes that exist; `None` when routes are incomplete.
    pub lanes: Option<Verdict<u8, lane_use::InvalidLaneHop>>,
}

impl VerificationVerdicts {
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
/// [`Interrupted`] when `watch` asks to stop.
pub fn verify(
    routing: &Routing,
    limits: RouteLimits,
    watch: &dyn ProgressWatch,
) -> Result<VerificationVerdicts, Interrupted> {
    let (complete, management) = complete::check(routing, limits.hops, watch)?;
    let mut found =
        VerificationVerdicts { complete, management, deadlock: None, rechecked: None, lanes: None };
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
