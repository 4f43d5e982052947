//! The file of our OpenSM plug-in, read and written: forwarding tables, service levels, SL2VL.
//!
//! Source: `docs/opensm.md` defines the format.

use super::lft::{DROP, FabricForwardingTables};
use super::table_file::{self, TableFileContents};
use base::{Refusal, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use fabric::tables::{LaneAssignment, Routing, ServiceLevels, Sl2VlMapping, Sl2VlPortTables};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// The text of the table file for `routing`: its tables `lfts`, the level of each path by source
/// switch, or by source where those of one switch differ, and its SL2VL tables.
pub fn text(routing: &Routing, addresses: &PortAddresses, lfts: &FabricForwardingTables) -> String {
    let on: &Topology = routing.topology();
    let mut out =
        String::with_capacity(lfts.by_guid.len() * usize::from(addresses.highest_lid()) * 4);
    let remark = fabric::addresses::remark(&format!("{}: {}", on.recipe(), routing.engine()));
    let _ = writeln!(out, "flyloom-tables 1\n# {remark}");
    let _ = writeln!(out, "lmc {}", addresses.lmc);
    for (guid, table) in &lfts.by_guid {
        let _ = write!(out, "lft 0x{guid:016x} 1");
        for &port in &table[1..] {
            if port == DROP {
                out.push_str(" -");
            } else {
                let _ = write!(out, " {port}");
            }
        }
        out.push('\n');
    }
    levels(routing, addresses, &mut out);
    match routing.lanes().sl2vl() {
        Sl2VlMapping::Uniform(table) => row(&mut out, "*", "*", "*", table),
        Sl2VlMapping::PerPort(tables) => {
            row(&mut out, "*", "*", "*", tables.fallback());
            for (switch, input, output, table) in tables.iter() {
                let guid = format!("0x{:016x}", addresses.switch_guid[switch.ix()]);
                row(&mut out, &guid, &input.to_string(), &output.to_string(), table);
            }
        }
    }
    out.push_str("end\n");
    out
}

fn row(out: &mut String, switch: &str, input: &str, output: &str, table: &[u8; 16]) {
    let _ = write!(out, "sl2vl {switch} {input} {output}");
    for lane in table {
        let _ = write!(out, " {lane}");
    }
    out.push('\n');
}

fn levels(routing: &Routing, addresses: &PortAddresses, out: &mut String) {
    let on: &Topology = routing.topology();
    let up = || (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t));
    // a digit for each LID; `level` is asked by (layer * terminals + terminal)
    let digits = |level: &dyn Fn(usize) -> u8| {
        let mut line = vec![b'.'; usize::from(addresses.highest_lid()) + 1];
        for t in up() {
            for offset in 0..1_u32 << addresses.lmc {
                let row = (offset % routing.layers()) as usize * on.terminals().len() + t.ix();
                line[usize::from(addresses.lid[t.ix()]) + offset as usize] =
                    b"0123456789abcdef"[usize::from(level(row) & 15)];
            }
        }
        String::from_utf8_lossy(&line[1..]).into_owned()
    };
    let default = match routing.lanes().levels() {
        ServiceLevels::Same(sl) => *sl,
        ServiceLevels::BySwitch(_) | ServiceLevels::ByTerminal(_) => 0,
    };
    let _ = writeln!(out, "sl default {default}");
    match routing.lanes().levels() {
        ServiceLevels::Same(_) => {}
        ServiceLevels::BySwitch(levels) => {
            let all = on.switches().len();
            for s in (0..all).filter(|s| on.switches()[*s].up) {
                let digits = digits(&|row| levels[row * all + s]);
                let _ = writeln!(out, "sl 0x{:016x} 1 {digits}", addresses.switch_guid[s]);
            }
        }
        ServiceLevels::ByTerminal(levels) => {
            for from in up() {
                let digits = digits(&|row| levels[row * on.terminals().len() + from.ix()]);
                let _ = writeln!(out, "sl from {} 1 {digits}", addresses.lid[from.ix()]);
            }
        }
    }
}

