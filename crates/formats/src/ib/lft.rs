//! Linear forwarding tables as text: what OpenSM and the tools around it dump, read and written.
//!
//! Source: the files that `dump_fts`, `dump_lfts` (a script of that name before it) and `ibroute`
//! print and OpenSM's `file` engine reads (`osm_ucast_file.c`): a line
//! `Unicast lids ... guid 0x<guid> (<name>):` opens a switch, then `0x<lid hex> <port decimal> ...`
//! is an entry a line. OpenSM's `opensm-lfts.dump` is the same but for the remarks. Its
//! `opensm.fdbs` (`osm_dump.c`), and what ibdiagnet writes for ibutils, open a switch by
//! `dump_ucast_routes: Switch 0x<guid>`, with `osm_ucast_mgr_` or `__osm_ucast_mgr_` before it in
//! older versions; entries are `0x<LID HEX> : <port decimal>  : <hops> : <optimal>`, or
//! `0x<LID HEX> : UNREACHABLE`.

use crate::companion::kind::{CompanionFileFormat, one_file, one_text};
use base::part::PartDescription;
use base::{Refusal, SwitchId, TerminalId};
use fabric::addresses::{MAX_LID, PortAddresses};
use fabric::network::Topology;
use fabric::tables::{ForwardingTree, NO_ROUTE, Routing};
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

pub(crate) const LFT: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new(
        "lft",
        "linear forwarding tables, as dump_fts, dump_lfts and OpenSM print them",
    ),
    read: |files| one_text(files, read),
    example: || one_file("fabric.lfts", EXAMPLE),
};

const EXAMPLE: &str = "\
    Unicast lids [0x0-0xb] of switch Lid 10 guid 0x00000000000000a1 (s1):\n  Lid  Out\n\
    0x0001 001 : (Channel Adapter portguid 0x0000000000000011: 'h 1')\n\
    0x000a 000 : (Switch portguid 0x00000000000000a1: 's1')\n2 valid lids dumped \n\
    Unicast lids [0x0-0xb] of switch Lid 11 guid 0x00000000000000a2 (s2):\n0x000a 012 : (Switch \
    portguid 0x00000000000000a1: 's1')\n0x000b 000 : (Switch)\n2 valid lids dumped \n";

/// An entry that forwards nowhere: hardware writes 255.
pub const DROP: u8 = 255;

/// The forwarding tables of a fabric: for each switch GUID, the port of each LID from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FabricForwardingTables {
    /// Ports by LID; LIDs past the end, and [`DROP`], are not forwarded.
    pub by_guid: BTreeMap<u64, Vec<u8>>,
}

impl FabricForwardingTables {
    /// The port of `lid` at the switch of `guid`; [`DROP`] when it has none.
    pub fn port(&self, guid: u64, lid: u16) -> u8 {
        let table = self.by_guid.get(&guid);
        table.and_then(|t| t.get(usize::from(lid))).copied().unwrap_or(DROP)
    }

    /// The number of entries that forward somewhere.
    pub fn entries(&self) -> u64 {
        self.by_guid.values().flatten().filter(|p| **p != DROP).count() as u64
    }
}

/// The tables of `routing` under these addresses: the least LMC that holds its layers is used, LID
/// offset i carries layer i modulo the number of layers. Failed switches and terminals are left
/// out.
///
/// # Errors
/// When a port is above 254, or the addresses have another LMC than the routing.
pub fn tables(
    routing: &Routing,
    addresses: &PortAddresses,
) -> Result<FabricForwardingTables, Refusal> {
    let on: &Topology = routing.topology();
    if addresses.lmc != routing.lmc() {
        let why =
            format!("addresses with LMC {} for a routing of LMC {}", addresses.lmc, routing.lmc());
        return Err(Refusal::new("lmc", why, "assign addresses with the routing's LMC"));
    }
    let mut tables: Vec<Vec<u8>> =
        vec![vec![DROP; usize::from(addresses.highest_lid()) + 1]; on.switches().len()];
    let mut put = |lid: u16, entries: ForwardingTree<'_>| -> Result<(), Refusal> {
        for (s, port) in entries.ports().enumerate().filter(|(_, p)| *p != NO_ROUTE) {
            let byte = u8::try_from(port).ok().filter(|p| *p != DROP).ok_or_else(|| {
                let why = format!("switch {} forwards to port {port}", on.switches()[s].name);
                Refusal::new("ports", why, "InfiniBand switches have at most 254 ports")
            })?;
            tables[s][usize::from(lid)] = byte;
        }
        Ok(())
    };
    for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
        for offset in 0..1_u16 << addresses.lmc {
            put(
                addresses.lid[t.ix()] + offset,
                routing.tree(u32::from(offset) % routing.layers(), t),
            )?;
        }
    }
    for d in (0..on.switches().len()).map(SwitchId::from).filter(|d| on.switches()[d.ix()].up) {
        put(addresses.switch_lid[d.ix()], ForwardingTree::plain(routing.tree_to_switch(d)))?;
    }
    let up = tables.into_iter().enumerate().filter(|(s, _)| on.switches()[*s].up);
    let by_guid = up.map(|(s, table)| (addresses.switch_guid[s], table)).collect();
    Ok(FabricForwardingTables { by_guid })
}

