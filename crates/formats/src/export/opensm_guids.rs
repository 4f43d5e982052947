//! Port GUIDs of endpoints, for `OpenSM`.
//!
//! Source: opensm(8), options `--cn_guid_file` and `--guid_routing_order_file`: a GUID a line.

use super::kind::{ExportFormatEntry, ExportInput, OnePlaneExportOptions, asked};
use super::working::{RailSupport, WorkingPlane};
use base::part::PartDescription;
use base::{Refusal, TerminalId};
use fabric::addresses::PortAddresses;
use serde_json::{Map, Value};
use std::fmt::Write;

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new(
        "opensm-guids",
        "cn_guid_file or guid_routing_order_file of OpenSM: port GUIDs of endpoints",
    )
    .takes::<OnePlaneExportOptions>(),
    "any with endpoints",
    write,
);

/// GUIDs of the adapter ports that work, by terminal. O(network).
///
/// # Errors
/// When there is none.
fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: OnePlaneExportOptions = asked(options)?;
    let w = WorkingPlane::of(source.network, options.plane, RailSupport::Any)?;
    w.check_hosts()?;
    let addresses = PortAddresses::assign(w.t, 0)?;
    let mut text = w.remarks("# ");
    for x in (0..w.t.terminals().len()).map(TerminalId::from) {
        if w.t.terminal_is_up(x) && w.t.plane_of(x) == w.plane {
            let _ = writeln!(text, "0x{:016x}", addresses.port_guid[x.ix()]);
        }
    }
    Ok(text)
}
