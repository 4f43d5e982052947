//! `receivers_one:N`: ranks 0 to N - 1 receive, from one of the others each.

use super::kind::Entry;
use super::receivers::{Receivers, WANTED};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "receivers_one",
    doc: "as receivers, with one sender for each receiver",
    orcs: "recvs_one_src",
    wanted: WANTED,
    make: |a| Ok(Box::new(Receivers::parse(a, true)?)),
    placed: false,
};
