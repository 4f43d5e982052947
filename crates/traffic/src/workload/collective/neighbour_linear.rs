//! Exchange with neighbours, everything at once.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{Entry, Operation};
use super::neighbour::{Neighbours, made};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Neighbours>(
    Part::new("neighbour_linear", "with neighbours, everything at once"),
    Operation::Neighbours,
    |request| made(request, false),
);
