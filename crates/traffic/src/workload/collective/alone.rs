//! Collective operations as programs of their own.

use super::call::CollectiveCall;
use super::kind::{AlgorithmEntry, OverlapParameters};
use crate::workload::script::RankScript;
use crate::workload::{RankProgram, WorkloadRequest};
use base::Stop;

/// The program of one collective operation, with overlapped computation.
struct CollectiveProgram {
    call: CollectiveCall,
    meanwhile: OverlapParameters,
}

/// The program of `entry` with its parameters.
pub(in crate::workload) fn alone(
    entry: &AlgorithmEntry,
    request: &WorkloadRequest<'_>,
) -> Result<Box<dyn RankProgram>, Stop> {
    Ok(Box::new(CollectiveProgram {
        call: CollectiveCall::asked(entry, request)?,
        meanwhile: request.read()?,
    }))
}

impl RankProgram for CollectiveProgram {
    fn ranks(&self) -> u32 {
        self.call.ranks()
    }

    fn tell(&self, rank: u32, to: &mut RankScript<'_>) {
        to.collective(&self.call, rank, &|r| r, 0, &[]);
        let OverlapParameters { overlap_ns, chunks, overlap_cpu } = self.meanwhile;
        to.on(overlap_cpu);
        let until =
            |chunk: u64| (u128::from(overlap_ns) * u128::from(chunk) / u128::from(chunks)) as u64;
        let mut before = Vec::new();
        for chunk in 0..chunks {
            before = to.calc(until(chunk + 1) - until(chunk), &before);
        }
    }
}
