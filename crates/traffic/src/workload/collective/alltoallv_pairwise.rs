//! All-to-all of different sizes in rounds: in round i to the rank i further.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::alltoallv::{MATRIX, SEED, made};
use super::kind::{Entry, Operation};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "alltoallv_pairwise",
    doc: "a partner in every round, each message of its own size",
    operation: Operation::Alltoallv,
    keys: &[SEED, MATRIX],
    make: |asked| made(asked, true),
};
