//! All-to-all of different sizes in rounds: in round i to the rank i further.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::alltoallv::{AlltoallvParameters, made};
use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<AlltoallvParameters>(
        PartDescription::new(
            "alltoallv_pairwise",
            "a partner in every round, each message of its own size",
        ),
        CollectiveOperation::Alltoallv,
        |request| made(request, true),
    );
