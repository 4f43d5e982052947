//! Companion files: those that are read beside a network, beside another file or in pairs, such as
//! routing tables, lanes, host lists and configurations.
//!
//! The row of a format is a constant of type [`CompanionFileFormat`] beside its reader, in any file
//! of this crate; `cargo xtask gen` puts it into the table.

pub(crate) mod kind;
mod timed_packets;

pub use kind::{CompanionFileFormat, ExampleFiles, NamedFile};

// gen:begin
/// All formats of companion files, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[CompanionFileFormat] = &[
    crate::booksim::CONFIG,
    crate::booksim::anynet::ANYNET,
    crate::companion::timed_packets::PACKETS,
    crate::graph_file::ibutils::DEFINITIONS,
    crate::graph_file::orcs::TABLES,
    crate::ib::lft::LFT,
    crate::ib::sl_files::PATH_RECORDS,
    crate::ib::sl_files::SL2VL,
    crate::mapping::companions::HOSTS,
    crate::mapping::companions::MAPPING,
    crate::mapping::companions::PINS,
];
// gen:end
