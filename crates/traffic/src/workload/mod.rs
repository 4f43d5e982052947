//! Schedules of what processes do: sends, receives and calculations, with their dependencies.
//!
//! The model is that of GOAL (Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language,
//! ICPP 2009): every rank has operations, and an operation starts when all that it `requires` are
//! done and all that it `irequires` have started.

pub mod application;
mod build;
pub mod calls;
mod check;
pub mod collective;
mod joined;
mod make;
mod merge;
mod named;
pub mod noise;
pub mod parameters;
mod program;
mod request;
mod schedule;
mod script;
pub mod sequence;
#[cfg(test)]
mod tests;

pub use build::{RankScheduleBuilder, ScheduleBuilder};
pub use joined::UnexpandedCollective;
pub use make::{WorkloadGenerator, generator, generators, make, make_joined};
pub use merge::merge;
pub use named::NamedCollectiveSpan;
pub use program::{RankProgram, schedule_of};
pub use request::WorkloadRequest;
pub use schedule::{ANY, OperationKind, Schedule, ScheduleOperation};
pub use script::{RankScriptWriter, ScriptMessage, tag};
