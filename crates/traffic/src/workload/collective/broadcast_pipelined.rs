//! Broadcast along a chain, segment by segment.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation};
use super::rooted::{AlongTree, Segmented, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Segmented>(
    Part::new("broadcast_pipelined", "from rank to rank, in segments"),
    Operation::Broadcast,
    |request| AlongTree::in_segments(What::Broadcast, Tree::Chain, request),
);
