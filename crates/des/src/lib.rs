//! Discrete events: one way to say what happens, several engines that run it, bit for bit equal.
//!
//! A [`Model`] is made of logical processes (LPs) that share nothing and send each other events.
//! Every event has a [`Key`] that does not depend on the engine: its time, then its depth among
//! events that cause one another at one time, then who sent it and as which of its events. An LP
//! handles its events in the order of their keys, whatever runs it:
//!
//! - [`sequential`]: one queue, one thread;
//! - [`windows`]: LPs in parts, a thread each; all handle what lies in a window of time that no
//!   part can disturb, then exchange what they sent (conservative); with [`Carried`] the same over
//!   processes;
//! - [`optimistic`]: parts go ahead of what is sure, and undo what came too early (Time Warp).
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

pub use model::{Context, Event, Key, Lp, Model, Outcome, RANGE_PS};
pub use optimistic::{Ahead, optimistic};
pub use peers::{Carried, Peers, Wire};
pub use queue::Queue;
pub use sequential::sequential;
pub use windows::{Part, Transport, windows, windows_over};
