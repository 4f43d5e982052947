//! Mapping: which process goes on which endpoint of a network, and the quality of such mappings.

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
pub mod paths;
pub mod problem;
pub mod proposals;
mod run;
pub mod slots;
