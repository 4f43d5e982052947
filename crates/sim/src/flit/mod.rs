//! The flit level: routers with virtual channels and credits, cycle by cycle.

pub mod case;
pub mod engine;
pub mod guide;
pub mod points;
mod routed;
pub mod router;
pub mod row;
pub mod run;
pub mod seen;
pub mod spec;
pub mod wiring;
pub mod word;
