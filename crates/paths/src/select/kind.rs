//! What every selection says of itself: its name, the paths that it needs, and the function by
//! which packets choose.

use super::candidate_paths::CandidatePaths;
use super::via::DetourGuide;
use crate::guide::PacketPosition;
use crate::word::PacketHeader;
use base::part::PartDescription;

/// The detours that packets compare where nothing else is said: four (SC14, section IV).
const CANDIDATES: u32 = 4;

/// The function by which a packet that enters the network, or may choose again, chooses its path:
/// it gets the packet's last switch, writes a detour into the packet, and returns the first port.
pub(super) type ChooseFn =
    fn(&DetourGuide, &mut PacketPosition<'_>, u32, &mut PacketHeader<'_>) -> u16;

/// A selection, as its file describes it.
pub struct PathSelectionEntry {
    /// The name that selects it, and its description.
    pub part: PartDescription,
    /// Another name that is read.
    pub(super) alias: Option<&'static str>,
    /// The paths that it chooses among.
    pub paths: CandidatePaths,
    /// The number of candidates that it compares by default.
    pub(super) candidates: u32,
    /// Whether it compares queues, by the numbers of
    /// [`PathSelectionParameters`](super::PathSelectionParameters).
    pub compares: bool,
    /// Whether it reads queues of other switches than the one at which it chooses.
    pub(super) sees_far: bool,
    /// Whether it also chooses among the layers of forwarding tables.
    pub(super) on_tables: bool,
    /// The choice itself; not called where there is nothing to choose, and on trees.
    pub(super) choose: ChooseFn,
}

impl PathSelectionEntry {
    /// A selection that sends every packet on a minimal path, for use as
    /// `..PathSelectionEntry::usual(...)`.
    pub(super) const fn usual(name: &'static str, doc: &'static str) -> Self {
        Self {
            part: PartDescription::new(name, doc),
            alias: None,
            paths: CandidatePaths::Minimal,
            candidates: CANDIDATES,
            compares: false,
            sees_far: false,
            on_tables: false,
            choose: DetourGuide::minimal_port,
        }
    }
}
