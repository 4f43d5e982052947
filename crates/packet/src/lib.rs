//! The packet level: chunks of messages travel through routers with credits, event by event.
//!
//! Endpoints and routers are logical processes of [`des`]; results do not depend on the engine that
//! runs them. The network, the events, the queues with undoing, routers, endpoints, and each model
//! of paths have a file each.

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
mod offer;
mod parts;
#[cfg(test)]
mod parts_tests;
mod plant;
mod port;
mod ranks;
mod rates;
mod received;
pub mod replay;
mod report;
mod router;
pub mod row;
mod runs;
pub mod spec;
pub mod stage;
mod stuck;
mod tally;
mod timing;
mod until;
mod used;
mod window;
mod wire;

pub use classes::{ClassPortSharingRule, TrafficClassParameters};
pub use ended::{BusyRouterPort, FinalRunState};
pub use endpoint::Endpoint;
pub use event::{ChunkSender, Event, PacketChunk};
pub use model::{EndpointTrafficSource, NodeState, PacketSimulationModel};
pub use models::{PacketPathMethod, RoutingGuidePaths, SimulatorDialect};
pub use nic::{MessageInjectionProcess, OpenLoopTraffic};
pub use plant::{LinkClass, LinkClassProperties, SimulatedNetwork};
pub use rates::LinkRates;
pub use received::EndpointReceivedTotals;
pub use row::TrafficClassResultRow;
pub use tally::ArrivalStatistics;
pub use timing::{
    CreditRule, DialectTimingRules, ForwardingRule, RandomDelay, VirtualChannelSendOrder,
};
pub use window::{MeasuredWindow, RunLengthParameters};
