//! Broadcast along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{Entry, Operation, Rooted};
use super::rooted::{AlongTree, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Rooted>(
    Part::new("broadcast_binomial", "along a binomial tree"),
    Operation::Broadcast,
    |request| AlongTree::made(What::Broadcast, Tree::Binomial, request),
);
