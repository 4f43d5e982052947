//! A type for proved routing: its values come only from a proof.

use super::deadlock::ChannelNumbering;
use super::scheme::{self, SchemeDeadlockFreedomProof, SchemeFlaw};
use super::{RouteLimits, Verdict, VerificationVerdicts, verify};
use base::seed::fnv1a64;
use base::{Interrupted, ProgressWatch};
use fabric::tables::Routing;
use fabric::tables::candidates::CandidateScheme;
use std::ops::Deref;

/// A routing, or a scheme of candidates, whose proof holds, with the witness: every packet arrives,
/// and the channel numbers rise along its route.
///
/// Code that takes such a value need not check again, because it can only be made by the proof.
#[derive(Debug, Clone)]
pub struct VerifiedRouting<T> {
    proved: T,
    numbering: ChannelNumbering,
}

impl VerifiedRouting<Routing> {
    /// Proves `routing`, or returns the verdicts where one of them fails. Cost: see [`verify`].
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn routing(
        routing: Routing,
        limits: RouteLimits,
        watch: &dyn ProgressWatch,
    ) -> Result<Result<Self, Box<VerificationVerdicts>>, Interrupted> {
        let found = verify(&routing, limits, watch)?;
        Ok(match (found.holds(), found.deadlock) {
            (true, Some(Verdict::Holds(numbering))) => Ok(Self { proved: routing, numbering }),
            (_, deadlock) => Err(Box::new(VerificationVerdicts { deadlock, ..found })),
        })
    }
}

impl<C: CandidateScheme> VerifiedRouting<C> {
    /// Proves `scheme`, or says what is wrong with it. Cost: see [`scheme::prove`].
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn scheme(
        scheme: C,
        watch: &dyn ProgressWatch,
    ) -> Result<Result<Self, SchemeFlaw>, Interrupted> {
        Ok(match scheme::prove(&scheme, watch)? {
            Verdict::Holds(SchemeDeadlockFreedomProof { numbering, .. }) => {
                Ok(Self { proved: scheme, numbering })
            }
            Verdict::Fails(flaw) => Err(flaw),
        })
    }
}

impl<T> VerifiedRouting<T> {
    /// The channel numbers that rise along every route.
    pub fn numbering(&self) -> &ChannelNumbering {
        &self.numbering
    }

    /// A digest of the witness, for records of results that depend on it: 64-bit FNV-1a of the
    /// lanes and of the numbers, in little-endian order. O(channels * lanes).
    pub fn digest(&self) -> u64 {
        let numbers = self.numbering.number.iter().flat_map(|n| n.to_le_bytes());
        fnv1a64(&std::iter::once(self.numbering.lanes).chain(numbers).collect::<Vec<u8>>())
    }
}

impl<T> Deref for VerifiedRouting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.proved
    }
}
