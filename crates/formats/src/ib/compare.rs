//! Compares what a fabric reports with what was computed: forwarding tables, service levels, SL2VL.

use super::lft::{DROP, FabricForwardingTables};
use super::sl_files::{PathLevels, Sl2VlTables};
use base::{SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use fabric::tables::Routing;
use std::collections::{BTreeSet, HashMap};

/// The difference of entries: how many were compared, how many differ, and the first few that do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableEntryDifferences {
    /// Entries compared.
    pub entries: u64,
    /// Entries that differ, those missing on either side included.
    pub differing: u64,
    /// The first [`SHOWN`] differences, as sentences.
    pub first: Vec<String>,
}

/// How many differences are put into words.
pub const SHOWN: usize = 10;

impl TableEntryDifferences {
    fn compare(&mut self, equal: bool, say: impl FnOnce() -> String) {
        self.entries += 1;
        if !equal {
            self.differing += 1;
            if self.first.len() < SHOWN {
                self.first.push(say());
            }
        }
    }
}

/// Compares forwarding tables entry for entry: every (switch, LID) that either side forwards.
pub fn lfts(
    expected: &FabricForwardingTables,
    found: &FabricForwardingTables,
) -> TableEntryDifferences {
    let mut difference = TableEntryDifferences::default();
    let guids: BTreeSet<u64> =
        expected.by_guid.keys().chain(found.by_guid.keys()).copied().collect();
    for guid in guids {
        let longest = |l: &FabricForwardingTables| l.by_guid.get(&guid).map_or(0, Vec::len);
        for lid in 0..longest(expected).max(longest(found)) {
            let lid = lid as u16;
            let (want, got) = (expected.port(guid, lid), found.port(guid, lid));
            if want == DROP && got == DROP {
                continue;
            }
            difference.compare(want == got, || {
                format!("switch 0x{guid:016x} LID {lid}: port {want} computed, {got} found")
            });
        }
    }
    difference
}

/// Compares the service level of every path record found with the one computed. Records of paths
/// that do not run between two terminals of the network are differences.
pub fn levels(
    routing: &Routing,
    addresses: &PortAddresses,
    found: &PathLevels,
) -> TableEntryDifferences {
    let on: &Topology = routing.topology();
    let mut owner: HashMap<u16, (TerminalId, u32)> = HashMap::new();
    for t in (0..on.terminals().len()).map(TerminalId::from) {
        for offset in 0..1_u16 << addresses.lmc {
            owner.insert(addresses.lid[t.ix()] + offset, (t, u32::from(offset)));
        }
    }
    let mut difference = TableEntryDifferences::default();
    #[expect(clippy::disallowed_methods, reason = "sorted in the next line")]
    let mut records: Vec<_> = found.iter().collect();
    records.sort_unstable();
    for (&(slid, dlid), &sl) in records {
        let ends = owner.get(&slid).zip(owner.get(&dlid));
        let want =
            ends.map(|(from, to)| routing.service_level(from.0, to.1 % routing.layers(), to.0));
        difference.compare(want == Some(sl), || {
            let want = want.map_or_else(|| "none".to_owned(), |w| w.to_string());
            format!("path from LID {slid} to LID {dlid}: SL {want} computed, {sl} found")
        });
    }
    difference
}

/// Compares every SL2VL table found with the one computed, all 16 service levels.
pub fn sl2vl(
    routing: &Routing,
    addresses: &PortAddresses,
    found: &Sl2VlTables,
) -> TableEntryDifferences {
    let on: &Topology = routing.topology();
    let switch: HashMap<u64, SwitchId> =
        addresses.switch_guid.iter().enumerate().map(|(s, g)| (*g, SwitchId::from(s))).collect();
    let mut difference = TableEntryDifferences::default();
    for (&(guid, input, output), table) in found {
        let Some(&s) = switch.get(&guid) else {
            difference.compare(false, || format!("switch 0x{guid:016x} is not in the network"));
            continue;
        };
        let want: [u8; 16] =
            std::array::from_fn(|sl| routing.lanes().sl2vl().lane(s, input, output, sl as u8));
        let name = &on.switches()[s.ix()].name;
        difference.compare(want == *table, || {
            format!("switch {name} ports {input} to {output}: {want:?} computed, {table:?} found")
        });
    }
    difference
}
