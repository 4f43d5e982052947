//! How packets are assigned to the rails of endpoints.

use paths::lengths::RouterDistances;
use paths::select::RailSelection;
use traffic::times::TimeScaledPackets;

/// The assignment of packets to sources that create none themselves.
#[derive(Debug, Clone, Copy)]
pub struct RailAssignmentInputs<'a> {
    /// Sources of an endpoint: rail r of endpoint e is source e * rails + r.
    pub rails: u32,
    /// The rule that selects the rail for a packet.
    pub rail: RailSelection,
    /// The list of packets with their times; none if packets are drawn from their class.
    pub times: Option<TimeScaledPackets<'a>>,
    /// Distances between routers; only for [`RailSelection::Shortest`].
    pub lengths: Option<&'a RouterDistances>,
}
