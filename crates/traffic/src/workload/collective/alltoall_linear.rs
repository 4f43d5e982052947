//! All-to-all with everything at once: each rank posts all receives and all sends.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::BlockExchangeAlgorithm;
use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry = CollectiveAlgorithmEntry::new(
    PartDescription::new("alltoall_linear", "everything at once"),
    CollectiveOperation::Alltoall,
    |_| Ok(Box::new(BlockExchangeAlgorithm { messages: None, rounds: false })),
);