/// Writes tables as `dump_fts` prints them; names come from `on`.
///
/// # Errors
/// Only when `out` fails.
pub fn write(
    lfts: &FabricForwardingTables,
    on: &Topology,
    addresses: &PortAddresses,
    out: &mut impl Write,
) -> fmt::Result {
    let mut who = vec![String::new(); usize::from(addresses.highest_lid()) + 1];
    for (t, terminal) in on.terminals().iter().enumerate() {
        let name = &on.endpoints()[terminal.endpoint.ix()].name;
        for offset in 0..1 << addresses.lmc {
            let guid = addresses.port_guid[t];
            who[usize::from(addresses.lid[t]) + offset] =
                format!("(Channel Adapter portguid 0x{guid:016x}: '{name}')");
        }
    }
    for (s, switch) in on.switches().iter().enumerate() {
        let guid = addresses.switch_guid[s];
        who[usize::from(addresses.switch_lid[s])] =
            format!("(Switch portguid 0x{guid:016x}: '{}')", switch.name);
    }
    for (guid, table) in &lfts.by_guid {
        let s = addresses.switch_guid.iter().position(|g| g == guid);
        let (lid, name) =
            s.map_or((0, ""), |s| (addresses.switch_lid[s], on.switches()[s].name.as_str()));
        let last = table.len().saturating_sub(1);
        writeln!(
            out,
            "Unicast lids [0x0-0x{last:x}] of switch Lid {lid} guid 0x{guid:016x} ({name}):"
        )?;
        writeln!(out, "  Lid  Out   Destination\n       Port     Info")?;
        let mut valid = 0;
        for (lid, port) in table.iter().enumerate().filter(|(_, p)| **p != DROP) {
            writeln!(out, "0x{lid:04x} {port:03} : {}", who.get(lid).map_or("", String::as_str))?;
            valid += 1;
        }
        writeln!(out, "{valid} valid lids dumped\n")?;
    }
    Ok(())
}

/// Reads what `dump_fts`, `dump_lfts` or `ibroute` printed, OpenSM's `opensm-lfts.dump` or
/// `opensm.fdbs`, ibdiagnet's `.fdbs`, or what [`write()`] wrote. Multicast tables between them are
/// left out. O(text).
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub fn read(text: &str, file: &str) -> Result<FabricForwardingTables, Refusal> {
    let mut reader = LftReader::default();
    for (n, line) in text.lines().enumerate() {
        reader.take(line.trim()).map_err(|r| r.within(&format!("{file}: line {}", n + 1)))?;
    }
    reader.close();
    if reader.lfts.by_guid.is_empty() {
        let help = "the output of dump_fts or dump_lfts, opensm-lfts.dump, opensm.fdbs";
        return Err(Refusal::new(file, "no forwarding table in it", help));
    }
    Ok(reader.lfts)
}

/// The words that open a switch in `opensm.fdbs`, in every version that wrote it.
pub(crate) const FDB_SWITCH: &str = "dump_ucast_routes: Switch";

/// The tables read so far, and the one being read.
#[derive(Default)]
struct LftReader {
    lfts: FabricForwardingTables,
    guid: u64,
    table: Option<Vec<u8>>,
    /// By LID, whether the table being read has given it.
    given: Vec<bool>,
    entries: u64,
    /// Whether the reader is within the multicast table of a switch.
    multicast: bool,
}

impl LftReader {
    fn take(&mut self, line: &str) -> Result<(), Refusal> {
        if line.contains("Unicast lids") {
            self.open(line.split(" guid 0x").nth(1))
        } else if let Some((_, switch)) = line.split_once(FDB_SWITCH) {
            self.open(switch.trim_start().strip_prefix("0x"))
        } else if line.contains("Multicast mlids") {
            self.multicast = true;
            Ok(())
        } else if self.multicast {
            Ok(())
        } else if let Some(entry) = line.strip_prefix("0x") {
            self.entry(entry)
        } else if let Some(count) = line.strip_suffix(" valid lids dumped") {
            let found = self.entries.to_string();
            if found == count.trim() {
                return Ok(());
            }
            let why = format!("{count} LIDs announced, {found} read");
            Err(Refusal::new("", why, "the file is damaged or cut"))
        } else {
            Ok(())
        }
    }

