//! Forwarding tables: a route per destination and layer, the lane of every hop, and how they are
//! stored.

mod bundles;
mod bytes;
pub mod candidates;
mod hops;
mod kept;
mod routing;
mod rows;
mod sl2vl;
mod walk;

pub use bundles::{DestinationBundle, DestinationBundles};
pub use hops::TerminalNextHops;
pub use routing::{
    LaneAssignment, RouteStartSwitches, Routing, ServiceLevels, TrafficSourceSwitches,
};
pub use rows::{ForwardingTableDraft, ForwardingTree, NO_ROUTE};
pub use sl2vl::{PortPairNumbering, Sl2VlMapping, Sl2VlPortTables};
pub use walk::{ForwardingEntries, Hop, RouteTurns, RouteWalk, RouteWalkWithLanes};
