//! Broadcast by the root alone: it sends to every rank, one after another.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_linear",
    doc: "from the root to every rank",
    operation: Operation::Broadcast,
    keys: &[ROOT],
    make: |asked| Rooted::made(What::Broadcast, Tree::Star, asked),
};
