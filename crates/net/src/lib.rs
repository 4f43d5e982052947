//! The static floor of flyloom: everything about a network that is true without a clock.
//!
//! Values flow: a [`topology::Family`] builds a [`Topology`], a routing engine makes a routing for
//! it, `verify` proves the routing, `ib` writes it for a subnet manager. Nothing here does I/O.

pub mod dependencies;
pub mod graph_file;
pub mod ib;
pub mod lanes;
pub mod load;
pub mod network;
pub mod plan;
pub mod repair;
pub mod routing;
pub mod search;
pub mod sizing;
pub mod structure;
pub mod topology;
pub mod verify;

pub use network::{Builder, Topology};
