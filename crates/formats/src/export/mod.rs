//! Files that other programs take: the table of their writers.
//!
//! Only working devices and cables are written, except where a format has a field for the state of
//! a cable. A network that a format cannot hold is refused with the reason. A format is one file
//! beside this one with its row, `ENTRY`; `cargo xtask gen` puts it into the table.

mod hostlist;
mod kind;
mod levels;
// The example of docs/adding-an-export-format.md; the name that the page gives it stays free for
// readers.
#[cfg(test)]
#[path = "../../../../docs/parts/edge_list.rs"]
mod page_edge_list;
mod switch_names;
mod working;

pub use kind::{DeviceFloorPlaces, ExportFormatEntry, ExportInput, FloorRack, RackPosition};

use base::Refusal;
use base::words::did_you_mean;

// gen:begin
mod astra_sim;
mod booksim_anynet;
mod graphml;
mod ibsim;
mod ibutils;
mod opensm_guids;
mod opensm_names;
mod opensm_roots;
mod simgrid;
mod slurm_block;
mod slurm_tree;

/// All formats that networks are written in, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[ExportFormatEntry] = &[
    astra_sim::ENTRY,
    booksim_anynet::ENTRY,
    graphml::ENTRY,
    ibsim::ENTRY,
    ibutils::ENTRY,
    opensm_guids::ENTRY,
    opensm_names::ENTRY,
    opensm_roots::ENTRY,
    simgrid::ENTRY,
    slurm_block::ENTRY,
    slurm_tree::ENTRY,
];
// gen:end

/// The format of this name.
///
/// # Errors
/// When there is none.
pub fn format(name: &str) -> Result<&'static ExportFormatEntry, Refusal> {
    FORMATS.iter().find(|f| f.part.name == name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.part.name).collect();
        let help = did_you_mean(name, known.iter().copied()) + &known.join(", ");
        Refusal::new("to", format!("there is no format '{name}'"), help)
    })
}
