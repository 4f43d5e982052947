//! Files of others: graphs, InfiniBand's networks and tables, exports; schedules and traces.

pub mod backed;
pub mod booksim;
pub mod chakra;
pub mod communication;
pub mod dumpi;
pub mod export;
pub mod goal;
pub mod graph_file;
mod hosts;
pub mod ib;
pub mod liballprof;
pub mod mapping;
mod mpi;
mod names;
