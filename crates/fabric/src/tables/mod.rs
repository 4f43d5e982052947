//! Forwarding tables: a route per destination and layer, the lane of every hop, their rows.

mod bundles;
mod bytes;
pub mod candidates;
mod hops;
mod kept;
mod routing;
mod rows;
mod sl2vl;
mod walk;

pub use bundles::{Bundle, Bundles};
pub use hops::Hops;
pub use routing::{Lanes, Routing, ServiceLevels, Sources, Starts};
pub use rows::{Laying, NO_ROUTE, Tree};
pub use sl2vl::{PortPairs, PortTables, Sl2Vl};
pub use walk::{Entries, Hop, OnLanes, Turns, Walk};
