//! Exchange with neighbours, everything at once.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use super::neighbour::{NeighbourExchangeParameters, made};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<NeighbourExchangeParameters>(
        PartDescription::new("neighbour_linear", "with neighbours, everything at once"),
        CollectiveOperation::Neighbours,
        |request| made(request, false),
    );
