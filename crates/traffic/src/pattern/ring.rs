//! `ring`: rank i sends to rank i + 1, around the end, all at once.

use super::kind::Entry;
use super::shift::Shift;
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new("ring", "i to i + 1, around the end, all at once"),
    orcs: "ring",
    make: |_| Ok(Box::new(Shift(1))),
    placed: false,
};
