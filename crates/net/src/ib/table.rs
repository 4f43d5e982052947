//! The file that our OpenSM plug-in reads: forwarding tables, service levels, SL2VL tables.
//!
//! Source: `runtime/opensm/tables.c`, which reads it; the format is described in `docs/opensm.md`.

use super::lft::{DROP, Lfts};
use super::names::Addresses;
use crate::network::Topology;
use crate::routing::{Routing, ServiceLevels, Sl2Vl};
use base::{Refusal, SwitchId, TerminalId};
use std::fmt::Write;

/// The text of the table file for `routing`: its tables `lfts`, the level of each path by source
/// switch, and its SL2VL tables.
///
/// # Errors
/// When levels differ between terminals of one switch (the plug-in answers by switch).
pub fn text(routing: &Routing, addresses: &Addresses, lfts: &Lfts) -> Result<String, Refusal> {
    let on: &Topology = routing.topology();
    let mut out =
        String::with_capacity(lfts.by_guid.len() * usize::from(addresses.highest_lid()) * 4);
    let _ = writeln!(out, "flyloom-tables 1\n# {}: {}", on.recipe(), routing.engine());
    let _ = writeln!(out, "lmc {}", addresses.lmc);
    for (guid, table) in &lfts.by_guid {
        let _ = write!(out, "lft 0x{guid:016x} 0");
        for &port in table {
            if port == DROP {
                out.push_str(" -");
            } else {
                let _ = write!(out, " {port}");
            }
        }
        out.push('\n');
    }
    levels(routing, addresses, &mut out)?;
    match routing.lanes().sl2vl() {
        Sl2Vl::Uniform(table) => row(&mut out, "*", "*", "*", table),
        Sl2Vl::PerPort { fallback, tables } => {
            row(&mut out, "*", "*", "*", fallback);
            for ((switch, input, output), table) in tables {
                let guid = format!("0x{:016x}", addresses.switch_guid[switch.ix()]);
                row(&mut out, &guid, &input.to_string(), &output.to_string(), table);
            }
        }
    }
    out.push_str("end\n");
    Ok(out)
}

fn row(out: &mut String, switch: &str, input: &str, output: &str, table: &[u8; 16]) {
    let _ = write!(out, "sl2vl {switch} {input} {output}");
    for lane in table {
        let _ = write!(out, " {lane}");
    }
    out.push('\n');
}

fn levels(routing: &Routing, addresses: &Addresses, out: &mut String) -> Result<(), Refusal> {
    let on: &Topology = routing.topology();
    let by_switch = match routing.lanes().levels() {
        ServiceLevels::Same(sl) => {
            let _ = writeln!(out, "sl default {sl}");
            return Ok(());
        }
        ServiceLevels::BySwitch(levels) => levels,
        ServiceLevels::ByTerminal(_) => {
            let why = "levels differ between terminals of one switch";
            return Err(Refusal::new("service levels", why, "use a routing with levels by switch"));
        }
    };
    let _ = writeln!(out, "sl default 0");
    let width = usize::from(addresses.highest_lid()) + 1;
    for s in (0..on.switches().len()).map(SwitchId::from).filter(|s| on.switches()[s.ix()].up) {
        let mut line = vec![b'.'; width];
        for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
            for offset in 0..1_u32 << addresses.lmc {
                let layer = offset % routing.layers();
                let row = layer as usize * on.terminals().len() + t.ix();
                let sl = by_switch[row * on.switches().len() + s.ix()];
                line[usize::from(addresses.lid[t.ix()]) + offset as usize] =
                    b"0123456789abcdef"[usize::from(sl & 15)];
            }
        }
        let digits = String::from_utf8_lossy(&line);
        let _ = writeln!(out, "sl 0x{:016x} 0 {digits}", addresses.switch_guid[s.ix()]);
    }
    Ok(())
}
