//! A multigrid solver with halos to the 6 neighbours across faces.
//!
//! Bytes are the base bytes, on level l a 4^l-th; 8 at least. A stand-in for a trace of
//! `MultiGrid`.

use super::kind::Entry;
use super::multigrid::{Direction, Halos, MultigridParameters, made};
use base::part::Part;

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    part: Part::new(
        "mg_like",
        "multigrid cycles with halos to 6 neighbours, fewer ranks on each coarser grid",
    )
    .takes::<MultigridParameters>(),
    make: |request| made(Halos { directions: DIRECTIONS.to_vec(), bytes }, request),
};

/// Forth and back in each direction.
const DIRECTIONS: [Direction; 6] =
    [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

fn bytes(base: u64, _: Direction, level: u32) -> u64 {
    (base >> (2 * level)).max(8)
}
