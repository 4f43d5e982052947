//! Reduce along a chain, segment by segment.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use super::rooted::{TreeAlgorithm, TreeOperation, TreeSegmentParameters};
use super::trees::RankTree;
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<TreeSegmentParameters>(
        PartDescription::new("reduce_pipelined", "from rank to rank, in segments"),
        CollectiveOperation::Reduce,
        |request| TreeAlgorithm::in_segments(TreeOperation::Reduce, RankTree::Chain, request),
    );
