//! Scatter by the root alone: it sends every rank its block.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::kind::{Entry, Operation, Rooted};
use super::rooted::{AlongTree, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Rooted>(
    Part::new("scatter_linear", "from the root to every rank"),
    Operation::Scatter,
    |request| AlongTree::made(What::Scatter, Tree::Star, request),
);
