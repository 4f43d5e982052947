//! Names by node GUID, for `OpenSM` and the diagnostics.
//!
//! Source: opensm(8), option `--node_name_map`: `0xGUID "name"`.

use super::kind::{ExportFormatEntry, ExportInput, OnePlaneExportOptions, asked};
use super::working::{RailSupport, WorkingPlane};
use base::Refusal;
use base::part::PartDescription;
use fabric::addresses::PortAddresses;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new(
        "opensm-names",
        "node_name_map of OpenSM and the diagnostics: names by node GUID",
    )
    .takes::<OnePlaneExportOptions>(),
    "any",
    write,
);

/// Node GUIDs with names: switches, then endpoints. O(network).
///
/// # Errors
/// When a name has a quotation mark, which ends a name in this format.
fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: OnePlaneExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    let addresses = PortAddresses::assign(w.t, 0)?;
    let switches = w
        .switches
        .iter()
        .enumerate()
        .map(|(n, s)| (addresses.switch_guid[s.ix()], w.switch_name(n)));
    let hosts = w.hosts.iter().map(|h| (addresses.node_guid[h.endpoint.ix()], w.host_name(h)));
    let mut text = w.remarks("# ");
    for (guid, name) in switches.chain(hosts) {
        if name.contains('"') {
            let why = format!("{name} has a quotation mark");
            return Err(Refusal::new("name", why, "the format cannot write it"));
        }
        let _ = writeln!(text, "0x{guid:016x} \"{name}\"");
    }
    Ok(text)
}
