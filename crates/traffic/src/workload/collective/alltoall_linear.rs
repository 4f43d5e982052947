//! All-to-all with everything at once: each rank posts all receives and all sends.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::BlockExchange;
use super::kind::{AlgorithmEntry, CollectiveOperation};
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::new(
    Part::new("alltoall_linear", "everything at once"),
    CollectiveOperation::Alltoall,
    |_| Ok(Box::new(BlockExchange { messages: None, rounds: false })),
);
