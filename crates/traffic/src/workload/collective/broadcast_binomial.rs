//! Broadcast along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation, RootedCollectiveParameters};
use super::rooted::{TreeAlgorithm, TreeOperation};
use super::trees::RankTree;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<RootedCollectiveParameters>(
        PartDescription::new("broadcast_binomial", "along a binomial tree"),
        CollectiveOperation::Broadcast,
        |request| TreeAlgorithm::made(TreeOperation::Broadcast, RankTree::Binomial, request),
    );
