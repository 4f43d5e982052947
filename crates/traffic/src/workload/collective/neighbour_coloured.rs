//! Exchange with neighbours in rounds by edge colouring: as few as there can be in which a rank
//! sends one message at most and receives one at most.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{Entry, Operation};
use super::neighbour::{Neighbours, made};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Neighbours>(
    Part::new("neighbour_coloured", "with neighbours, in rounds by edge colouring"),
    Operation::Neighbours,
    |request| made(request, true),
);
