//! The message level: schedules under LogGOPS, a closed loop of processes.

mod loggops;
mod machine;
mod matching;
mod parameters;
mod queue;

pub use loggops::run;
pub use machine::{Found, Left};
pub use parameters::LogGops;
