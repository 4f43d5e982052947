//! `binomial`: a tree of arity 2; who has the message sends it to one more in each level.

use super::kind::Entry;
use super::tree::Tree;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("binomial", "the tree with A = 2"),
    orcs: "bintree",
    make: |_| Ok(Box::new(Tree(2))),
    placed: false,
};
