//! A netlist for `ibsim`, the fabric simulator.
//!
//! Source: what ibsim reads; see `fabric_file`.

use super::kind::{ExportFormatEntry, ExportInput, asked};
use crate::ib::fabric_file;
use base::Refusal;
use base::part::PartDescription;
use fabric::addresses::PortAddresses;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) const ENTRY: ExportFormatEntry = ExportFormatEntry::new(
    PartDescription::new("ibsim", "netlist of ibsim, the fabric simulator")
        .takes::<IbsimExportOptions>(),
    "cables up to HDR, switches up to 254 ports",
    write,
);

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Options")]
#[serde(deny_unknown_fields, default)]
struct IbsimExportOptions {
    /// LID mask control, 0 (default) to 7
    lmc: u8,
    /// which plane to write, from 0; of a network of several
    plane: Option<u16>,
}

/// A netlist of one plane: [`fabric_file::write_netlist`].
fn write(source: &ExportInput, options: &Map<String, Value>) -> Result<String, Refusal> {
    let options: IbsimExportOptions = asked(options)?;
    let t = source.network;
    fabric_file::write_netlist(t, &PortAddresses::assign(t, options.lmc)?, options.plane)
}
