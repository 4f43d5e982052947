//! Proof that tables are right, for tables of any origin: every verdict comes with its evidence.
//!
//! A verdict that holds carries a witness that other, simpler code can check again
//! ([`checker::recheck`]); one that fails carries a counterexample a person can follow.

use crate::routing::Routing;
use base::{Interrupted, Watch};

pub mod certificate;
pub mod checker;
pub mod complete;
pub mod deadlock;
pub mod faults;
pub mod lane_use;

/// The outcome of a check: a witness, or a counterexample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<W, C> {
    /// It holds, and this shows why.
    Holds(W),
    /// It fails, and this shows where.
    Fails(C),
}

impl<W, C> Verdict<W, C> {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
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
}

impl Verification {
    /// Whether every verdict holds and the separate checker agrees.
    pub fn holds(&self) -> bool {
        self.complete.holds()
            && self.deadlock.as_ref().is_some_and(Verdict::holds)
            && matches!(self.rechecked, Some(Ok(())))
    }
}

/// Checks `routing` for completeness and deadlock; `hop_limit` is the most links a route may take.
///
/// O(hops of all routes + dependencies).
///
/// # Errors
/// [`Interrupted`] when `watch` says so.
pub fn verify(
    routing: &Routing,
    hop_limit: u32,
    watch: &dyn Watch,
) -> Result<Verification, Interrupted> {
    let (complete, management) = complete::check(routing, hop_limit, watch)?;
    if !complete.holds() {
        return Ok(Verification { complete, management, deadlock: None, rechecked: None });
    }
    let deadlock = deadlock::check(routing, watch)?;
    let rechecked = match &deadlock {
        Verdict::Holds(numbering) => Some(checker::recheck(routing, numbering)),
        Verdict::Fails(_) => None,
    };
    Ok(Verification { complete, management, deadlock: Some(deadlock), rechecked })
}
