//! Service levels of paths and SL2VL tables as text, read into lanes.
//!
//! Source: OpenSM's `opensm-sl2vl.dump` (`Switch 0x<guid>, base LID n, "name"`, then
//! `in out : 16 lanes` a line), and path records written one a line as `slid dlid sl ...`.

use crate::companion::kind::{CompanionFileFormat, one_file, one_text};
use base::part::PartDescription;
use base::{Refusal, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::{PortPeer, Topology};
use fabric::tables::{LaneAssignment, Routing, ServiceLevels, Sl2VlMapping, Sl2VlPortTables};
use std::collections::{BTreeMap, HashMap};

pub(crate) const SL2VL: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("sl2vl", "lanes of service levels by ports, as opensm-sl2vl.dump"),
    read: |files| one_text(files, read_sl2vl),
    example: || one_file("opensm-sl2vl.dump", SL2VL_EXAMPLE),
};

pub(crate) const PATH_RECORDS: CompanionFileFormat = CompanionFileFormat {
    part: PartDescription::new("path-records", "a line for each path: slid dlid sl"),
    read: |files| one_text(files, read_path_records),
    example: || one_file("paths.txt", "1 2 3\n12 34 5\n123 456 7\n1234 567 1\n12345 678 2\n"),
};

const SL2VL_EXAMPLE: &str = "Switch 0x0000000000000001, base LID 3\n\
    1 2 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n1 3 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n";

/// SL2VL tables by switch GUID, in-port and out-port.
pub type Sl2VlTables = BTreeMap<(u64, u16, u16), [u8; 16]>;

/// Reads `opensm-sl2vl.dump`, or the same layout from another tool.
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub fn read_sl2vl(text: &str, file: &str) -> Result<Sl2VlTables, Refusal> {
    let mut tables = BTreeMap::new();
    let mut guid = None;
    for (n, line) in text.lines().enumerate() {
        let bad =
            |why: &str, help: &str| Refusal::new(format!("{file}: line {}", n + 1), why, help);
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Switch 0x") {
            let hex = rest.split([',', ' ']).next().unwrap_or("");
            let parsed = u64::from_str_radix(hex, 16);
            guid = Some(parsed.map_err(|_| bad("no switch GUID", "Switch 0x<guid>, ..."))?);
        } else if line.is_empty() || line.starts_with('#') {
        } else if line.starts_with("Channel Adapter") || line.starts_with("Router") {
            guid = None;
        } else if let Some(guid) = guid {
            let help = "in-port, out-port, ':' and 16 lanes";
            let (ports, lanes) = line.split_once(':').ok_or_else(|| bad("no table row", help))?;
            let numbers = |part: &str| -> Option<Vec<u16>> {
                part.split_whitespace().map(|w| w.parse().ok()).collect()
            };
            let (Some(ports), Some(lanes)) = (numbers(ports), numbers(lanes)) else {
                return Err(bad("a word that is no number", help));
            };
            let lanes: Option<Vec<u8>> =
                lanes.iter().map(|l| u8::try_from(*l).ok().filter(|l| *l < 16)).collect();
            let table: Option<[u8; 16]> = lanes.and_then(|l| l.try_into().ok());
            let (&[input, output], Some(table)) = (ports.as_slice(), table) else {
                return Err(bad("a row of another length", help));
            };
            if tables.insert((guid, input, output), table).is_some() {
                return Err(bad("a second row of these ports", "one row a pair of ports"));
            }
        }
    }
    Ok(tables)
}

/// Path records: service level by (source LID, destination LID).
pub type PathLevels = HashMap<(u16, u16), u8>;

/// Reads path records, one a line: `slid dlid sl` and anything after; `#` lines are comments.
///
/// # Errors
/// Names the line of `file` and what was expected there.
pub fn read_path_records(text: &str, file: &str) -> Result<PathLevels, Refusal> {
    let mut levels = HashMap::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_whitespace();
        let mut number = || words.next().and_then(|w| w.parse::<u16>().ok());
        let record = (number(), number(), number().filter(|sl| *sl < 16));
        let (Some(from), Some(to), Some(sl)) = record else {
            let at = format!("{file}: line {}", n + 1);
            return Err(Refusal::new(
                at,
                format!("'{line}' is no path record"),
                "slid dlid sl, sl 0 to 15",
            ));
        };
        if let Some(other) = levels.insert((from, to), sl as u8).filter(|old| *old != sl as u8) {
            let at = format!("{file}: line {}", n + 1);
            let why = format!("'{line}', but an earlier record of this path has SL {other}");
            return Err(Refusal::new(at, why, "one level a path"));
        }
    }
    Ok(levels)
}

