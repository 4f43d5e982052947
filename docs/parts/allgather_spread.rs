//! Allgather by messages to all others, a number of them at once.
//!
//! Every rank sends its block to the next ranks and receives those of the ranks before; when these
//! have come it goes on to the ranks behind them.
//!
//! Source: Open MPI, `coll_base_alltoall.c`, the algorithm `linear_sync`, which has such a number.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect, StepNumber,
};
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// How it is asked for.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::with::<Spread>(
    PartDescription::new(
        "allgather_spread",
        "the own block to all others, a number of them at once",
    ),
    CollectiveOperation::Allgather,
    |request| Ok(Box::new(request.read::<Spread>()?)),
);

#[derive(Deserialize, JsonSchema)]
struct Spread {
    /// Messages that a rank sends at once.
    #[serde(default = "whole::<4>")]
    #[schemars(range(min = 1, max = 1024))]
    at_once: u64,
}

impl CollectiveAlgorithm for Spread {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let distances: Vec<u32> = (1..ranks).collect();
        let mut before: Vec<StepNumber> = Vec::new();
        for round in distances.chunks(self.at_once as usize) {
            let mut now = Vec::new();
            for distance in round {
                let next = (rank + distance) % ranks;
                let last = (rank + ranks - distance) % ranks;
                now.push(to.send(next, 0, &mut std::iter::once(rank.into())));
                now.push(to.recv(
                    last,
                    0,
                    &mut std::iter::once(last.into()),
                    ReceivedBlockEffect::Store,
                ));
            }
            for &step in &now {
                for &earlier in &before {
                    to.after(step, earlier);
                }
            }
            before = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts messages that a rank sends, and steps that wait for none.
    #[derive(Default)]
    struct Count {
        steps: u32,
        sent: u32,
        waiting: std::collections::BTreeSet<StepNumber>,
    }

    impl AlgorithmStepSink for Count {
        fn send(&mut self, _: u32, _: u32, _: super::super::BlockNumbers<'_>) -> StepNumber {
            self.sent += 1;
            self.steps += 1;
            self.steps - 1
        }

        fn recv(
            &mut self,
            _: u32,
            _: u32,
            _: super::super::BlockNumbers<'_>,
            _: ReceivedBlockEffect,
        ) -> StepNumber {
            self.steps += 1;
            self.steps - 1
        }

        fn after(&mut self, step: StepNumber, _: StepNumber) {
            self.waiting.insert(step);
        }
    }

    #[test]
    fn a_rank_sends_to_all_others_and_to_some_at_once() {
        for (ranks, at_once) in [(1, 4), (2, 4), (9, 4), (9, 3), (9, 100)] {
            let mut count = Count::default();
            Spread { at_once }.tell(ranks / 2, ranks, &mut count);
            let free = count.steps as usize - count.waiting.len();
            assert_eq!(count.sent, ranks - 1);
            assert_eq!(free as u64, 2 * at_once.min(u64::from(ranks) - 1));
        }
    }
}
