//! The ground floor of flyloom: ids, errors, seeds, finite fields, graphs.
//!
//! There is no I/O, no clock and no global here. Threads that work together use the barrier of
//! `team`.

pub mod amount;
pub mod distance;
pub mod error;
pub mod exp;
pub mod field;
pub mod fields;
pub mod graph;
pub mod id;
pub mod interval;
pub mod moore;
pub mod parameters;
pub mod part;
pub mod partition;
pub mod quick;
pub mod renamed;
pub mod seed;
pub mod shape;
pub mod stage;
pub mod taken;
pub mod team;
pub mod units;
pub mod watch;
pub mod words;

pub use error::{ComputationError, Interrupted, Refusal};
pub use graph::Graph;
pub use id::{ChannelId, EndpointId, LinkId, SwitchId, TerminalId};
pub use stage::{ExperimentStage, RecordColumn, RecordJson, ResourceNeed};
pub use units::Picoseconds;
pub use watch::{ProgressWatch, QuietWatch};
