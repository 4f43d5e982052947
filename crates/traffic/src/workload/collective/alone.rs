//! Collective operations as programs of their own.

use super::call::CollectiveCall;
use super::kind::{CollectiveAlgorithmEntry, OverlappedComputationParameters};
use crate::workload::script::RankScriptWriter;
use crate::workload::{RankProgram, WorkloadRequest};
use base::ComputationError;

/// The program of one collective operation, with overlapped computation.
struct CollectiveProgram {
    call: CollectiveCall,
    meanwhile: OverlappedComputationParameters,
}

/// The program of `entry` with its parameters.
pub(in crate::workload) fn alone(
    entry: &CollectiveAlgorithmEntry,
    request: &WorkloadRequest<'_>,
) -> Result<Box<dyn RankProgram>, ComputationError> {
    Ok(Box::new(CollectiveProgram {
        call: CollectiveCall::asked(entry, request)?,
        meanwhile: request.read()?,
    }))
}

impl RankProgram for CollectiveProgram {
    fn ranks(&self) -> u32 {
        self.call.ranks()
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        to.collective(&self.call, rank, &|r| r, 0, &[]);
        let OverlappedComputationParameters { overlap_ns, chunks, overlap_cpu } = self.meanwhile;
        to.on(overlap_cpu);
        let until =
            |chunk: u64| (u128::from(overlap_ns) * u128::from(chunk) / u128::from(chunks)) as u64;
        let mut before = Vec::new();
        for chunk in 0..chunks {
            before = to.calc(until(chunk + 1) - until(chunk), &before);
        }
    }
}
