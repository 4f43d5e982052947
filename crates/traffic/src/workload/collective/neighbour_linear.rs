//! Exchange with neighbours, everything at once.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{Entry, Operation};
use super::neighbour::{KEYS, made};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "neighbour_linear",
    doc: "with neighbours, everything at once",
    operation: Operation::Neighbours,
    keys: KEYS,
    make: |asked| made(asked, false),
};
