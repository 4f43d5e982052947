//! Schedules in the format GOAL: as text, and in binary as LogGOPSim reads it.

pub mod binary;
mod labels;
mod scan;
#[cfg(test)]
mod tests;
pub mod text;

/// Most ranks of a schedule.
const MOST_RANKS: u64 = 1 << 28;
