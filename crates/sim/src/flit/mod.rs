//! The flit level: routers with virtual channels and credits, cycle by cycle.

pub mod case;
pub mod engine;
pub mod guide;
pub mod lengths;
pub mod loads;
pub mod points;
pub(crate) mod routed;
pub mod router;
pub mod row;
pub mod run;
pub mod seeds;
pub mod seen;
pub mod spec;
pub mod stage;
pub mod warmup;
pub mod wiring;
pub mod word;
