//! The flit level: routers with virtual channels and credits, cycle by cycle.

pub mod booksim;
pub mod case;
pub mod engine;
pub mod points;
pub mod router;
pub mod row;
pub mod run;
pub mod seen;
pub mod spec;
pub mod stage;
pub mod warmup;
