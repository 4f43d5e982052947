//! Every part against what it promises, and against code that shares nothing with it.

mod addresses;
mod cable_check;
mod candidates;
mod engines;
mod fabric_files;
mod fabric_lines;
mod failures;
mod file_fuzz;
mod graph_files;
mod graph_readers;
mod huge;
mod lanes;
mod measures;
mod minimal;
mod mutations;

mod orcs_files;
mod patterns;
mod promises;
mod reader_fuzz;
mod repair;
mod repair_sequences;
mod repair_traffic;
mod routing;
mod schemes;
mod shared_rows;