/// Reads the text of a table file as a routing of `on`.
///
/// # Errors
/// Names the line of `file` and what was expected there, or what does not fit `on`: another LMC, a
/// switch or a source of levels that it does not have.
pub fn read(
    text: &str,
    file: &str,
    on: &Arc<Topology>,
    addresses: &PortAddresses,
) -> Result<Routing, Refusal> {
    let found = table_file::parse(text, file)?;
    if found.lmc != addresses.lmc {
        let why = format!("tables of LMC {}, addresses of LMC {}", found.lmc, addresses.lmc);
        return Err(Refusal::new(file, why, "tables and network must belong together"));
    }
    let known: BTreeSet<u16> = addresses.lid.iter().copied().collect();
    if let Some(lid) = found.sources().find(|lid| !known.contains(lid)) {
        let why = format!("levels of paths from LID {lid}, which is no endpoint's first LID");
        return Err(Refusal::new(file, why, "tables and network must belong together"));
    }
    let routing = super::lft::to_routing(&found.lfts, on, addresses).map_err(|r| r.within(file))?;
    let lanes = LaneAssignment::new(
        levels_of(&found, &routing, addresses),
        lanes_of(&found, on, addresses),
    );
    Ok(routing.with_lanes(lanes))
}

fn levels_of(
    found: &TableFileContents,
    routing: &Routing,
    addresses: &PortAddresses,
) -> ServiceLevels {
    if found.has_one_level() {
        return ServiceLevels::Same(found.default_level());
    }
    let destinations =
        || (0..routing.layers() as u16).flat_map(|l| addresses.lid.iter().map(move |lid| lid + l));
    if found.sources().next().is_none() {
        let row = |lid| addresses.switch_guid.iter().map(move |guid| found.level(*guid, 0, lid));
        return ServiceLevels::BySwitch(destinations().flat_map(row).collect());
    }
    let terminals = routing.topology().terminals();
    let guid = |t: usize| addresses.switch_guid[terminals[t].plug.switch.ix()];
    let row = |to| {
        let sources = addresses.lid.iter().enumerate();
        sources.map(move |(t, from)| found.level(guid(t), *from, to))
    };
    ServiceLevels::ByTerminal(destinations().flat_map(row).collect())
}

