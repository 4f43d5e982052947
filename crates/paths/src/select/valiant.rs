//! Paths over a random intermediate switch.
//!
//! Source: Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11(2),
//! 1982.

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::via::DetourGuide;
use crate::guide::PacketPosition;
use crate::word::PacketHeader;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::Detours,
    choose,
    ..PathSelectionEntry::usual(
        "valiant",
        "Over an intermediate switch that is drawn for each packet (Valiant 1982)",
    )
};

fn choose(
    guide: &DetourGuide,
    here: &mut PacketPosition<'_>,
    home: u32,
    packet: &mut PacketHeader<'_>,
) -> u16 {
    let direct = guide.minimal_port(here, home, packet);
    match guide.draw(here.router, home, here.random) {
        Some(via) => guide.detour(here, via, packet),
        None => direct,
    }
}
