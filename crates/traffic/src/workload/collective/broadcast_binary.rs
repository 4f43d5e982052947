//! Broadcast along a binary tree.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{AlgorithmEntry, CollectiveOperation, RootParameters};
use super::rooted::{TreeAlgorithm, TreeOperation};
use super::trees::RankTree;
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::with::<RootParameters>(
    Part::new("broadcast_binary", "along a binary tree"),
    CollectiveOperation::Broadcast,
    |request| TreeAlgorithm::made(TreeOperation::Broadcast, RankTree::Binary, request),
);