    /// Opens the table of the switch whose GUID is the first word, without its `0x`.
    fn open(&mut self, words: Option<&str>) -> Result<(), Refusal> {
        self.close();
        let hex = words.and_then(|r| r.split([' ', '\t', ':', ',']).next());
        let Some(guid) = hex.and_then(|h| u64::from_str_radix(h, 16).ok()) else {
            let help = "`... guid 0x<16 hex digits> (name):`, in opensm.fdbs `Switch 0x<digits>`";
            return Err(Refusal::new("", "no switch GUID in a table header", help));
        };
        if self.lfts.by_guid.contains_key(&guid) {
            let why = format!("the table of 0x{guid:016x} comes twice");
            return Err(Refusal::new("", why, "one table a switch"));
        }
        (self.guid, self.table, self.entries) = (guid, Some(Vec::new()), 0);
        self.multicast = false;
        self.given.clear();
        Ok(())
    }

    fn close(&mut self) {
        if let Some(table) = self.table.take() {
            self.lfts.by_guid.insert(self.guid, table);
        }
    }

    /// An entry without its leading `0x`: the LID, then the port.
    fn entry(&mut self, entry: &str) -> Result<(), Refusal> {
        let mut words = entry.split_whitespace();
        let lid = words.next().and_then(|w| u16::from_str_radix(w, 16).ok());
        let Some(lid) = lid.filter(|l| *l <= MAX_LID) else {
            let why = format!("'0x{entry}' has no unicast LID");
            return Err(Refusal::new("", why, "0x0000 to 0xbfff, then the port"));
        };
        let word = words.find(|w| *w != ":").unwrap_or("");
        let port = if word == "UNREACHABLE" { Some(DROP) } else { word.parse().ok() };
        let Some(port) = port else {
            return Err(Refusal::new(
                "",
                format!("'{word}' is no port"),
                "a decimal port, 0 to 254",
            ));
        };
        let Some(table) = self.table.as_mut() else {
            let help = "`Unicast lids ... guid 0x...:` or `dump_ucast_routes: Switch 0x...` first";
            return Err(Refusal::new("", "an entry before any switch", help));
        };
        if table.len() <= usize::from(lid) {
            table.resize(usize::from(lid) + 1, DROP);
            self.given.resize(usize::from(lid) + 1, false);
        }
        if std::mem::replace(&mut self.given[usize::from(lid)], true) {
            let why = format!("LID 0x{lid:04x} comes twice in the table of 0x{:016x}", self.guid);
            return Err(Refusal::new("", why, "one entry a LID"));
        }
        table[usize::from(lid)] = port;
        self.entries += 1;
        Ok(())
    }
}

