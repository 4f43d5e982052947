//! The minimal path or a detour, by all queues on the path.
//!
//! Source: Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005.

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::via::{CandidateDetour, DetourGuide};
use crate::guide::PacketPosition;
use crate::word::PacketHeader;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::Detours,
    compares: true,
    sees_far: true,
    choose,
    ..PathSelectionEntry::usual(
        "ugal_g",
        "The minimal path or a detour over one of several drawn switches, by all queues on the \
         path (UGAL-G)",
    )
};

fn choose(
    guide: &DetourGuide,
    here: &mut PacketPosition<'_>,
    home: u32,
    packet: &mut PacketHeader<'_>,
) -> u16 {
    let cost = |here: &mut PacketPosition<'_>, detour: &CandidateDetour| {
        let on = guide.next_port(detour.via, home, here.random);
        let mut there = PacketPosition { router: detour.via, random: here.random, ..*here };
        let rest = guide.queued(&mut there, on, home);
        (guide.queued(here, detour.port, detour.via) + rest) as i64
    };
    let own = |here: &mut PacketPosition<'_>, direct: u16| {
        let queue = guide.queued(here, direct, home);
        (queue, queue as i64)
    };
    guide.cheapest(here, home, packet, cost, own)
}
