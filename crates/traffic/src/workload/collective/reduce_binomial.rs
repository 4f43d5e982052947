//! Reduce along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.4.

use super::kind::{AlgorithmEntry, CollectiveOperation, RootParameters};
use super::rooted::{TreeAlgorithm, TreeOperation};
use super::trees::RankTree;
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::with::<RootParameters>(
    Part::new("reduce_binomial", "up a binomial tree"),
    CollectiveOperation::Reduce,
    |request| TreeAlgorithm::made(TreeOperation::Reduce, RankTree::Binomial, request),
);
