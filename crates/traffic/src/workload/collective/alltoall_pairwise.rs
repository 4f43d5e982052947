//! All-to-all in rounds: in round i to the rank i further, from the rank i before.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::exchange::Exchange;
use super::kind::{Entry, Operation};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::new(
    Part::new("alltoall_pairwise", "a partner in every round"),
    Operation::Alltoall,
    |_| Ok(Box::new(Exchange { messages: None, rounds: true })),
);
