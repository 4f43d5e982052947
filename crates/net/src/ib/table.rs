//! The file that our OpenSM plug-in reads, both ways: forwarding tables, service levels, SL2VL.
//!
//! Source: `runtime/opensm/tables.c`, which reads it; the format is described in `docs/opensm.md`.

use super::lft::{DROP, Lfts};
use super::names::{Addresses, MAX_LID};
use crate::network::Topology;
use crate::routing::{Lanes, PortTables, Routing, ServiceLevels, Sl2Vl};
use base::{Refusal, SwitchId, TerminalId};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

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
    levels(routing, addresses, &mut out)?;
    match routing.lanes().sl2vl() {
        Sl2Vl::Uniform(table) => row(&mut out, "*", "*", "*", table),
        Sl2Vl::PerPort(tables) => {
            row(&mut out, "*", "*", "*", tables.fallback());
            for (switch, input, output, table) in tables.iter() {
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
        let digits = String::from_utf8_lossy(&line[1..]);
        let _ = writeln!(out, "sl 0x{:016x} 1 {digits}", addresses.switch_guid[s.ix()]);
    }
    Ok(())
}

/// Reads the text of a table file as a routing of `on`.
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub fn read(
    text: &str,
    file: &str,
    on: &Arc<Topology>,
    addresses: &Addresses,
) -> Result<Routing, Refusal> {
    let mut lines =
        text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty() && !l.starts_with('#'));
    if lines.next().map(|(_, l)| l.trim()) != Some("flyloom-tables 1") {
        return Err(Refusal::new(
            format!("{file}: line 1"),
            "no table file",
            "`flyloom-tables 1` first",
        ));
    }
    let mut parts = Parts::default();
    let mut ended = false;
    for (n, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let fault = if ended { Some("text after `end`") } else { parts.take(&words).err() };
        if let Some(expected) = fault {
            let shown: String = line.chars().take(60).collect();
            return Err(Refusal::new(
                format!("{file}: line {}", n + 1),
                format!("'{shown}' is no record"),
                expected,
            ));
        }
        ended = words == ["end"];
    }
    if !ended {
        return Err(Refusal::new(file, "the file is cut off", "the last line must be `end`"));
    }
    if parts.lmc != addresses.lmc {
        let why = format!("tables of LMC {}, addresses of LMC {}", parts.lmc, addresses.lmc);
        return Err(Refusal::new(file, why, "tables and network must belong together"));
    }
    let routing = super::lft::to_routing(&parts.lfts, on, addresses).map_err(|r| r.within(file))?;
    let lanes = parts.lanes(&routing, addresses);
    Ok(routing.with_lanes(lanes))
}

/// What the records of a table file have said so far.
#[derive(Default)]
struct Parts {
    lmc: u8,
    lfts: Lfts,
    default_level: u8,
    levels: BTreeMap<u64, Vec<Option<u8>>>,
    fallback: [u8; 16],
    tables: BTreeMap<(u64, u16, u16), [u8; 16]>,
}

