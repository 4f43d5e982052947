//! Scatter along a binomial tree: every rank gets the blocks of all below it, and hands them down.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{AlgorithmEntry, CollectiveOperation, RootParameters};
use super::rooted::{TreeAlgorithm, TreeOperation};
use super::trees::RankTree;
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::with::<RootParameters>(
    Part::new("scatter_binomial", "down a binomial tree"),
    CollectiveOperation::Scatter,
    |request| TreeAlgorithm::made(TreeOperation::Scatter, RankTree::Binomial, request),
);
