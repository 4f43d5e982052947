//! `binomial`: a tree of arity 2; who has the message sends it to one more in each level.

use super::kind::PatternEntry;
use super::tree::TreePattern;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: PatternEntry = PatternEntry {
    part: Part::new("binomial", "the tree with A = 2"),
    orcs: "bintree",
    make: |_| Ok(Box::new(TreePattern(2))),
    placed: false,
};