impl Parts {
    /// Takes one record; the error says what a record looks like.
    fn take(&mut self, words: &[&str]) -> Result<(), &'static str> {
        match words {
            ["end"] => Ok(()),
            ["lmc", lmc] => {
                let lmc = lmc.parse().ok().filter(|l| *l <= 7).ok_or("lmc 0 to 7")?;
                self.lmc = lmc;
                Ok(())
            }
            ["lft", guid, first, ports @ ..] => {
                let help = "lft 0x<guid> <first LID> <port or -> ...";
                let first: u16 = first.parse().map_err(|_| help)?;
                let port = |w: &&str| if *w == "-" { Some(DROP) } else { w.parse().ok() };
                let ports: Option<Vec<u8>> = ports.iter().map(port).collect();
                let row = self.lfts.by_guid.entry(guid_of(guid).ok_or(help)?).or_default();
                put(row, first, &ports.ok_or(help)?, DROP).ok_or(help)
            }
            ["sl", "default", level] => {
                self.default_level =
                    level.parse().ok().filter(|l| *l < 16).ok_or("sl default 0 to 15")?;
                Ok(())
            }
            ["sl", guid, first, digits] => {
                let help = "sl 0x<guid> <first LID> <hex digit or . for each LID>";
                let first: u16 = first.parse().map_err(|_| help)?;
                let digit = |c: char| match c {
                    '.' => Some(None),
                    c => c.to_digit(16).map(|d| Some(d as u8)),
                };
                let digits: Option<Vec<Option<u8>>> = digits.chars().map(digit).collect();
                let row = self.levels.entry(guid_of(guid).ok_or(help)?).or_default();
                put(row, first, &digits.ok_or(help)?, None).ok_or(help)
            }
            ["sl2vl", guid, input, output, lanes @ ..] => {
                let help = "sl2vl 0x<guid> <in> <out> and 16 lanes, or * * * and 16 lanes";
                let lanes: Option<Vec<u8>> =
                    lanes.iter().map(|w| w.parse().ok().filter(|l| *l < 16)).collect();
                let lanes: [u8; 16] = lanes.and_then(|l| l.try_into().ok()).ok_or(help)?;
                if [*guid, *input, *output] == ["*"; 3] {
                    self.fallback = lanes;
                    return Ok(());
                }
                let ports = input.parse().ok().zip(output.parse().ok()).ok_or(help)?;
                self.tables.insert((guid_of(guid).ok_or(help)?, ports.0, ports.1), lanes);
                Ok(())
            }
            _ => Err("lmc, lft, sl, sl2vl or end"),
        }
    }

    fn lanes(&self, routing: &Routing, addresses: &Addresses) -> Lanes {
        let on: &Topology = routing.topology();
        let levels = if self.levels.is_empty() {
            ServiceLevels::Same(self.default_level)
        } else {
            let mut by_switch = Vec::with_capacity(routing.next().len());
            for layer in 0..routing.layers() as u16 {
                for lid in &addresses.lid {
                    by_switch.extend(addresses.switch_guid.iter().map(|guid| {
                        let row = self.levels.get(guid);
                        let level =
                            row.and_then(|r| r.get(usize::from(lid + layer)).copied().flatten());
                        level.unwrap_or(self.default_level)
                    }));
                }
            }
            ServiceLevels::BySwitch(by_switch)
        };
        if self.tables.is_empty() {
            return Lanes::new(levels, Sl2Vl::Uniform(self.fallback));
        }
        let mut by_port = PortTables::new(on, self.fallback);
        for (&(guid, input, output), table) in &self.tables {
            if let Some(s) = addresses.switch_guid.iter().position(|g| *g == guid) {
                by_port.set(SwitchId::from(s), input, output, *table);
            }
        }
        Lanes::new(levels, Sl2Vl::PerPort(by_port))
    }
}

fn guid_of(word: &str) -> Option<u64> {
    u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()
}

/// Puts `items` at `first`; `None` when they would pass the last LID.
fn put<T: Copy>(row: &mut Vec<T>, first: u16, items: &[T], empty: T) -> Option<()> {
    let end = usize::from(first) + items.len();
    if end > usize::from(MAX_LID) + 1 {
        return None;
    }
    if row.len() < end {
        row.resize(end, empty);
    }
    row[usize::from(first)..end].copy_from_slice(items);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ib::lft;
    use crate::routing::engine;
    use base::Quiet;
    use serde_json::Map;

    fn routed() -> (Routing, Addresses, String) {
        let recipe = crate::topology::parse_inline("slim_fly:q=5,p=2").expect("an inline form");
        let family = crate::topology::family(&recipe.family).expect("a family");
        let on = Arc::new(family.build(&recipe.params).expect("a member"));
        let entry = engine("dfsssp").expect("an engine");
        let routing = entry.route(&Map::new(), &on, 2, &Quiet).expect("routed");
        let addresses = Addresses::assign(&on, 1).expect("room for all LIDs");
        let lfts = lft::tables(&routing, &addresses).expect("few ports");
        let text = text(&routing, &addresses, &lfts).expect("levels by switch");
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
    }
}
