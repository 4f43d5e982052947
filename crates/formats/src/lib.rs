//! Files of others: graphs, InfiniBand's networks and tables, exports; schedules and traces.

pub mod booksim;
pub mod chakra;
pub mod dumpi;
pub mod export;
pub mod goal;
pub mod graph_file;
pub mod ib;
pub mod liballprof;
mod mpi;
mod names;
