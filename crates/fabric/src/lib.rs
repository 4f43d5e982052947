//! The shared nouns: networks, addresses, tables, turns. Nothing here computes a result.

pub mod addresses;
pub mod counters;
pub mod geometry;
pub mod lids;
pub mod network;
pub mod size;
pub mod tables;
pub mod tree;
pub mod turns;

pub use network::{Topology, TopologyBuilder};
