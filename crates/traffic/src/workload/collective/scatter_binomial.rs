//! Scatter along a binomial tree: every rank gets the blocks of all below it, and hands them down.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.2.

use super::kind::{Entry, Operation, Rooted};
use super::rooted::{AlongTree, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Rooted>(
    Part::new("scatter_binomial", "down a binomial tree"),
    Operation::Scatter,
    |request| AlongTree::made(What::Scatter, Tree::Binomial, request),
);
