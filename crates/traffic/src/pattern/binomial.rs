//! `binomial`: a tree of arity 2; who has the message sends it to one more in each level.

use super::kind::PatternKindEntry;
use super::tree::TreePattern;
use base::part::PartDescription;

/// The row of this pattern in the table of patterns.
pub(super) const ENTRY: PatternKindEntry = PatternKindEntry {
    part: PartDescription::new("binomial", "the tree with A = 2"),
    orcs: "bintree",
    make: |_| Ok(Box::new(TreePattern(2))),
    placed: false,
};
