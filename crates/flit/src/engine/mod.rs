//! The engine: all routers of a network, cycle by cycle, on any number of threads.

mod allocate;
mod assignment;
mod audit;
mod batch;
mod board;
mod build;
mod choose;
mod context;
mod creation;
mod extra;
mod full;
mod inject;
mod part;
mod plain;
mod rail_queue;
mod source;
mod tally;
mod unit;

pub use assignment::RailAssignmentInputs;
pub use audit::BlockedPacket;
pub use build::{FlitEngineInputs, FlitSimulationEngine};
pub use choose::engine;
pub use tally::{LatencyHistogram, TrafficClassCounts, TrafficCounts};
