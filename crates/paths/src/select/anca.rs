//! Routing on trees: up to a nearest common ancestor by the shortest queue, then down.

use super::candidate_paths::CandidatePaths;
use super::kind::PathSelectionEntry;
use super::{PathSelectionParameters, PortChoicesByDestination};
use crate::guide::{OutputRequest, PacketPosition, RoutingGuide};
use crate::wiring::{EndpointAttachment, RouterWiring};
use crate::word::PacketHeader;
use base::{ComputationError, ProgressWatch};
use fabric::tables::candidates::{CandidateScheme, UpDownAdaptiveRouting};
use std::sync::Arc;
use verify::VerifiedRouting;

/// See [`super`].
pub(super) const ENTRY: PathSelectionEntry = PathSelectionEntry {
    paths: CandidatePaths::UpDown,
    candidates: 2,
    ..PathSelectionEntry::usual(
        "anca",
        "On trees: up by the port with the shorter of several drawn queues, then down (adaptive \
         nearest common ancestor)",
    )
};

/// The note in a packet that has begun to go down.
const DOWN: u32 = 1;

/// Adaptive routing to a nearest common ancestor: it draws several ports and takes the one with the
/// shortest queue.
///
/// Source: Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC14,
/// section V (ANCA); `BookSim`'s `anca` of fat trees compares two.
#[derive(Debug, Clone)]
pub struct CommonAncestorGuide {
    choosing: PathSelectionParameters,
    /// The ports of packets that may still go up, then the ports of packets that go down.
    next: [PortChoicesByDestination; 2],
    /// The rank of each switch, which is lower farther up. It tells whether a hop goes up.
    rank: Vec<u32>,
    wiring: Arc<RouterWiring>,
    lanes: u8,
}

impl CommonAncestorGuide {
    /// A guide over the paths of a proved scheme; `rank` is lower for switches farther up.
    ///
    /// # Errors
    /// See [`PortChoicesByDestination::of`].
    pub fn new(
        scheme: &VerifiedRouting<UpDownAdaptiveRouting>,
        rank: Vec<u32>,
        choosing: PathSelectionParameters,
        wiring: &Arc<RouterWiring>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        choosing.check()?;
        Ok(Self {
            choosing,
            next: [
                PortChoicesByDestination::of(&**scheme, 0, wiring, watch)?,
                PortChoicesByDestination::of(&**scheme, DOWN, wiring, watch)?,
            ],
            rank,
            wiring: wiring.clone(),
            lanes: scheme.lanes(),
        })
    }
}

impl RoutingGuide for CommonAncestorGuide {
    fn lanes(&self) -> u8 {
        self.lanes
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let EndpointAttachment { router: home, port } =
            self.wiring.endpoints()[packet.target() as usize];
        let (at, lanes) = (here.router, super::choices::all(self.lanes));
        if at == home {
            return OutputRequest { port, lanes, rank: 0 };
        }
        let ports = self.next[packet.note() as usize].ports(at, home);
        let port = match ports {
            [one] => *one,
            [] => 0,
            several => {
                let mut draw = || several[here.random.below(several.len() as u32) as usize];
                let mut best = draw();
                for _ in 1..self.choosing.candidates {
                    let other = draw();
                    if here.sight.used(other) < here.sight.used(best) {
                        best = other;
                    }
                }
                best
            }
        };
        let to = self.wiring.ports(at)[usize::from(port)].leads_to().unwrap_or(at);
        let up = (self.rank[to as usize], to) < (self.rank[at as usize], at);
        packet.set_note(if up { 0 } else { DOWN });
        OutputRequest { port, lanes, rank: 0 }
    }
}
