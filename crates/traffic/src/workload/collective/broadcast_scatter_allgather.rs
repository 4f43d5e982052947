//! Broadcast as a scatter along a binomial tree, then an allgather around a ring.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2, after van de Geijn.

use super::allgather_ring::pass_on;
use super::kind::{
    AlgorithmStepSink, CollectiveAlgorithm, CollectiveAlgorithmEntry, CollectiveOperation,
    ReceivedBlockEffect, RootedCollectiveParameters,
};
use super::trees::{AlgorithmStepChain, RankTree, seen_from};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::with::<
    RootedCollectiveParameters,
>(
    PartDescription::new("broadcast_scatter_allgather", "scatter_binomial, then allgather_ring"),
    CollectiveOperation::Broadcast,
    |request| {
        Ok(Box::new(ScatterAllgatherBroadcast {
            root: RootedCollectiveParameters::asked(request)?,
        }))
    },
);

struct ScatterAllgatherBroadcast {
    root: u32,
}

impl CollectiveAlgorithm for ScatterAllgatherBroadcast {
    fn blocks(&self, ranks: u32) -> u64 {
        ranks.into()
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let seen = seen_from(self.root, rank, ranks);
        let place = RankTree::Binomial.rooted(self.root, rank, ranks);
        // block b belongs to the rank that is b after the root
        let blocks = |of: u32| {
            let under = RankTree::Binomial.under(seen_from(self.root, of, ranks), ranks);
            under.into_iter().map(u64::from)
        };
        let mut chain = AlgorithmStepChain::new(to);
        if let Some(above) = place.above {
            chain.exchange(None, Some((above, &mut blocks(rank), ReceivedBlockEffect::Store)));
        }
        for child in place.below {
            chain.exchange(Some((child, &mut blocks(child))), None);
        }
        pass_on(rank, ranks, seen, &mut chain);
    }
}
