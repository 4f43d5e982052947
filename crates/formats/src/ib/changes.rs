//! Changes in a fabric when new tables replace the old ones: blocks, service levels, SL2VL.
//!
//! Source: `InfiniBand` Architecture Specification, volume 1, section 14.2.5.6: a forwarding table
//! is written in blocks of 64 LIDs, attribute `LinearForwardingTable`.

use super::lft::{DROP, FabricForwardingTables};
use base::{SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::{PortPeer, Topology};
use fabric::tables::{Routing, ServiceLevels};
use std::collections::{BTreeMap, HashMap};

/// Number of LIDs whose entries a subnet manager writes at once.
pub const BLOCK: usize = 64;

/// The changes in the forwarding table of one switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchTableChange {
    /// GUID of the switch.
    pub guid: u64,
    /// Entries that differ: another port, a port where there was none, none where there was one.
    pub entries: u64,
    /// Blocks of 64 LIDs with such an entry.
    pub blocks: u64,
}

/// The number of values in new tables, of those that differ from the old ones, and of those that
/// the old ones lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableChangeCounts {
    /// All values of the new tables.
    pub all: u64,
    /// Values that differ from those of the old tables.
    pub changed: u64,
    /// Values that the old tables lack.
    pub new: u64,
}

impl TableChangeCounts {
    fn take<T: PartialEq>(&mut self, before: Option<T>, after: &T, times: u64) {
        self.all += times;
        match before {
            None => self.new += times,
            Some(before) if before != *after => self.changed += times,
            Some(_) => {}
        }
    }
}

impl std::ops::Add for TableChangeCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            changed: self.changed + other.changed,
            new: self.new + other.new,
        }
    }
}

/// Tables and the addresses that they were made for.
pub type AddressedTables<'a> = (&'a Routing, &'a PortAddresses);

/// What changes in each switch of `after`, by GUID. O(entries).
pub fn lfts(
    before: &FabricForwardingTables,
    after: &FabricForwardingTables,
) -> Vec<SwitchTableChange> {
    let change = |(&guid, table): (&u64, &Vec<u8>)| {
        let old = before.by_guid.get(&guid).map_or(&[][..], Vec::as_slice);
        let (mut entries, mut blocks) = (0, 0);
        for first in (0..table.len().max(old.len())).step_by(BLOCK) {
            let port = |of: &[u8], lid: usize| of.get(lid).copied().unwrap_or(DROP);
            let odd = (first..first + BLOCK).filter(|&lid| port(old, lid) != port(table, lid));
            let odd = odd.count() as u64;
            entries += odd;
            blocks += u64::from(odd > 0);
        }
        SwitchTableChange { guid, entries, blocks }
    };
    after.by_guid.iter().map(change).collect()
}

/// The service levels of paths that change, one for each pair of working terminals and each LID of
/// the destination. Paths of the two tables are the same where their LIDs are. O(sources *
/// destination LIDs), where sources are switches when levels are by switch in both, else terminals.
pub fn levels(
    before: Option<AddressedTables<'_>>,
    after: AddressedTables<'_>,
) -> TableChangeCounts {
    let (routing, addresses) = after;
    let owner = before.map_or_else(HashMap::new, |(old, addresses)| owners(old, addresses));
    let on: &Topology = routing.topology();
    let up: Vec<TerminalId> =
        (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)).collect();
    let mut sources: BTreeMap<(usize, usize), Vec<TerminalId>> = BTreeMap::new();
    for &t in &up {
        let old = owner.get(&addresses.lid[t.ix()]).map(|(t, _)| *t);
        let key = old.zip(before).map_or(usize::MAX, |(t, (old, _))| spoken_for(old, t));
        sources.entry((spoken_for(routing, t), key)).or_default().push(t);
    }
    let mut count = TableChangeCounts::default();
    for &to in &up {
        for offset in 0..1_u16 << addresses.lmc {
            let lid = addresses.lid[to.ix()] + offset;
            let there = owner.get(&lid);
            for of in sources.values() {
                let times = of.len() as u64 - u64::from(of.binary_search(&to).is_ok());
                let from = of[0];
                let here = owner.get(&addresses.lid[from.ix()]);
                let was =
                    before.zip(here.zip(there)).map(|((old, _), ((from, _), (to, offset)))| {
                        old.service_level(*from, offset % old.layers(), *to)
                    });
                let layer = u32::from(offset) % routing.layers();
                count.take(was, &routing.service_level(from, layer, to), times);
            }
        }
    }
    count
}

