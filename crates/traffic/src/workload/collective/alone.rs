//! A collective operation as a program of its own.

use super::call::Call;
use super::kind::{Entry, Meanwhile};
use crate::workload::script::Script;
use crate::workload::{Program, WorkloadRequest};
use base::Stop;

/// A collective operation alone, with computation meanwhile.
struct Alone {
    call: Call,
    meanwhile: Meanwhile,
}

/// The program of `entry` with its parameters.
pub(in crate::workload) fn alone(
    entry: &Entry,
    request: &WorkloadRequest<'_>,
) -> Result<Box<dyn Program>, Stop> {
    Ok(Box::new(Alone { call: Call::asked(entry, request)?, meanwhile: request.read()? }))
}

impl Program for Alone {
    fn ranks(&self) -> u32 {
        self.call.ranks()
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
        to.collective(&self.call, rank, &|r| r, 0, &[]);
        let Meanwhile { overlap_ns, chunks, overlap_cpu } = self.meanwhile;
        to.on(overlap_cpu);
        let until =
            |chunk: u64| (u128::from(overlap_ns) * u128::from(chunk) / u128::from(chunks)) as u64;
        let mut before = Vec::new();
        for chunk in 0..chunks {
            before = to.calc(until(chunk + 1) - until(chunk), &before);
        }
    }
}
