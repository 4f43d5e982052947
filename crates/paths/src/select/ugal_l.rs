//! The minimal path or a detour, by the queues at the source.
//!
//! Source: Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005;
//! Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC14, section IV
//! (four candidates).

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::via::{CandidateDetour, DetourGuide};
use crate::guide::PacketPosition;
use crate::word::PacketHeader;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    alias: Some("adaptive"),
    paths: CandidatePaths::Detours,
    compares: true,
    on_tables: true,
    choose,
    ..PathSelectionEntry::usual(
        "ugal_l",
        "The minimal path or a detour over one of several drawn switches, by the queues at the \
         source (UGAL-L)",
    )
};

/// Compares hops x queue of the first ports; at the source `DetourGuide::begin_locally` does the
/// same without branches, where it can.
pub(super) fn choose(
    guide: &DetourGuide,
    here: &mut PacketPosition<'_>,
    home: u32,
    packet: &mut PacketHeader<'_>,
) -> u16 {
    let cost = |here: &mut PacketPosition<'_>, detour: &CandidateDetour| {
        i64::from((detour.first + detour.second) * here.sight.used(detour.port))
    };
    let own = |here: &mut PacketPosition<'_>, direct: u16| {
        let queue = here.sight.used(direct);
        (queue.into(), i64::from(guide.far(here.router, home) * queue))
    };
    guide.cheapest(here, home, packet, cost, own)
}
