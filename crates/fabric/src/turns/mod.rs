//! Turns: which channel a packet wants while it holds another, on which lanes.

mod dependencies;
mod lane_graph;

pub use dependencies::Dependencies;
pub use lane_graph::{Held, LaneGraph, PathName, each_channel_turn, each_turn};
