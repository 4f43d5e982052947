//! The top switches of a tree, for `OpenSM`.
//!
//! Source: opensm(8), option `--root_guid_file`: a GUID a line, in hexadecimal.

use super::kind::{ExportFormatEntry, ExportInput, OnePlaneExportOptions, asked};
use super::levels::levels;
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use fabric::addresses::PortAddresses;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("opensm-roots", "root_guid_file of OpenSM: the top switches of a tree")
        .takes::<OnePlaneExportOptions>(),
    "trees",
    write,
);

/// GUIDs of the switches on the highest level, in their order. O(network).
///
/// # Errors
/// When the network is no tree of several levels.
fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: OnePlaneExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    let help = "only trees have roots";
    let level = levels(&w, help)?;
    let top = level.iter().copied().max().unwrap_or(0);
    if top == 0 {
        return Err(Refusal::new("network", "all switches are on one level", help));
    }
    let addresses = PortAddresses::assign(w.t, 0)?;
    let mut text = w.remarks("# ");
    for (s, _) in w.switches.iter().zip(&level).filter(|(_, level)| **level == top) {
        let _ = writeln!(text, "0x{:016x}", addresses.switch_guid[s.ix()]);
    }
    Ok(text)
}
