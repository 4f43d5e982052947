//! The packet level: chunks of messages through routers with credits, event by event.
//!
//! Endpoints and routers are logical processes of [`des`]; what runs them does not show in any
//! number. One file for the network as the processes see it, one for what happens, one for queues
//! and what is undone, one each for routers and endpoints, one a way of routing.

pub mod case;
mod classes;
pub mod dally;
mod delivery;
pub mod dfplus;
mod dialect;
mod ended;
mod endpoint;
mod event;
pub mod groups;
mod guided;
mod injection;
#[cfg(test)]
mod kept_tests;
mod latencies;
mod model;
mod nic;
mod node;
mod order;
mod parts;
#[cfg(test)]
mod parts_tests;
mod plant;
mod port;
mod rails;
mod ranks;
mod rates;
mod received;
pub mod replay;
mod route;
mod router;
pub mod row;
mod runs;
pub mod slim_fly;
pub mod spec;
pub mod stage;
mod stuck;
mod tally;
mod timing;
mod told;
mod until;
mod wire;

pub use classes::{ClassOf, Sharing};
pub use ended::{Busiest, Ended};
pub use endpoint::Endpoint;
pub use event::{Happens, Packet, Sender};
pub use guided::Guided;
pub use model::{Drive, Model, State};
pub use nic::{Births, Open};
pub use plant::{Class, Link, Plant};
pub use rails::Rails;
pub use rates::Rates;
pub use received::Seen;
pub use route::Route;
pub use row::ClassRow;
pub use tally::Tally;
pub use timing::{Drawn, Order, Passing, Room, Timing};
