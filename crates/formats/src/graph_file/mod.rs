//! Networks as files: those of fabrics, of graphs, of schedulers and of other simulators.
//!
//! A format is one file beside this one with its row, `ENTRY`; `cargo xtask gen` puts it into the
//! table.

mod attributed;
pub mod codes;
pub mod dot;
mod given;
pub(crate) mod kind;
mod pair;

pub use kind::GraphFileFormat;
pub use pair::{GraphFilePairFormat, GraphFilePairHalf};

use crate::backed::NetworkFileOptions;
use crate::ib::fabric_file::EndpointDeviceFilter;
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Topology;
use kind::NetworkFileStart;

// gen:begin
pub mod discovered;
pub mod edge_list;
pub mod gml;
pub mod graphml;
pub mod htsim;
pub mod ibutils;
pub mod json;
pub mod node_link;
pub mod orcs;
pub mod slurm_tree;

/// All formats that networks are read from, by file; written by `cargo xtask gen`.
#[rustfmt::skip]
pub static FORMATS: &[GraphFileFormat] = &[
    discovered::ENTRY,
    edge_list::ENTRY,
    gml::ENTRY,
    graphml::ENTRY,
    htsim::ENTRY,
    ibutils::ENTRY,
    json::ENTRY,
    node_link::ENTRY,
    orcs::ENTRY,
    slurm_tree::ENTRY,
];
// gen:end

/// The formats in which a network is two files.
pub static PAIRS: &[GraphFilePairFormat] = &[codes::PAIR];

/// All formats that networks are read from: of one file, and of two.
pub fn parts() -> impl Iterator<Item = &'static PartDescription> {
    let one = FORMATS.iter().map(|format| &format.part);
    one.chain(PAIRS.iter().map(|format| &format.part))
}

/// What a file is of the formats of two files, by its name and its first bytes; none where it is
/// of none.
pub fn half(name: &str, start: &[u8]) -> Option<GraphFilePairHalf> {
    PAIRS.iter().find_map(|format| format.half(name, start))
}

/// Reads a network in the format of [`FORMATS`] that `text` has. The content decides, not the name.
///
/// `name` stands for the file in the recipe and in refusals. `p` puts that many endpoints on every
/// switch of a file that has none. O(file log ports).
///
/// # Errors
/// When the text is empty or not well formed in its format, and when `p` is given for a file that
/// has its own endpoints; refusals name the file, and the line where there is one.
pub fn read_any(
    text: &str,
    name: &str,
    p: impl Into<NetworkFileOptions>,
) -> Result<Topology, Refusal> {
    read_any_chosen(text, name, p, &EndpointDeviceFilter::default())
}

/// As [`read_any`]; `choice` says which devices of a fabric are endpoints.
///
/// # Errors
/// As [`read_any`], and when there is a choice and the file is not one of a fabric.
pub fn read_any_chosen(
    text: &str,
    name: &str,
    p: impl Into<NetworkFileOptions>,
    choice: &EndpointDeviceFilter,
) -> Result<Topology, Refusal> {
    let p = p.into();
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let Some(first) =
        body.lines().map(str::trim_start).find(|l| !l.is_empty() && !l.starts_with('#'))
    else {
        return Err(Refusal::new(name, "there is no network in it: it is empty", known()));
    };
    let first = body.lines().map(str::trim_start).find(|l| discovered::says(l)).unwrap_or(first);
    let seen = NetworkFileStart { body, first };
    if !choice.is_default() && !discovered::looks(&seen) {
        let why = "keep, only and adapters choose devices of discovered fabrics, which this is not";
        if !choice.is_of_all() {
            return Err(Refusal::new(name, why, "leave them out for this file"));
        }
        let found = read_any(text, name, p)?;
        return Ok(found.with_remarks([why.to_owned()]));
    }
    let looking = FORMATS.iter().filter(|format| (format.looks)(&seen));
    match looking.min_by_key(|format| format.rank) {
        Some(format) if format.part.name == discovered::ENTRY.part.name => {
            discovered::read(text, name, p, choice)
        }
        Some(format) => (format.read)(text, name, p),
        None if first.starts_with("Unicast lids") || first.contains(crate::ib::lft::FDB_SWITCH) => {
            let why = "a forwarding table says how a network is routed, not how it is cabled";
            Err(Refusal::new(name, why, known()))
        }
        None => edge_list::read_last(text, name, p, &known()),
    }
}

/// The formats that networks are read from, in words.
fn known() -> String {
    let all: Vec<&str> = parts().map(|part| part.doc).collect();
    format!("networks are read from {}", all.join(", "))
}
