//! Exchange with neighbours, everything at once.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{AlgorithmEntry, CollectiveOperation};
use super::neighbour::{NeighbourExchangeParameters, made};
use base::part::Part;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: AlgorithmEntry = AlgorithmEntry::with::<NeighbourExchangeParameters>(
    Part::new("neighbour_linear", "with neighbours, everything at once"),
    CollectiveOperation::Neighbours,
    |request| made(request, false),
);
