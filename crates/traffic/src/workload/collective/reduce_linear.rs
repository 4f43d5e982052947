//! Reduce at the root alone: it adds what every rank sends.
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
        PartDescription::new("reduce_linear", "from every rank to the root"),
        CollectiveOperation::Reduce,
        |request| TreeAlgorithm::made(TreeOperation::Reduce, RankTree::Star, request),
    );
