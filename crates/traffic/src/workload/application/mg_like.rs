//! A multigrid solver with halos to the 6 neighbours across faces.
//!
//! Bytes are the base bytes, on level l a 4^l-th; 8 at least. A stand-in for a trace of
//! `MultiGrid`.

use super::kind::Entry;
use super::multigrid::{Halos, KEYS, Way, made};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "mg_like",
    doc: "multigrid cycles with halos to 6 neighbours, fewer ranks on each coarser grid",
    keys: KEYS,
    make: |asked| made(Halos { ways: WAYS.to_vec(), bytes }, asked),
};

/// Forth and back in each direction.
const WAYS: [Way; 6] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

fn bytes(base: u64, _: Way, level: u32) -> u64 {
    (base >> (2 * level)).max(8)
}
