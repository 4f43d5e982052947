//! The packet level: chunks of messages through routers with credits, event by event.
//!
//! Endpoints and routers are logical processes of [`des`]; what runs them does not show in any
//! number. One file for the network as the processes see it, one for what happens, one for queues
//! and what is undone, one each for routers and endpoints, one a way of routing.

pub mod case;
mod classes;
mod delivery;
mod dialect;
mod ended;
mod endpoint;
mod event;
mod injection;
#[cfg(test)]
mod kept_tests;
mod latencies;
mod model;
mod models;
mod nic;
mod node;
mod parts;
#[cfg(test)]
mod parts_tests;
mod plant;
mod port;
mod ranks;
mod rates;
mod received;
pub mod replay;
mod router;
pub mod row;
mod runs;
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
pub use model::{Drive, Model, State};
pub use models::{Dialect, Guided, Route};
pub use nic::{Injection, Open};
pub use plant::{Class, Link, Plant};
pub use rates::Rates;
pub use received::Seen;
pub use row::ClassRow;
pub use tally::Tally;
pub use timing::{Drawn, Order, Passing, Room, Timing};
