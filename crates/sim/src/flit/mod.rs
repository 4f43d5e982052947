//! The flit level: routers with virtual channels and credits, cycle by cycle.

pub mod case;
pub mod engine;
pub mod guide;
pub mod router;
pub mod run;
pub mod wiring;
pub mod word;