/// Tables of any origin as a routing of `on`, whose addresses say which LID is whose.
///
/// Layer i is LID offset i. Switches without a table forward nothing.
///
/// # Errors
/// When a table belongs to no switch of `on`.
pub fn to_routing(
    lfts: &FabricForwardingTables,
    on: &Arc<Topology>,
    addresses: &PortAddresses,
) -> Result<Routing, Refusal> {
    let switches = on.switches().len();
    if let Some(stranger) = lfts.by_guid.keys().find(|g| !addresses.switch_guid.contains(g)) {
        let why = format!("a table of switch 0x{stranger:016x}, which is not in the network");
        return Err(Refusal::new("tables", why, "tables and network must come from one fabric"));
    }
    let rows: Vec<Option<&Vec<u8>>> =
        addresses.switch_guid.iter().map(|g| lfts.by_guid.get(g)).collect();
    let entries = |lid: u16| {
        rows.iter().map(move |row| {
            let port = row.and_then(|r| r.get(usize::from(lid))).copied().unwrap_or(DROP);
            if port == DROP { NO_ROUTE } else { u16::from(port) }
        })
    };
    let layers = 1_u16 << addresses.lmc;
    let mut next = Vec::with_capacity(usize::from(layers) * addresses.lid.len() * switches);
    for layer in 0..layers {
        for lid in &addresses.lid {
            next.extend(entries(lid + layer));
        }
    }
    let mut to_switch = Vec::with_capacity(switches * switches);
    for lid in &addresses.switch_lid {
        to_switch.extend(entries(*lid));
    }
    Ok(Routing::new(on.clone(), layers.into(), next, to_switch))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two switches as `dump_fts` prints them.
    const DUMP: &str = "\
Unicast lids [0x0-0xb] of switch DR path slid 0; dlid 0; 0,1 guid 0x00000000000000a1 (MF0;s1:X/U1):
  Lid  Out   Destination
       Port     Info 
0x0001 001 : (Channel Adapter portguid 0x0000000000000011: 'h 1')
0x000a 000 : (Switch portguid 0x00000000000000a1: 's1')
0x000b 012 : (Switch portguid 0x00000000000000a2: 's2')
3 valid lids dumped 
Unicast lids [0x0-0xb] of switch Lid 11 guid 0x00000000000000a2 (s2):
  Lid  Out   Destination
       Port     Info 
0x000a 012 : (Switch portguid 0x00000000000000a1: 's1')
0x000b 000 : (Switch portguid 0x00000000000000a2: 's2')
2 valid lids dumped 
";

    fn same(text: &str) {
        assert_eq!(read(text, "f").expect("tables"), read(DUMP, "f").expect("tables"), "{text}");
    }

    #[test]
    fn every_dump_of_one_fabric_says_the_same() {
        let tables = read(DUMP, "f").expect("tables");
        assert_eq!((tables.entries(), tables.port(0xa1, 11), tables.port(0xa2, 1)), (5, 12, DROP));
        let without = DUMP.lines().map(|l| l.split(" : (").next().unwrap_or("").to_owned() + "\n");
        same(&without.collect::<String>());
        same(&DUMP.replace('\n', "\r\n").replace("Unicast", "ibwarn: a warning\nUnicast"));
        same(&format!("{DUMP}\n*** WARNING ***: this command has been replaced by dump_fts\n\n"));
        let all =
            DUMP.replace("       Port     Info \n", "0x0000 255 : (path #0 - illegal port)\n");
        same(&all.replace("valid lids", "lids"));
        same(&DUMP.replace(" : (", " # ").replace("[0x0-0xb]", "[0-11]").replace("valid ", ""));
        let multicast = "Multicast mlids [0xc000-0xc3ff] of switch Lid 10 guid 0x00000000000000a1 \
                         (s1):\n     Ports: 0 1 2\n MLid\n0xc000      x x\n1 valid mlids dumped\n";
        same(&format!("{multicast}{DUMP}{multicast}"));
    }

    #[test]
    fn the_dumps_of_routes_of_all_versions_are_read() {
        let fdbs = "\
dump_ucast_routes: Switch 0x00000000000000a1
LID    : Port : Hops : Optimal
0x0001 : 001  : 00   : yes
0x0002 : UNREACHABLE
0x000A : 000  : 00   : yes
0x000B : 012  : 01   : No 1 hop path possible via port 0x03! (link to switch 0xa2)

dump_ucast_routes: Switch 0x00000000000000a2
LID    : Port : Hops : Optimal
0x0001 : UNREACHABLE
0x000A : 012  : 01   : yes
0x000B : 000  : 00   : yes

";
        same_entries(fdbs);
        same_entries(&fdbs.replace("dump_ucast", "osm_ucast_mgr_dump_ucast"));
        same_entries(&fdbs.replace("dump_ucast", "__osm_ucast_mgr_dump_ucast"));
        same_entries(&format!("# by ibdiagnet\n{}", fdbs.replace("LID  ", "PLFT_NUM: 0\nLID  ")));
        same_entries(&fdbs.replace("0x00000000000000", "0x"));
        let refused = |text: &str, line: &str, word: &str| {
            let refusal = read(text, "f").expect_err("no tables").to_string();
            assert!(refusal.starts_with(line) && refusal.contains(word), "{refusal}");
        };
        refused(&fdbs.replace(": 012  : 01   : yes", ": twelve"), "f: line 11", "'twelve'");
        refused(&fdbs.replace("Switch 0x00000000000000a2", "Switch"), "f: line 8", "GUID");
        refused(&fdbs.replace("a2", "a1"), "f: line 8", "comes twice");
        refused("0x0001 : 001\n", "f: line 1", "before any switch");
    }

    fn same_entries(text: &str) {
        let (a, b) = (read(text, "f").expect("tables"), read(DUMP, "f").expect("tables"));
        assert_eq!(a.entries(), b.entries());
        for (guid, lid) in (0..12).flat_map(|lid| [(0xa1, lid), (0xa2, lid)]) {
            assert_eq!(a.port(guid, lid), b.port(guid, lid), "{guid:x} {lid}");
        }
    }
}
