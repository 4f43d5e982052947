//! Gather at the root alone: every rank sends it its block.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, Rooted};
use super::rooted::{AlongTree, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Rooted>(
    Part::new("gather_linear", "from every rank to the root"),
    Operation::Gather,
    |request| AlongTree::made(What::Gather, Tree::Star, request),
);
