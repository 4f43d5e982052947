//! Linear forwarding tables as text: OpenSM's dump format, both ways.
//!
//! Source: the files that `dump_fts` and OpenSM's `dump_lfts.sh` print and OpenSM's `file` engine
//! reads (`osm_ucast_file.c`): a line `Unicast lids ... guid 0x<guid> (<name>):` opens a switch,
//! then `0x<lid hex> <port decimal> ...` a line an entry.

use base::{Refusal, SwitchId, TerminalId};
use fabric::addresses::{Addresses, MAX_LID};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing, Tree};
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

/// An entry that forwards nowhere: hardware writes 255.
pub const DROP: u8 = 255;

/// The forwarding tables of a fabric: for each switch GUID, the port of each LID from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lfts {
    /// Ports by LID; LIDs past the end, and [`DROP`], are not forwarded.
    pub by_guid: BTreeMap<u64, Vec<u8>>,
}

impl Lfts {
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
pub fn tables(routing: &Routing, addresses: &Addresses) -> Result<Lfts, Refusal> {
    let on: &Topology = routing.topology();
    if addresses.lmc != routing.lmc() {
        let why =
            format!("addresses with LMC {} for a routing of LMC {}", addresses.lmc, routing.lmc());
        return Err(Refusal::new("lmc", why, "assign addresses with the routing's LMC"));
    }
    let mut tables: Vec<Vec<u8>> =
        vec![vec![DROP; usize::from(addresses.highest_lid()) + 1]; on.switches().len()];
    let mut put = |lid: u16, entries: Tree<'_>| -> Result<(), Refusal> {
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
        put(addresses.switch_lid[d.ix()], Tree::plain(routing.tree_to_switch(d)))?;
    }
    let up = tables.into_iter().enumerate().filter(|(s, _)| on.switches()[*s].up);
    let by_guid = up.map(|(s, table)| (addresses.switch_guid[s], table)).collect();
    Ok(Lfts { by_guid })
}

/// Writes tables as `dump_fts` prints them; names come from `on`.
///
/// # Errors
/// Only when `out` fails.
pub fn write(
    lfts: &Lfts,
    on: &Topology,
    addresses: &Addresses,
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

/// Reads what `dump_fts`, OpenSM's `opensm-lfts.dump` or [`write()`] wrote. O(text).
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub fn read(text: &str, file: &str) -> Result<Lfts, Refusal> {
    let mut reader =
        Reader { lfts: Lfts::default(), guid: 0, table: None, given: Vec::new(), entries: 0 };
    for (n, line) in text.lines().enumerate() {
        reader.take(line.trim_end()).map_err(|r| r.within(&format!("{file}: line {}", n + 1)))?;
    }
    reader.close();
    if reader.lfts.by_guid.is_empty() {
        let help = "the output of dump_fts or opensm-lfts.dump";
        return Err(Refusal::new(file, "no forwarding table in it", help));
    }
    Ok(reader.lfts)
}

/// The tables read so far, and the one being read.
struct Reader {
    lfts: Lfts,
    guid: u64,
    table: Option<Vec<u8>>,
    /// By LID, whether the table being read has given it.
    given: Vec<bool>,
    entries: u64,
}

impl Reader {
    fn take(&mut self, line: &str) -> Result<(), Refusal> {
        if line.contains("Unicast lids") {
            self.open(line)
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

    fn open(&mut self, line: &str) -> Result<(), Refusal> {
        self.close();
        let hex = line.split(" guid 0x").nth(1).and_then(|r| r.split([' ', '\t', ':']).next());
        let Some(guid) = hex.and_then(|h| u64::from_str_radix(h, 16).ok()) else {
            let help = "`... guid 0x<16 hex digits> (name):`";
            return Err(Refusal::new("", "no switch GUID in a table header", help));
        };
        if self.lfts.by_guid.contains_key(&guid) {
            let why = format!("the table of 0x{guid:016x} comes twice");
            return Err(Refusal::new("", why, "one table a switch"));
        }
        (self.guid, self.table, self.entries) = (guid, Some(Vec::new()), 0);
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
        let word = words.next().unwrap_or("");
        let port = if word == "UNREACHABLE" { Some(DROP) } else { word.parse().ok() };
        let Some(port) = port else {
            return Err(Refusal::new(
                "",
                format!("'{word}' is no port"),
                "a decimal port, 0 to 254",
            ));
        };
        let Some(table) = self.table.as_mut() else {
            let help = "`Unicast lids ... guid 0x...:` first";
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
    lfts: &Lfts,
    on: &Arc<Topology>,
    addresses: &Addresses,
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
