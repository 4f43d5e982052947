//! All-to-all in rounds: in round i to the rank i further, from the rank i before.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::BlockExchangeAlgorithm;
use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("alltoall_pairwise", "a partner in every round"),
    CollectiveOperation::Alltoall,
    |_| Ok(Box::new(BlockExchangeAlgorithm { messages: None, rounds: true })),
);
