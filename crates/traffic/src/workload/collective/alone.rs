//! A collective operation as a program of its own.

use super::call::Call;
use super::kind::Entry;
use crate::workload::Program;
use crate::workload::keys::Asked;
use crate::workload::script::Script;
use base::Stop;

/// A collective operation alone, with computation meanwhile.
struct Alone {
    call: Call,
    overlap_ns: u64,
    chunks: u64,
    cpu: u8,
}

/// The program of `entry` with its parameters.
pub(in crate::workload) fn alone(
    entry: &Entry,
    asked: &Asked<'_>,
) -> Result<Box<dyn Program>, Stop> {
    Ok(Box::new(Alone {
        call: Call::asked(entry, asked)?,
        overlap_ns: asked.whole("overlap_ns")?,
        chunks: asked.whole("chunks")?,
        cpu: asked.whole("overlap_cpu")? as u8,
    }))
}

impl Program for Alone {
    fn ranks(&self) -> u32 {
        self.call.ranks()
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
        to.collective(&self.call, rank, &|r| r, 0, &[]);
        to.on(self.cpu);
        let until = |chunk: u64| {
            (u128::from(self.overlap_ns) * u128::from(chunk) / u128::from(self.chunks)) as u64
        };
        let mut before = Vec::new();
        for chunk in 0..self.chunks {
            before = to.calc(until(chunk + 1) - until(chunk), &before);
        }
    }
}
