//! Measures of a network and its routing that need no simulated time: structure, and load.

pub mod load;
pub mod structure;
