//! Networks and tables as text: graph files, InfiniBand's, and files that other programs take.

pub mod booksim;
pub mod chakra;
pub mod export;
pub mod goal;
pub mod graph_file;
pub mod ib;
pub mod liballprof;
mod names;
