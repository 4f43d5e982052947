//! `bit_complement`: every rank sends to the one that differs in all bits.
//!
//! Source: Dally, Towles, "Principles and practices of interconnection networks", 2004, section
//! 3.2.

use super::bits::{WANTED, complement, on_bits};
use super::kind::Entry;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "bit_complement",
    doc: "to the rank that differs in all bits",
    orcs: "",
    wanted: WANTED,
    make: |a| on_bits(a, false, complement),
    placed: false,
};
