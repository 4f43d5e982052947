//! Files of others: graphs, InfiniBand's networks and tables, exports; schedules and traces.

pub mod backed;
pub mod booksim;
pub mod communication;
pub mod companion;
pub mod counters;
pub mod export;
pub mod graph_file;
mod hosts;
pub mod ib;
pub mod mapping;
mod names;
pub mod trace;
