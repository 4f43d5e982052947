//! All-to-all in rounds: in round i to the rank i further, from the rank i before.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::BlockExchange;
use super::kind::{AlgorithmEntry, CollectiveOperation};
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("alltoall_pairwise", "a partner in every round"),
    CollectiveOperation::Alltoall,
    |_| Ok(Box::new(BlockExchange { messages: None, rounds: true })),
);
