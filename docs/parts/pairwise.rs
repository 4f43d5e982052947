//! `pairwise:BY`: ranks i and i xor BY exchange.
//!
//! Source: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in
//! MPICH", Int. J. of High Performance Computing Applications 19(1), 2005: step BY of the pairwise
//! exchange for powers of two.

use super::kind::{MessagePattern, PatternKindEntry, RankMessage};
use super::shift::one;
use base::part::PartDescription;
use base::seed::RandomStream;
use schemars::JsonSchema;
use serde::Deserialize;

/// How it is asked for.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new(
        "pairwise",
        "i and i xor by exchange; ranks without a partner are idle",
    )
    .takes::<PairwiseParameters>(),
    orcs: "",
    make: |a| {
        let by = a.read::<PairwiseParameters>()?.by;
        Ok(Box::new(Pairwise(a.within("by", by, 1, a.ranks - 1)?)))
    },
    placed: false,
};

/// The parameter of the pattern.
#[derive(Deserialize, JsonSchema)]
struct PairwiseParameters {
    /// The bits in which the two ranks of a pair differ, as a number.
    #[serde(default = "one")]
    by: u32,
}

/// The bits in which the two ranks of a pair differ.
#[derive(Debug)]
struct Pairwise(u32);

impl MessagePattern for Pairwise {
    fn messages(&self, _: u32, ranks: u32, _: &mut RandomStream) -> Vec<RankMessage> {
        (0..ranks).map(|i| (i, i ^ self.0)).filter(|&(_, to)| to < ranks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_exchange_and_the_others_are_idle() {
        let sent = Pairwise(2).messages(0, 5, &mut RandomStream::new(0, "pattern", 0));
        assert_eq!(sent, [(0, 2), (1, 3), (2, 0), (3, 1)]);
        assert_eq!(ENTRY.part.name, "pairwise");
    }
}
