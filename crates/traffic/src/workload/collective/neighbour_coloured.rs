//! Exchange with neighbours in rounds by edge colouring: as few as there can be in which a rank
//! sends one message at most and receives one at most.
//!
//! Source: Hoefler, Traeff: Sparse collective operations for MPI, HIPS workshop at IPDPS 2009.

use super::kind::{Entry, Operation};
use super::neighbour::{KEYS, made};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "neighbour_coloured",
    doc: "with neighbours, in rounds by edge colouring",
    operation: Operation::Neighbours,
    keys: KEYS,
    make: |asked| made(asked, true),
};