fn lanes_of(found: &TableFileContents, on: &Topology, addresses: &PortAddresses) -> Sl2VlMapping {
    let (_, fallback) = found.sl2vl[0];
    if found.sl2vl.len() == 1 {
        return Sl2VlMapping::Uniform(fallback);
    }
    let switch: BTreeMap<u64, SwitchId> =
        addresses.switch_guid.iter().enumerate().map(|(s, g)| (*g, SwitchId::from(s))).collect();
    let mut by_port = Sl2VlPortTables::new(on, fallback);
    for ((guid, input, output), table) in &found.sl2vl[1..] {
        let one = guid.map(|g| switch.get(&g).copied());
        let all = (0..on.switches().len()).map(SwitchId::from).filter(|_| guid.is_none());
        for s in one.into_iter().flatten().chain(all) {
            // a port that the switch lacks has no traffic
            let ports =
                |port: &Option<u16>| port.map_or(0..=on.switches()[s.ix()].ports, |p| p..=p);
            for (i, o) in ports(input).flat_map(|i| ports(output).map(move |o| (i, o))) {
                by_port.set(s, i, o, *table);
            }
        }
    }
    Sl2VlMapping::PerPort(by_port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ib::lft;
    use base::QuietWatch;
    use engines::engine;
    use serde_json::Map;

    fn routed() -> (Routing, PortAddresses, String) {
        let recipe = fabric::network::parse_inline("slim_fly:q=5,p=2").expect("an inline form");
        let family = families::family(&recipe.family).expect("a family");
        let on = Arc::new(family.build(&recipe.params).expect("a member"));
        let entry = engine("dfsssp").expect("an engine");
        let routing = entry.route(&Map::new(), &on, 2, &QuietWatch).expect("routed");
        let addresses = PortAddresses::assign(&on, 1).expect("room for all LIDs");
        let lfts = lft::tables(&routing, &addresses).expect("few ports");
        let text = text(&routing, &addresses, &lfts);
        (routing, addresses, text)
    }

    #[test]
    fn what_is_written_reads_back_equal() {
        let (routing, addresses, text) = routed();
        let back = read(&text, "t", routing.topology(), &addresses).expect("our own file");
        assert_eq!(back.next(), routing.next());
        assert_eq!(back.to_switch(), routing.to_switch());
        let (from, to) = (routing.lanes(), back.lanes());
        assert_eq!((from.count(), from.sl2vl()), (to.count(), to.sl2vl()));
        assert_eq!(from.levels(), to.levels());
        let dump = {
            let mut out = String::new();
            let lfts = lft::tables(&routing, &addresses).expect("few ports");
            lft::write(&lfts, routing.topology(), &addresses, &mut out).expect("a string");
            assert_eq!(lft::read(&out, "dump").expect("our own dump").entries(), lfts.entries());
            out
        };
        let cut: String =
            dump.lines().take(40).chain(["9 valid lids dumped"]).collect::<Vec<_>>().join("\n");
        assert!(lft::read(&cut, "dump").expect_err("cut").param.starts_with("dump: line 41"));
    }

    #[test]
    fn damage_is_located() {
        let (routing, addresses, text) = routed();
        let fault = |text: &str| {
            read(text, "t", routing.topology(), &addresses).expect_err("damaged").to_string()
        };
        let lines: Vec<&str> = text.lines().collect();
        assert!(fault(&lines[..lines.len() - 1].join("\n")).contains("cut off"));
        assert!(fault(&text.replacen("lmc 1", "lmc 9", 1)).starts_with("t: line 3"));
        assert!(fault(&text.replacen("lmc 1", "lmc 2", 1)).contains("LMC 2"));
        assert!(fault(&text.replacen("sl2vl * * * 0", "sl2vl * * * 16", 1)).contains("16 lanes"));
        assert!(fault(&text.replacen("lft 0x", "lft x", 1)).contains("line 4"));
        assert!(fault("hello").contains("flyloom-tables 1"));
        // records that repeat others, also of LIDs that are not given, and general records that
        // would undo special ones
        let more = |record: &str| fault(&text.replacen("\nend", &format!("\n{record}\nend"), 1));
        let guid = format!("0x{:016x}", addresses.switch_guid[0]);
        assert!(more(&format!("lft {guid} 2 -")).contains("LID 2 has an entry already"));
        assert!(more(&format!("sl {guid} 2 .")).contains("LID 2 has an entry already"));
        assert!(more("sl default 0").contains("second"));
        assert!(more("lmc 1").contains("second"));
        let row = ["0"; 16].join(" ");
        assert!(more(&format!("sl2vl * * * {row}")).contains("twice"));
        let two = format!("sl2vl {guid} 1 2 {row}\nsl2vl * 1 * {row}");
        assert!(more(&two).contains("more general"));
        assert!(more("sl from 3 1 0").contains("multiple of 2"));
        assert!(more("sl from 6000 1 0").contains("no endpoint"));
        assert!(more("sl 0x00000000000000aa 1 0").contains("no lft record"));
        assert!(more("lmc 1\r").contains("byte 13"));
    }

    #[test]
    fn levels_by_terminal_are_written_and_read() {
        let (routing, addresses, _) = routed();
        let ends = routing.topology().terminals().len();
        let count = routing.layers() as usize * ends * ends;
        let levels = (0..count).map(|i| (i * i % 7) as u8).collect();
        let lanes =
            LaneAssignment::new(ServiceLevels::ByTerminal(levels), routing.lanes().sl2vl().clone());
        let routing = routing.with_lanes(lanes);
        let lfts = lft::tables(&routing, &addresses).expect("few ports");
        let text = text(&routing, &addresses, &lfts);
        let back = read(&text, "t", routing.topology(), &addresses).expect("our own file");
        assert_eq!(back.lanes().levels(), routing.lanes().levels());
        // a source without a row has the levels of its switch, then the default
        let lid = addresses.lid[0];
        let own = |line: &&str| !line.starts_with(&format!("sl from {lid} "));
        let less: Vec<&str> = text.lines().filter(own).collect();
        let guid = addresses.switch_guid[0];
        let less =
            less.join("\n").replace("\nend", &format!("\nsl 0x{guid:016x} {} 5\nend", lid + 2));
        let back = read(&less, "t", routing.topology(), &addresses).expect("a good file");
        let level = |to| back.service_level(TerminalId(0), 0, TerminalId(to));
        assert_eq!((level(1), level(2)), (5, 0));
    }
}
