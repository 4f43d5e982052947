//! A stencil of 7 or 27 points on a grid of 3 dimensions.
//!
//! An iteration: a message to every neighbour and one from each, the part of the computation that
//! needs no halo meanwhile, then the rest of it.

use super::kind::Entry;
use super::stencil::{KEYS_3D, made};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "stencil_3d",
    doc: "halos to the neighbours on a grid, 7 or 27 points, and computation",
    keys: KEYS_3D,
    make: |asked| made(3, asked),
};
