//! Barrier by dissemination with n messages a round: in round k a rank sends to those `j (n+1)^k`
//! further, j = 1 to n.
//!
//! Source: Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, IPDPS 2006,
//! section 3; n = 1: Hensgen, Finkel, Manber, IJPP 17 (1988).

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect, StepNumber,
};
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<DisseminationBarrier>(
        PartDescription::new(
            "barrier_dissemination",
            "in every round a rank hears from some others, ever further away",
        ),
        CollectiveOperation::Barrier,
        |request| Ok(Box::new(request.read::<DisseminationBarrier>()?)),
    );

#[derive(Deserialize, JsonSchema)]
struct DisseminationBarrier {
    /// Messages that a rank sends in a round.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1024))]
    ways: u64,
}

impl CollectiveAlgorithm for DisseminationBarrier {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let (mut reach, all) = (1_u64, u64::from(ranks));
        let mut heard: Vec<StepNumber> = Vec::new();
        while reach < all {
            let distances = (1..=self.ways).map(|j| j * reach).take_while(|&d| d < all);
            let mut now = Vec::new();
            for distance in distances {
                let ahead = (u64::from(rank) + distance) % all;
                let step = to.send(ahead as u32, 0, &mut std::iter::once(0));
                let behind = (u64::from(rank) + all - distance) % all;
                let wait =
                    to.recv(behind as u32, 0, &mut std::iter::once(0), ReceivedBlockEffect::Add);
                for &before in &heard {
                    to.after(step, before);
                    to.after(wait, before);
                }
                now.push(wait);
            }
            heard = now;
            reach *= self.ways + 1;
        }
    }
}
