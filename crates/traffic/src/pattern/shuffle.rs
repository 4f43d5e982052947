//! `shuffle`: rank of bits b(n-1)b(n-2)...b(0) sends to b(n-2)...b(0)b(n-1).
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{WANTED, on_bits, rotated};
use super::kind::Entry;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "shuffle",
    doc: "to the rank with the bits of its number rotated left by one",
    orcs: "",
    wanted: WANTED,
    make: |a| on_bits(a, false, rotated),
    placed: false,
};