/// The lanes of an imported routing: the level of each path by base LID of its source, and the
/// SL2VL tables of each switch (lane 0 everywhere where `tables` is empty).
///
/// A path without a record takes the level of another terminal's on the same switch; paths between
/// terminals of one switch, and from terminals that do not work, need none. Levels are by switch
/// where the terminals of every switch agree. O(records + layers * terminals * terminals), the last
/// factor switches where they agree.
///
/// # Errors
/// When a path between two switches has no record, or two cabled ports of a switch have no table
/// though others have.
pub fn lanes_of(
    routing: &Routing,
    addresses: &PortAddresses,
    levels: &PathLevels,
    tables: &Sl2VlTables,
) -> Result<LaneAssignment, Refusal> {
    let by_switch = PathRecordsBySwitch::new(routing.topology(), addresses, levels);
    let levels = if by_switch.agree {
        ServiceLevels::BySwitch(by_switch.levels(routing, addresses)?)
    } else {
        ServiceLevels::ByTerminal(by_terminal(routing, addresses, levels, &by_switch)?)
    };
    if let Some(table) = common(routing.topology(), addresses, tables)? {
        return Ok(LaneAssignment::new(levels, Sl2VlMapping::Uniform(table)));
    }
    let switch: HashMap<u64, SwitchId> =
        addresses.switch_guid.iter().enumerate().map(|(s, g)| (*g, SwitchId::from(s))).collect();
    let mut by_port = Sl2VlPortTables::new(routing.topology(), [0; 16]);
    for (&(guid, input, output), table) in tables {
        if let Some(&s) = switch.get(&guid) {
            by_port.set(s, input, output, *table);
        }
    }
    Ok(LaneAssignment::new(levels, Sl2VlMapping::PerPort(by_port)))
}

/// The SL2VL table that all cabled pairs of ports of all working switches share; `None` where they
/// have several. With a common one, proofs need not distinguish in-ports.
fn common(
    on: &Topology,
    addresses: &PortAddresses,
    tables: &Sl2VlTables,
) -> Result<Option<[u8; 16]>, Refusal> {
    let Some(first) = tables.values().next() else { return Ok(None) };
    let mut all_alike = true;
    for (s, switch) in on.switches().iter().enumerate().filter(|(_, s)| s.up) {
        let works = |port: &u16| match on.peer(SwitchId::from(s), *port) {
            PortPeer::Terminal(t) => on.terminal_is_up(t),
            PortPeer::Switch(channel) => on.link_is_up(channel.link()),
            PortPeer::Empty => false,
        };
        let ports: Vec<u16> = (1..=switch.ports).filter(works).collect();
        let guid = addresses.switch_guid[s];
        for (i, o) in ports.iter().flat_map(|i| ports.iter().map(move |o| (*i, *o))) {
            let Some(table) = tables.get(&(guid, i, o)) else {
                let why = format!("switch {} has no table of ports {i} to {o}", switch.name);
                return Err(Refusal::new("SL2VL", why, "a table of every two cabled ports"));
            };
            all_alike &= table == first;
        }
    }
    Ok(all_alike.then_some(*first))
}

/// The level that marks a path without a record.
const NO_RECORD: u8 = u8::MAX;

/// Path records by the switch of their source: those of its first terminal that has one.
struct PathRecordsBySwitch {
    width: usize,
    level: Vec<u8>,
    /// Whether no two terminals of one switch have different levels to one address.
    agree: bool,
}

