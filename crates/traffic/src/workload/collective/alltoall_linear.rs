//! All-to-all with everything at once: each rank posts all receives and all sends.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::Exchange;
use super::kind::{Entry, Operation};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry =
    Entry::new(Part::new("alltoall_linear", "everything at once"), Operation::Alltoall, |_| {
        Ok(Box::new(Exchange { messages: None, rounds: false }))
    });
