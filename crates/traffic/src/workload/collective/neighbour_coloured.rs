//! Exchange with neighbours in rounds by edge colouring: as few as there can be in which a rank
//! sends one message at most and receives one at most.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{CollectiveAlgorithmEntry, CollectiveOperation};
use super::neighbour::{NeighbourExchangeParameters, made};
use base::part::PartDescription;

/// The row of this algorithm in the table of collective algorithms.
pub(super) const ENTRY: CollectiveAlgorithmEntry =
    CollectiveAlgorithmEntry::with::<NeighbourExchangeParameters>(
        PartDescription::new("neighbour_coloured", "with neighbours, in rounds by edge colouring"),
        CollectiveOperation::Neighbours,
        |request| made(request, true),
    );
