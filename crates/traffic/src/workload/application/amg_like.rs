//! A multigrid solver with halos to all 26 neighbours, as AMG has them.
//!
//! Bytes to a face are the base bytes, to an edge a sixteenth, to a corner a hundred and
//! twenty-eighth; on level l a 4^l-th; 8 at least. A stand-in for a trace, no run of AMG.

use super::kind::ApplicationEntry;
use super::multigrid::{HaloNeighbours, MultigridParameters, NeighbourDirection, made};
use base::part::PartDescription;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "amg_like",
        "multigrid cycles with halos to 26 neighbours, fewer ranks on each coarser grid",
    )
    .takes::<MultigridParameters>(),
    make: |request| made(HaloNeighbours { directions: directions(), bytes }, request),
};

fn directions() -> Vec<NeighbourDirection> {
    let mut all = Vec::new();
    for x in -1..=1 {
        for y in -1..=1 {
            for z in -1..=1 {
                if [x, y, z] != [0; 3] {
                    all.push([x, y, z]);
                }
            }
        }
    }
    all
}

fn bytes(base: u64, direction: NeighbourDirection, level: u32) -> u64 {
    let of_kind = match direction.iter().filter(|&&step| step != 0).count() {
        1 => base,
        2 => base / 16,
        _ => (base / 128).max(8),
    };
    (of_kind >> (2 * level)).max(8)
}
