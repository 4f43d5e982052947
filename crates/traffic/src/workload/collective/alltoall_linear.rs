//! All-to-all with everything at once: each rank posts all receives and all sends.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::Exchange;
use super::kind::{Entry, Operation};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "alltoall_linear",
    doc: "everything at once",
    operation: Operation::Alltoall,
    keys: &[],
    make: |_| Ok(Box::new(Exchange { messages: None, rounds: false })),
};
