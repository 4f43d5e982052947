//! All-to-all of different sizes in rounds: in round i to the rank i further.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::alltoallv::{AlltoallvParameters, made};
use super::kind::{AlgorithmEntry, CollectiveOperation};
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::with::<AlltoallvParameters>(
    Part::new("alltoallv_pairwise", "a partner in every round, each message of its own size"),
    CollectiveOperation::Alltoallv,
    |request| made(request, true),
);
