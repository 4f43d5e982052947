//! A stencil of 5 or 9 points on a grid of 2 dimensions.
//!
//! An iteration: a message to every neighbour and one from each, the part of the computation that
//! needs no halo meanwhile, then the rest of it.

use super::kind::Entry;
use super::stencil::{KEYS_2D, made};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "stencil_2d",
    doc: "halos to the neighbours on a grid, 5 or 9 points, and computation",
    keys: KEYS_2D,
    make: |asked| made(2, asked),
};
