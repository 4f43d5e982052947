//! `InfiniBand`: addresses, and the files that subnet managers and their tools read and write.

pub mod changes;
pub mod compare;
pub mod fabric_file;
pub mod lft;
pub mod node_names;
pub mod sl_files;
pub mod table;
mod table_file;
