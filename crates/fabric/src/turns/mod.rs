//! Turns: which channel a packet wants while it holds another, on which lanes.

mod dependencies;
mod lane_graph;

pub use dependencies::ChannelDependencyNumbering;
pub use lane_graph::{HeldLane, LaneDependencyGraph, PathEnds, each_channel_turn, each_turn};
