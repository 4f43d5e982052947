//! Pairs of ranks at random: effective bisection bandwidth, as it is measured.
//!
//! In every round all ranks are paired at random; the two of a pair send each other a message and
//! wait for the other's. Of an odd number of ranks one has no partner. The effective bisection
//! bandwidth is the mean bandwidth of a message.
//!
//! Source: Hoefler, Schneider, Lumsdaine: Multistage switches are not crossbars: effects of static
//! routing in high-performance networks, IEEE Cluster 2008, section III.

use super::kind::ApplicationEntry;
use crate::workload::parameters::{IterationCountParameter, MOST_BYTES, RankCountParameter};
use crate::workload::script::{MOST_OPERATIONS, too_many};
use crate::workload::{RankProgram, RankScriptWriter, tag};
use base::part::PartDescription;
use base::seed::RandomStream;
use base::{ComputationError, ProgressWatch};
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "random_pairs",
        "rounds of pairs at random, who exchange a message: effective bisection",
    )
    .takes::<RandomPairParameters>(),
    make: |request| Ok(Box::new(RandomPairProgram::new(&request.read()?, request.watch)?)),
};

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PairParameters")]
struct RandomPairParameters {
    ranks: RankCountParameter,
    /// Bytes of a message.
    #[schemars(range(max = MOST_BYTES))]
    bytes: u64,
    #[serde(default)]
    iterations: IterationCountParameter,
    /// Seed of the pairs.
    #[serde(default)]
    seed: u64,
}

/// The program of messages between random pairs of ranks.
struct RandomPairProgram {
    bytes: u64,
    ranks: u32,
    /// For each round, the partner of every rank; the rank itself if it has none.
    partners: Vec<u32>,
}

impl RandomPairProgram {
    fn new(
        with: &RandomPairParameters,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let (ranks, rounds) = (with.ranks.0, with.iterations.0);
        if rounds * u64::from(ranks) > MOST_OPERATIONS / 2 {
            return Err(too_many().into());
        }
        let mut draw = RandomStream::new(with.seed, "random_pairs", 0);
        let mut partners = Vec::with_capacity(rounds as usize * ranks as usize);
        let mut all: Vec<u32> = (0..ranks).collect();
        for round in 0..rounds {
            watch.tick("rounds", round, rounds)?;
            draw.shuffle(&mut all);
            let first = partners.len();
            partners.extend(0..ranks);
            for pair in all.chunks_exact(2) {
                partners[first + pair[0] as usize] = pair[1];
                partners[first + pair[1] as usize] = pair[0];
            }
        }
        Ok(Self { bytes: with.bytes, ranks, partners })
    }
}

impl RankProgram for RandomPairProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let mut ends = Vec::new();
        for (round, partners) in (0..).zip(self.partners.chunks(self.ranks as usize)) {
            if to.is_over() {
                return;
            }
            let partner = partners[rank as usize];
            if partner != rank {
                let message = [(partner, self.bytes, tag(round))];
                ends = to.exchange(&message, &message, &ends);
            }
        }
    }
}
