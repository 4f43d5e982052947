//! Discrete event simulation: an interface for models, and engines with bit-identical results.
//!
//! A [`SimulationModel`] is made of logical processes (LPs) that share nothing and send each other
//! events. Every event has a [`EventKey`] that does not depend on the engine: its time, then its
//! depth in the chain of events that cause one another at this time, then its sender and its number
//! among the sender's events. An LP handles its events in the order of their keys, whichever engine
//! runs it:
//!
//! - [`sequential`]: one queue, one thread;
//! - [`windows`]: LPs in parts, one thread for each part; all handle the events of a window of time
//!   in which no part can affect another, then exchange the events that they sent (conservative).
//!   With [`PeerEventTransport`], the parts are separate processes;
//! - [`optimistic`]: parts run ahead speculatively, and undo events handled too early (Time Warp).
//!
//! Source: Fujimoto, "Parallel and distributed simulation systems", Wiley 2000, chapters 3 and 4.

mod fetch;
mod model;
mod optimistic;
pub mod peers;
#[cfg(test)]
mod peers_tests;
mod queue;
mod sequential;
#[cfg(test)]
mod tests;
mod wheel;
mod windows;
#[cfg(test)]
mod wired;

pub use model::{
    Event, EventKey, HandlerContext, LpNumber, RANGE_PS, SimulationModel, SimulationOutcome,
};
pub use optimistic::{OptimisticEngineOptions, optimistic};
pub use peers::{PeerByteExchange, PeerEventTransport, WireEncodable};
pub use queue::EventQueue;
pub use sequential::sequential;
pub use windows::{EventTransport, LpPartResult, windows, windows_over};
