//! Which process goes where on a network: mappings of communication graphs, and their worth.

pub mod arrangement;
pub mod bounds;
pub mod busy;
pub mod chain;
pub mod evaluate;
pub mod fractional;
pub mod halo;
pub mod lists;
pub mod map;
pub mod method;
pub mod metric;
pub mod near;
mod portfolio;
pub mod problem;
pub mod slots;
pub mod ways;
