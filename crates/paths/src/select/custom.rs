//! The candidate with the lowest score, an expression of the user's.

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::scored::WORD;
use super::via::DetourGuide;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::Detours,
    on_tables: true,
    choose: DetourGuide::begin_scored,
    ..PathSelectionEntry::usual(
        WORD,
        "The candidate with the lowest score, which is an expression of the user's: `custom \
         score=hops*queue detours=4`",
    )
};