/// The working terminal of each LID, and its offset.
fn owners(routing: &Routing, addresses: &PortAddresses) -> HashMap<u16, (TerminalId, u32)> {
    let on: &Topology = routing.topology();
    let up = (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t));
    let offsets = 0..1_u16 << addresses.lmc;
    let lids = |t: TerminalId| {
        offsets.clone().map(move |o| (addresses.lid[t.ix()] + o, (t, u32::from(o))))
    };
    up.flat_map(lids).collect()
}

/// A number that is the same for all terminals whose paths have the same service levels.
fn spoken_for(routing: &Routing, t: TerminalId) -> usize {
    match routing.lanes().levels() {
        ServiceLevels::Same(_) => 0,
        ServiceLevels::BySwitch(_) => routing.topology().terminals()[t.ix()].plug.switch.ix(),
        ServiceLevels::ByTerminal(_) => t.ix(),
    }
}

/// The SL2VL tables of each switch that change, by GUID: of each working out-port, for packets of
/// each working in-port and of the switch itself (port 0). O(tables).
pub fn sl2vl(
    before: Option<AddressedTables<'_>>,
    after: AddressedTables<'_>,
) -> Vec<(u64, TableChangeCounts)> {
    let (routing, addresses) = after;
    let old: HashMap<u64, SwitchId> = before.map_or_else(HashMap::new, |(_, addresses)| {
        addresses.switch_guid.iter().enumerate().map(|(s, g)| (*g, SwitchId::from(s))).collect()
    });
    let on: &Topology = routing.topology();
    let mut found = Vec::new();
    for s in (0..on.switches().len()).map(SwitchId::from).filter(|s| on.switches()[s.ix()].up) {
        let guid = addresses.switch_guid[s.ix()];
        let ports = working_ports(on, s);
        let was = before
            .zip(old.get(&guid))
            .map(|((old, _), &s)| (old, s, working_ports(old.topology(), s)));
        let mut count = TableChangeCounts::default();
        let inputs = std::iter::once(0).chain(ports.iter().copied());
        for (i, o) in inputs.flat_map(|i| ports.iter().map(move |o| (i, *o))) {
            let had = was.as_ref().filter(|(_, _, had)| {
                had.binary_search(&o).is_ok() && (i == 0 || had.binary_search(&i).is_ok())
            });
            let had = had.map(|(old, s, _)| table(old, *s, i, o));
            count.take(had, &table(routing, s, i, o), 1);
        }
        found.push((guid, count));
    }
    found.sort_unstable_by_key(|(guid, _)| *guid);
    found
}

fn table(routing: &Routing, s: SwitchId, input: u16, output: u16) -> [u8; 16] {
    std::array::from_fn(|sl| routing.lanes().sl2vl().lane(s, input, output, sl as u8))
}

/// The ports of a switch with a working cable, in order.
fn working_ports(on: &Topology, s: SwitchId) -> Vec<u16> {
    let works = |port: &u16| match on.peer(s, *port) {
        PortPeer::Terminal(t) => on.terminal_is_up(t),
        PortPeer::Switch(channel) => on.link_is_up(channel.link()),
        PortPeer::Empty => false,
    };
    (1..=on.switches()[s.ix()].ports).filter(works).collect()
}
