//! Files of `InfiniBand` programs: a netlist for `ibsim`, and `OpenSM`'s lists of GUIDs and names.
//!
//! Source: opensm(8), options `--root_guid_file`, `--cn_guid_file` and `--guid_routing_order_file`
//! (a GUID a line, in hexadecimal) and `--node_name_map` (`0xGUID "name"`).

use super::levels::levels;
use super::working::{Rails, Working};
use super::{Source, asked};
use crate::ib::fabric_file;
use base::{Refusal, TerminalId};
use fabric::addresses::Addresses;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    plane: Option<u16>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NetlistOptions {
    lmc: u8,
    plane: Option<u16>,
}

/// A netlist of one plane: [`fabric_file::write_netlist`].
pub(super) fn write_netlist(
    source: &Source,
    options: &Map<String, Value>,
) -> Result<String, Refusal> {
    let options: NetlistOptions = asked(options)?;
    let t = source.network;
    fabric_file::write_netlist(t, &Addresses::assign(t, options.lmc)?, options.plane)
}

/// GUIDs of the switches on the highest level, in their order. O(network).
///
/// # Errors
/// When the network is no tree of several levels.
pub(super) fn write_roots(
    source: &Source,
    options: &Map<String, Value>,
) -> Result<String, Refusal> {
    let options: Options = asked(options)?;
    let w = Working::of(source.network, options.plane, Rails::Any)?;
    let help = "only trees have roots";
    let level = levels(&w, help)?;
    let top = level.iter().copied().max().unwrap_or(0);
    if top == 0 {
        return Err(Refusal::new("network", "all switches are on one level", help));
    }
    let addresses = Addresses::assign(w.t, 0)?;
    let mut text = w.remarks("# ");
    for (s, _) in w.switches.iter().zip(&level).filter(|(_, level)| **level == top) {
        let _ = writeln!(text, "0x{:016x}", addresses.switch_guid[s.ix()]);
    }
    Ok(text)
}

/// GUIDs of the adapter ports that work, by terminal. O(network).
///
/// # Errors
/// When there is none.
pub(super) fn write_guids(
    source: &Source,
    options: &Map<String, Value>,
) -> Result<String, Refusal> {
    let options: Options = asked(options)?;
    let w = Working::of(source.network, options.plane, Rails::Any)?;
    w.check_hosts()?;
    let addresses = Addresses::assign(w.t, 0)?;
    let mut text = w.remarks("# ");
    for x in (0..w.t.terminals().len()).map(TerminalId::from) {
        if w.t.terminal_is_up(x) && w.t.plane_of(x) == w.plane {
            let _ = writeln!(text, "0x{:016x}", addresses.port_guid[x.ix()]);
        }
    }
    Ok(text)
}

/// Node GUIDs with names: switches, then endpoints. O(network).
///
/// # Errors
/// When a name has a quotation mark, which ends a name in this format.
pub(super) fn write_names(
    source: &Source,
    options: &Map<String, Value>,
) -> Result<String, Refusal> {
    let options: Options = asked(options)?;
    let w = Working::of(source.network, options.plane, Rails::Any)?;
    let addresses = Addresses::assign(w.t, 0)?;
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
            return Err(Refusal::new("name", why, "the format has no way to write it"));
        }
        let _ = writeln!(text, "0x{guid:016x} \"{name}\"");
    }
    Ok(text)
}
