//! All-to-all of different sizes in rounds: in round i to the rank i further.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::alltoallv::{Sizes, made};
use super::kind::{Entry, Operation};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Sizes>(
    Part::new("alltoallv_pairwise", "a partner in every round, each message of its own size"),
    Operation::Alltoallv,
    |request| made(request, true),
);
