//! What is true of a network and its routing without a clock: structure, and load.

pub mod load;
pub mod structure;
