//! Ground floor of flyloom: ids, errors, seeds, finite fields, graphs.
//!
//! No I/O, no clock, no globals.

pub mod distance;
pub mod error;
pub mod field;
pub mod graph;
pub mod id;
pub mod seed;
pub mod watch;

pub use error::{Interrupted, Refusal};
pub use graph::Graph;
pub use id::{ChannelId, EndpointId, LinkId, SwitchId, TerminalId};
pub use watch::{Quiet, Watch};
