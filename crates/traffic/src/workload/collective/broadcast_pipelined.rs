//! Broadcast along a chain, segment by segment.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, ROOT};
use super::rooted::{Rooted, SEGMENTS, What};
use super::trees::Tree;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_pipelined",
    doc: "from rank to rank, in segments",
    operation: Operation::Broadcast,
    keys: &[ROOT, SEGMENTS],
    make: |asked| Rooted::in_segments(What::Broadcast, Tree::Chain, asked),
};
