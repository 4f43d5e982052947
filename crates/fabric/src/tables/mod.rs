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
pub use routing::{LaneAssignment, RouteStarts, Routing, ServiceLevels, TrafficSources};
pub use rows::{ForwardingTree, NO_ROUTE, TableDraft};
pub use sl2vl::{PortPairNumbering, Sl2Vl, Sl2VlPortTables};
pub use walk::{ForwardingEntries, Hop, LaneWalk, RouteTurns, RouteWalk};
