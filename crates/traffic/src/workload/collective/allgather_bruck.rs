//! Allgather by Bruck's algorithm: in round k a rank hands on the `2^k` blocks that it has.
//!
//! Source: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all
//! communications in multiport message-passing systems, IEEE TPDS 8 (1997), section 4.

use super::kind::{Algorithm, Entry, How, Operation, Steps};
use super::trees::Chain;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("allgather_bruck", "twice as many blocks in every round"),
    Operation::Allgather,
    |_| Ok(Box::new(Bruck)),
);

struct Bruck;

impl Algorithm for Bruck {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let mut chain = Chain::new(to);
        let mut have = 1;
        while have < ranks {
            let count = have.min(ranks - have);
            let (back, ahead) = ((rank + ranks - have) % ranks, (rank + have) % ranks);
            let blocks = |from: u32| (0..count).map(move |i| u64::from((from + i) % ranks));
            chain.exchange(
                Some((back, &mut blocks(rank))),
                Some((ahead, &mut blocks(ahead), How::Store)),
            );
            have += count;
        }
    }
}
