//! As UGAL-L, with a second choice after the first hop.
//!
//! Source: Jiang, Kim & Dally, "Indirect adaptive routing on large scale interconnection networks",
//! ISCA 2009 (PAR).

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::ugal_l;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::ProgressiveDetours,
    compares: true,
    choose: ugal_l::choose,
    ..PathSelectionEntry::usual(
        "par",
        "As UGAL-L, with a second choice behind the first hop; in networks of groups only while \
         the packet is in the group of its source (PAR)",
    )
};
