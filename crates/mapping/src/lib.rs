//! Which process goes where on a network: mappings of communication graphs, and their worth.

pub mod arrangement;
pub mod bounds;
pub mod busy;
mod capacity;
pub mod chain;
mod effort;
pub mod evaluate;
pub mod fractional;
pub mod halo;
pub mod lists;
pub mod loads;
pub mod map;
pub mod method;
pub mod metric;
pub mod near;
pub mod problem;
pub mod proposals;
mod run;
pub mod slots;
pub mod spec;
pub mod ways;
