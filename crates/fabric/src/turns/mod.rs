//! Turns: which channel a packet wants while it holds another, on which lanes.

mod dependencies;
mod lane_graph;

pub use dependencies::DependencyNumbering;
pub use lane_graph::{HeldLane, LaneGraph, PathEnds, each_channel_turn, each_turn};
