//! `InfiniBand`: addresses, and the files that subnet managers and their tools read and write.

pub mod fabric_file;
pub mod names;
