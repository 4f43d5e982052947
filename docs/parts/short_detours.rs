//! The shortest of several detours, whatever waits for it.

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::via::{CandidateDetour, DetourGuide};
use crate::guide::PacketPosition;
use crate::word::PacketHeader;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::Detours,
    choose,
    ..PathSelectionEntry::usual(
        "short_detours",
        "Over the nearest of several intermediate switches that are drawn for each packet",
    )
};

fn choose(
    guide: &DetourGuide,
    here: &mut PacketPosition<'_>,
    home: u32,
    packet: &mut PacketHeader<'_>,
) -> u16 {
    let links = |_: &mut PacketPosition<'_>, detour: &CandidateDetour| {
        i64::from(detour.first + detour.second)
    };
    // the minimal path is taken where there is no detour alone
    let never = |_: &mut PacketPosition<'_>, _: u16| (u64::MAX, i64::MAX);
    guide.cheapest(here, home, packet, links, never)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_chooses_among_detours() {
        assert_eq!(ENTRY.part.name, "short_detours");
        assert_eq!(ENTRY.paths, CandidatePaths::Detours);
    }
}
