//! A message to and fro between the first rank and the last.
//!
//! Source: OSU Micro-Benchmarks, `osu_latency`, mvapich.cse.ohio-state.edu/benchmarks.

use super::kind::ApplicationEntry;
use crate::workload::parameters::{IterationCountParameter, MOST_BYTES, RankCountParameter};
use crate::workload::{RankProgram, RankScriptWriter, tag};
use base::Refusal;
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// How it is asked for.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new("ping_pong", "a message from the first rank to the last, and back")
        .takes::<PingPong>(),
    make: |request| Ok(Box::new(request.read::<PingPong>()?.checked()?)),
};

#[derive(Deserialize, JsonSchema)]
struct PingPong {
    ranks: RankCountParameter,
    /// Bytes of a message.
    #[serde(default = "whole::<8>")]
    #[schemars(range(max = MOST_BYTES))]
    bytes: u64,
    #[serde(default)]
    iterations: IterationCountParameter,
}

impl PingPong {
    fn checked(self) -> Result<Self, Refusal> {
        if self.ranks.0 < 2 {
            return Err(Refusal::new("ranks", "1 rank has no other", "2 or more"));
        }
        Ok(self)
    }
}

impl RankProgram for PingPong {
    fn ranks(&self) -> u32 {
        self.ranks.0
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let last = self.ranks.0 - 1;
        if rank != 0 && rank != last {
            return;
        }
        let mut ends = Vec::new();
        for iteration in 0..self.iterations.0 {
            if to.is_over() {
                return;
            }
            let message = [(last - rank, self.bytes, tag(iteration))];
            for sends in [rank == 0, rank != 0] {
                let (sent, received) =
                    if sends { (&message[..], &[][..]) } else { (&[][..], &message[..]) };
                ends = to.exchange(sent, received, &ends);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{WorkloadRequest, schedule_of};
    use base::QuietWatch;

    #[test]
    fn two_ranks_send_and_the_others_are_idle() {
        let given = serde_json::json!({"ranks": 5, "bytes": 100, "iterations": 3});
        let given = given.as_object().expect("a table");
        let request =
            WorkloadRequest::new(ENTRY.part, given, &QuietWatch).expect("it may be asked");
        let made = schedule_of(&*(ENTRY.make)(&request).expect("it is made"), &QuietWatch)
            .expect("it fits");
        let operations: Vec<usize> = (0..5).map(|rank| made.of_rank(rank).len()).collect();
        assert_eq!(operations, [6, 0, 0, 0, 6]);
    }
}
