//! Broadcast by multicast, made sure by a chain: the root's message goes to everybody at once, and
//! every rank also sends it to the next one, for those that the multicast did not reach.
//!
//! A schedule has messages from one rank to one other only. So the multicast is a send to each
//! rank, and costs the root as many times `o` and `g`: with a network that copies packets it would
//! be once. Take from it the traffic of the second phase, and an upper bound of the time.
//!
//! Source: Hoefler, Siebert, Rehm: A practically constant-time MPI broadcast algorithm for
//! large-scale InfiniBand clusters with multicast, CAC workshop at IPDPS 2007, section 3.

use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    RootedCollectiveParameters,
};
use super::trees::{RankTree, down};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<RootedCollectiveParameters>(
        PartDescription::new(
            "broadcast_multicast",
            "from the root to every rank, and from each to the next to make sure",
        ),
        CollectiveOperation::Broadcast,
        |request| {
            Ok(Box::new(MulticastBroadcast { root: RootedCollectiveParameters::asked(request)? }))
        },
    );

struct MulticastBroadcast {
    root: u32,
}

impl CollectiveAlgorithm for MulticastBroadcast {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let star = RankTree::Star.rooted(self.root, rank, ranks);
        let have = down(&star, 0, &[0], None, to);
        // the chain's message is a duplicate: a rank passes on what the multicast brought
        let chain = RankTree::Chain.rooted(self.root, rank, ranks);
        if let Some(next) = chain.below.first() {
            let step = to.send(*next, 1, &mut std::iter::once(0));
            if let Some(have) = have {
                to.after(step, have);
            }
        }
        if let Some(above) = chain.above {
            to.recv(above, 1, &mut std::iter::once(0), super::ReceivedBlockEffect::Store);
        }
    }
}
