//! What counters of a running fabric say of its network: loads of channels, waits, bad cables, and
//! the traffic that may have been.

pub mod change;
pub mod estimate;
pub mod grades;
pub mod matching;
mod presence;
mod report;

pub use report::{
    CableReport, ChannelReport, CounterFileReport, EndCounterReport, Observation, UnmatchedDevice,
    observe,
};
