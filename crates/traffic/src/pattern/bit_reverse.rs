//! `bit_reverse`: rank of bits b(n-1)...b(0) sends to b(0)...b(n-1).
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{WANTED, on_bits, reversed};
use super::kind::Entry;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "bit_reverse",
    doc: "to the rank with the bits of its number in reverse order",
    orcs: "",
    wanted: WANTED,
    make: |a| on_bits(a, false, reversed),
    placed: false,
};
