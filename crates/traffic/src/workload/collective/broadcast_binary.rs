//! Broadcast along a binary tree.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation, RootedCollectiveParameters};
use super::rooted::{TreeAlgorithm, TreeOperation};
use super::trees::RankTree;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<RootedCollectiveParameters>(
        PartDescription::new("broadcast_binary", "along a binary tree"),
        CollectiveOperation::Broadcast,
        |request| TreeAlgorithm::made(TreeOperation::Broadcast, RankTree::Binary, request),
    );
