//! Who sends to whom: patterns, and what endpoints want to send.

pub mod assignment;
#[cfg(test)]
mod chances;
pub mod communication;
pub mod demand;
pub mod destinations;
pub mod pattern;
pub mod placement;
pub mod process;
pub mod sending;
pub mod times;
mod working;
pub mod workload;
