//! A multigrid solver with halos to the 6 neighbours across faces.
//!
//! Bytes are the base bytes, on level l a 4^l-th; 8 at least. A stand-in for a trace of
//! `MultiGrid`.

use super::kind::ApplicationEntry;
use super::multigrid::{HaloNeighbours, MultigridParameters, NeighbourDirection, made};
use base::part::PartDescription;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "mg_like",
        "multigrid cycles with halos to 6 neighbours, fewer ranks on each coarser grid",
    )
    .takes::<MultigridParameters>(),
    make: |request| made(HaloNeighbours { directions: DIRECTIONS.to_vec(), bytes }, request),
};

/// The neighbours: one in each direction along every axis.
const DIRECTIONS: [NeighbourDirection; 6] =
    [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]];

fn bytes(base: u64, _: NeighbourDirection, level: u32) -> u64 {
    (base >> (2 * level)).max(8)
}
