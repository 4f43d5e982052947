//! How packets are assigned to the rails of endpoints.

use paths::lengths::PathLengths;
use paths::select::RailSelection;
use traffic::times::StretchedPackets;

/// How packets are assigned to sources that create none themselves.
#[derive(Debug, Clone, Copy)]
pub struct RailAssignment<'a> {
    /// Sources of an endpoint: rail r of endpoint e is source e * rails + r.
    pub rails: u32,
    /// Which of them takes a packet.
    pub rail: RailSelection,
    /// Packets with their times; none where times are drawn, as the class says.
    pub times: Option<StretchedPackets<'a>>,
    /// How far routers are from one another, where [`RailSelection::Shortest`] asks.
    pub lengths: Option<&'a PathLengths>,
}
