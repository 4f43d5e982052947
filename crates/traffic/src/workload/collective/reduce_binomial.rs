//! Reduce along a binomial tree.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.4.

use super::kind::{Entry, Operation, Rooted};
use super::rooted::{AlongTree, What};
use super::trees::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry::with::<Rooted>(
    Part::new("reduce_binomial", "up a binomial tree"),
    Operation::Reduce,
    |request| AlongTree::made(What::Reduce, Tree::Binomial, request),
);
