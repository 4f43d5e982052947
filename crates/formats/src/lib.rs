//! Networks and tables as text: graph files, and InfiniBand's. Text in, text out.

pub mod graph_file;
pub mod ib;
mod names;
