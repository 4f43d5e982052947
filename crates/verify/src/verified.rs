//! What has been proved, as a type: it can be had from a proof alone.

use super::deadlock::Numbering;
use super::scheme::{self, Flaw, Freedom};
use super::{Limits, Verdict, Verification, verify};
use base::seed::fnv1a64;
use base::{Interrupted, Watch};
use fabric::tables::Routing;
use fabric::tables::candidates::Candidates;
use std::ops::Deref;

/// A routing, or a scheme of candidates, that holds, with the witness: every packet arrives, and
/// the numbers of what it takes rise on the way.
///
/// Who takes one need not ask again, and nobody can make one without the proof.
#[derive(Debug, Clone)]
pub struct Verified<T> {
    proved: T,
    numbering: Numbering,
}

impl Verified<Routing> {
    /// Proves `routing`; the verdicts where one of them fails. Cost: see [`verify`].
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` says so.
    pub fn routing(
        routing: Routing,
        limits: Limits,
        watch: &dyn Watch,
    ) -> Result<Result<Self, Box<Verification>>, Interrupted> {
        let found = verify(&routing, limits, watch)?;
        Ok(match (found.holds(), found.deadlock) {
            (true, Some(Verdict::Holds(numbering))) => Ok(Self { proved: routing, numbering }),
            (_, deadlock) => Err(Box::new(Verification { deadlock, ..found })),
        })
    }
}

impl<C: Candidates> Verified<C> {
    /// Proves `scheme`, or says what is wrong with it. Cost: see [`scheme::prove`].
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` says so.
    pub fn scheme(scheme: C, watch: &dyn Watch) -> Result<Result<Self, Flaw>, Interrupted> {
        Ok(match scheme::prove(&scheme, watch)? {
            Verdict::Holds(Freedom { numbering, .. }) => Ok(Self { proved: scheme, numbering }),
            Verdict::Fails(flaw) => Err(flaw),
        })
    }
}

impl<T> Verified<T> {
    /// The numbers that rise.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// A digest of the witness, for records of what stands on it: 64-bit FNV-1a of the lanes and
    /// of the numbers, little end first. O(channels * lanes).
    pub fn digest(&self) -> u64 {
        let numbers = self.numbering.number.iter().flat_map(|n| n.to_le_bytes());
        fnv1a64(&std::iter::once(self.numbering.lanes).chain(numbers).collect::<Vec<u8>>())
    }
}

impl<T> Deref for Verified<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.proved
    }
}
