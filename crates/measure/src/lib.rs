//! What is true of a network and its routing: structure and load; and what its counters say.

pub mod load;
pub mod observed;
pub mod structure;