impl PathRecordsBySwitch {
    fn new(on: &Topology, addresses: &PortAddresses, levels: &PathLevels) -> Self {
        let width = usize::from(addresses.highest_lid()) + 1;
        let mut home = vec![usize::MAX; width];
        for (lid, t) in addresses.lid.iter().zip(on.terminals()) {
            home[usize::from(*lid)] = t.plug.switch.ix();
        }
        let mut level = vec![NO_RECORD; on.switches().len() * width];
        let mut agree = true;
        #[expect(clippy::disallowed_methods, reason = "sorted in the next line")]
        let mut records: Vec<_> = levels.iter().collect();
        records.sort_unstable();
        for (&(slid, dlid), &sl) in records {
            let known = home.get(usize::from(slid)).filter(|s| **s != usize::MAX);
            let Some(s) = known.filter(|_| usize::from(dlid) < width) else { continue };
            let at = s * width + usize::from(dlid);
            agree &= level[at] == NO_RECORD || level[at] == sl;
            if level[at] == NO_RECORD {
                level[at] = sl;
            }
        }
        Self { width, level, agree }
    }

    fn get(&self, s: SwitchId, dlid: u16) -> Option<u8> {
        let level = self.level[s.ix() * self.width + usize::from(dlid)];
        (level != NO_RECORD).then_some(level)
    }

    fn levels(&self, routing: &Routing, addresses: &PortAddresses) -> Result<Vec<u8>, Refusal> {
        let on: &Topology = routing.topology();
        let mut speaker = vec![None; on.switches().len()];
        for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
            speaker[on.terminals()[t.ix()].plug.switch.ix()].get_or_insert(addresses.lid[t.ix()]);
        }
        let rows = routing.layers() as usize * on.terminals().len();
        let mut all = vec![0_u8; rows * on.switches().len()];
        for (layer, to) in routing.destinations() {
            let row = (layer as usize * on.terminals().len() + to.ix()) * on.switches().len();
            let dlid = addresses.lid[to.ix()] + layer as u16;
            let home = on.terminals()[to.ix()].plug.switch;
            for (s, lid) in speaker.iter().enumerate() {
                let Some(lid) = lid else { continue };
                let s = SwitchId::from(s);
                let level = self.get(s, dlid).or((s == home).then_some(0));
                all[row + s.ix()] = level.ok_or_else(|| no_record(*lid, dlid))?;
            }
        }
        Ok(all)
    }
}

fn by_terminal(
    routing: &Routing,
    addresses: &PortAddresses,
    levels: &PathLevels,
    by_switch: &PathRecordsBySwitch,
) -> Result<Vec<u8>, Refusal> {
    let on: &Topology = routing.topology();
    let terminals = on.terminals();
    let mut all = vec![0_u8; routing.layers() as usize * terminals.len() * terminals.len()];
    for (layer, to) in routing.destinations() {
        let row = (layer as usize * terminals.len() + to.ix()) * terminals.len();
        let dlid = addresses.lid[to.ix()] + layer as u16;
        let home = terminals[to.ix()].plug.switch;
        for from in (0..terminals.len()).map(TerminalId::from).filter(|&f| on.terminal_is_up(f)) {
            let s = terminals[from.ix()].plug.switch;
            let own = levels.get(&(addresses.lid[from.ix()], dlid)).copied();
            let level = own.or_else(|| by_switch.get(s, dlid)).or((s == home).then_some(0));
            let level = level.ok_or_else(|| no_record(addresses.lid[from.ix()], dlid))?;
            all[row + from.ix()] = level;
        }
    }
    Ok(all)
}

fn no_record(slid: u16, dlid: u16) -> Refusal {
    let why = format!("no record of the path from LID {slid} to LID {dlid}");
    Refusal::new("path records", why, "one record a pair of terminals")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_twice_is_refused() {
        let row = "1 2 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n";
        let text = |rows: &str| format!("Switch 0x0000000000000001, base LID 3\n{rows}");
        assert_eq!(read_sl2vl(&text(row), "f").expect("one row").len(), 1);
        let twice = read_sl2vl(&text(&row.repeat(2)), "f").expect_err("two rows");
        assert_eq!(twice.param, "f: line 3");
        assert_eq!(read_path_records("1 2 3\n1 2 3\n", "f").expect("they agree").len(), 1);
        let other = read_path_records("1 2 3\n1 2 4\n", "f").expect_err("two levels");
        assert_eq!(other.param, "f: line 2");
        let lft = "Unicast lids [0-9] of switch Lid 3 guid 0x0000000000000001 (s):\n";
        let entry = "0x0002 001 :\n";
        assert!(super::super::lft::read(&format!("{lft}{entry}"), "f").is_ok());
        let again = super::super::lft::read(&format!("{lft}{entry}{entry}"), "f");
        assert_eq!(again.expect_err("twice").param, "f: line 3");
    }
}
