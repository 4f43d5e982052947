//! The message level: schedules under LogGOPS, a closed loop of processes.

mod causal;
mod loggops;
mod machine;
mod matching;
mod parameters;
mod queue;

pub use machine::{Found, Left};
pub use parameters::LogGops;

use base::{Stop, Watch};
use serde::{Deserialize, Serialize};
use traffic::workload::Schedule;

/// By which rules a schedule is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Dialect {
    /// An operation begins when what it waits for has ended; large sends ask first.
    #[default]
    #[serde(rename = "causal")]
    Causal,
    /// As LogGOPSim does.
    #[serde(rename = "loggops-v1")]
    LogGopsV1,
}

impl Dialect {
    /// Nanoseconds of the unit of [`Found::finish`].
    pub fn unit_ns(self) -> f64 {
        match self {
            Self::Causal => 1e-3,
            Self::LogGopsV1 => 1.0,
        }
    }
}

/// Runs `schedule`. O(events * log(events that wait for one processor)).
///
/// # Errors
/// When a parameter does not fit the dialect, or `watch` says stop. A schedule that cannot come to
/// its end is a finding: [`Found::left`].
pub fn run(
    schedule: &Schedule,
    dialect: Dialect,
    costs: &LogGops,
    watch: &dyn Watch,
) -> Result<Found, Stop> {
    match dialect {
        Dialect::Causal => causal::run(schedule, costs, watch),
        Dialect::LogGopsV1 => loggops::run(schedule, costs, watch),
    }
}
