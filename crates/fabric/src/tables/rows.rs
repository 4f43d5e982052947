//! The storage of tables: one row for all terminals of a switch, and apart from it the differences.
//!
//! Most engines route to switches, so the rows towards the terminals of one switch differ only in
//! the last hop, and where the engine spreads terminals over equally good hops. So these terminals
//! share a row. An entry of it is a port, or the number of one of the terminal's own entries.

use super::bytes::{ByteReader, ByteWriter};
use crate::Topology;
use base::{SwitchId, TerminalId};
use std::collections::BTreeMap;
use std::ops::Index;

/// The table entry of a switch that has no route to the destination.
pub const NO_ROUTE: u16 = u16::MAX;

/// The tree of routes towards one destination: the forwarding port of every switch.
#[derive(Debug, Clone, Copy)]
pub struct ForwardingTree<'a> {
    row: &'a [u16],
    /// The entries of this terminal alone. Entry `low() + i` of the row refers to `own[i]`; a
    /// larger one is [`NO_ROUTE`].
    own: &'a [u16],
}

impl<'a> ForwardingTree<'a> {
    /// The tree of a row that consists of ports alone.
    pub fn plain(row: &'a [u16]) -> Self {
        Self { row, own: &[] }
    }

    #[inline]
    fn low(self) -> u16 {
        u16::MAX - self.own.len() as u16
    }

    /// The port of a switch, or [`NO_ROUTE`] where it has none.
    #[inline]
    pub fn port(self, switch: usize) -> u16 {
        let entry = self.row[switch];
        if entry < self.low() {
            return entry;
        }
        self.own.get(usize::from(entry - self.low())).copied().unwrap_or(NO_ROUTE)
    }

    /// Whether another terminal that shares the row may have another port at this switch.
    #[inline]
    pub fn is_own(self, switch: usize) -> bool {
        (self.low()..NO_ROUTE).contains(&self.row[switch])
    }

    /// The port of every switch.
    pub fn ports(self) -> impl Iterator<Item = u16> + 'a {
        (0..self.row.len()).map(move |v| self.port(v))
    }

    /// The port of every switch as a row of its own. O(switches).
    pub fn to_vec(self) -> Vec<u16> {
        self.ports().collect()
    }
}

impl Index<usize> for ForwardingTree<'_> {
    type Output = u16;

    #[inline]
    fn index(&self, switch: usize) -> &u16 {
        let entry = &self.row[switch];
        if *entry < self.low() {
            return entry;
        }
        self.own.get(usize::from(entry - self.low())).unwrap_or(&NO_ROUTE)
    }
}

impl PartialEq for ForwardingTree<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.ports().eq(other.ports())
    }
}

/// The position of the entries towards one terminal in [`ForwardingTables`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TableEntryPosition {
    row: u32,
    /// The number of the terminal's own entries, and their begin in the list of own entries.
    count: u16,
    own: usize,
}

/// The entries towards all terminals, with each shared row once. Equal tables are stored equally.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ForwardingTables {
    switches: usize,
    rows: Vec<u16>,
    own: Vec<u16>,
    /// The positions by `layer * terminals + terminal`.
    places: Vec<TableEntryPosition>,
}

impl ForwardingTables {
    /// The entries towards a terminal, by `layer * terminals + terminal`.
    #[inline]
    pub(super) fn tree(&self, of: usize) -> ForwardingTree<'_> {
        let TableEntryPosition { row, count, own } = self.places[of];
        let at = row as usize * self.switches;
        ForwardingTree {
            row: &self.rows[at..at + self.switches],
            own: &self.own[own..own + usize::from(count)],
        }
    }

    /// The number of a terminal's row, by `layer * terminals + terminal`. Terminals with the same
    /// row have the same entries, except where [`ForwardingTree::is_own`] is true.
    #[inline]
    pub(super) fn row(&self, of: usize) -> u32 {
        self.places[of].row
    }

    /// The number of terminals times layers.
    pub(super) fn trees(&self) -> usize {
        self.places.len()
    }

    /// The number of stored entries.
    pub(super) fn kept(&self) -> usize {
        self.rows.len() + self.own.len()
    }

    /// A whole row for each terminal, one after the other. O(layers * terminals * switches).
    pub(super) fn dense(&self) -> Vec<u16> {
        let mut all = Vec::with_capacity(self.places.len() * self.switches);
        for of in 0..self.places.len() {
            all.extend(self.tree(of).ports());
        }
        all
    }

    /// Writes the tables in their stored form.
    pub(super) fn write(&self, out: &mut ByteWriter) {
        out.array(&self.rows, |port| port.to_le_bytes());
        out.array(&self.own, |port| port.to_le_bytes());
        out.array(&self.places, |place| {
            let mut bytes = [0; 14];
            bytes[..4].copy_from_slice(&place.row.to_le_bytes());
            bytes[4..6].copy_from_slice(&place.count.to_le_bytes());
            bytes[6..].copy_from_slice(&(place.own as u64).to_le_bytes());
            bytes
        });
    }

    /// Reads what [`ForwardingTables::write`] wrote, for this number of switches and of trees
    /// (terminals times layers).
    pub(super) fn read(from: &mut ByteReader<'_>, switches: usize, trees: usize) -> Option<Self> {
        let rows = from.array(u16::from_le_bytes)?;
        let own = from.array(u16::from_le_bytes)?;
        let places = from.array(|[a, b, c, d, e, f, rest @ ..]: [u8; 14]| TableEntryPosition {
            row: u32::from_le_bytes([a, b, c, d]),
            count: u16::from_le_bytes([e, f]),
            own: u64::from_le_bytes(rest) as usize,
        })?;
        let fits = |place: &TableEntryPosition| {
            let end = (place.row as usize + 1).checked_mul(switches);
            let own_end = place.own.checked_add(usize::from(place.count));
            end.is_some_and(|end| end <= rows.len())
                && own_end.is_some_and(|end| end <= own.len())
                && usize::from(place.count) <= MOST_OWN
        };
        (places.len() == trees && places.iter().all(fits)).then_some(Self {
            switches,
            rows,
            own,
            places,
        })
    }
}

/// Tables under construction, to which an engine adds routes.
pub struct ForwardingTableDraft<'a> {
    on: &'a Topology,
    tables: ForwardingTables,
    /// By layer and switch, the rows of some terminals of the switch, until those of all are there.
    waiting: BTreeMap<(usize, SwitchId), BTreeMap<usize, Vec<u16>>>,
}

/// The most own entries of a row. Ports in a row are below this number, references to own entries
/// above it.
const MOST_OWN: usize = 1 << 15;

impl<'a> ForwardingTableDraft<'a> {
    /// Tables without routes. Row 0 belongs to the terminals without a route.
    pub fn new(on: &'a Topology, layers: u32) -> Self {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let places =
            vec![TableEntryPosition { row: 0, count: 0, own: 0 }; layers as usize * terminals];
        let mut rows =
            Vec::with_capacity(switches * (1 + layers as usize * on.edge_switches().len()));
        rows.resize(switches, NO_ROUTE);
        let tables = ForwardingTables { switches, rows, own: Vec::new(), places };
        Self { on, tables, waiting: BTreeMap::new() }
    }

    /// Tables from whole rows, as [`super::Routing::new`] takes them. O(entries).
    pub(super) fn of(on: &'a Topology, layers: u32, next: &[u16]) -> ForwardingTables {
        let mut laying = Self::new(on, layers);
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let row = |of: usize| &next[of * switches..(of + 1) * switches];
        let mut known = Vec::new();
        for layer in 0..layers as usize {
            for home in (0..switches).map(SwitchId::from) {
                known.clear();
                let all = on.terminals_on(home).iter().map(|t| layer * terminals + t.ix());
                known.extend(all.filter(|&of| row(of).iter().any(|port| *port != NO_ROUTE)));
                laying.pack(&known, row);
            }
        }
        laying.finish()
    }

    /// Adds the routes to these terminals of `home`. All have the entries of `row`, except at the
    /// switches `open`: there `own` has the ports, first those of the first terminal, then those of
    /// the next.
    pub fn put(
        &mut self,
        layer: usize,
        home: SwitchId,
        terminals: &[usize],
        row: &[u16],
        (open, own): (&[u32], &[u16]),
    ) {
        let first = layer * self.on.terminals().len();
        let of: Vec<usize> = terminals.iter().map(|t| first + t).collect();
        let works = |t: &&TerminalId| self.on.terminal_is_up(**t);
        let expected = self.on.terminals_on(home).iter().filter(works).count();
        if of.len() == expected {
            return self.keep(&of, row, open, own);
        }
        let waiting = self.waiting.entry((layer, home)).or_default();
        for (i, of) in of.into_iter().enumerate() {
            let mut whole = row.to_vec();
            for (j, &v) in open.iter().enumerate() {
                whole[v as usize] = own[i * open.len() + j];
            }
            waiting.insert(of, whole);
        }
        if waiting.len() == expected {
            let rows = self.waiting.remove(&(layer, home)).unwrap_or_default();
            self.pack(&rows.keys().copied().collect::<Vec<_>>(), |of| &rows[&of]);
        }
    }

    /// The entries towards a terminal, by `layer * terminals + terminal`. The rows of all terminals
    /// of its switch must have been added.
    pub fn tree(&self, of: usize) -> ForwardingTree<'_> {
        self.tables.tree(of)
    }

    /// The finished tables.
    pub(super) fn finish(mut self) -> ForwardingTables {
        for rows in std::mem::take(&mut self.waiting).into_values() {
            self.pack(&rows.keys().copied().collect::<Vec<_>>(), |of| &rows[&of]);
        }
        self.tables.rows.shrink_to_fit();
        self.tables
    }

    /// Stores whole rows of several terminals as one row and their differences.
    fn pack<'r>(&mut self, of: &[usize], whole: impl Fn(usize) -> &'r [u16]) {
        let Some(&first) = of.first() else { return };
        let row = whole(first);
        let mut differs = vec![0_u16; row.len()];
        for &other in &of[1..] {
            for (differs, (a, b)) in differs.iter_mut().zip(row.iter().zip(whole(other))) {
                *differs |= a ^ b;
            }
        }
        let open: Vec<u32> =
            (0..).zip(&differs).filter(|(_, d)| **d != 0).map(|(v, _)| v).collect();
        let mut own = Vec::with_capacity(of.len() * open.len());
        for &x in of {
            let whole = whole(x);
            own.extend(open.iter().map(|&v| whole[v as usize]));
        }
        self.keep(of, row, &open, &own);
    }

    /// Stores one row, and for each terminal its entries at those of the switches `open` where
    /// terminals differ.
    fn keep(&mut self, of: &[usize], row: &[u16], open: &[u32], own: &[u16]) {
        let wide = open.len();
        let first = &own[..wide];
        let mut differs = vec![0_u16; wide];
        for other in own.chunks_exact(wide.max(1)) {
            for (differs, (a, b)) in differs.iter_mut().zip(first.iter().zip(other)) {
                *differs |= a ^ b;
            }
        }
        let kept: Vec<usize> = (0..wide).filter(|&i| differs[i] != 0).collect();
        let at = self.tables.rows.len();
        self.tables.rows.extend_from_slice(row);
        let fresh = &mut self.tables.rows[at..];
        for (&v, &port) in open.iter().zip(own) {
            fresh[v as usize] = port;
        }
        for &i in &kept {
            fresh[open[i] as usize] = NO_ROUTE;
        }
        let is_high = |port: &u16| *port != NO_ROUTE && usize::from(*port) >= MOST_OWN;
        let high: Vec<usize> = if fresh.iter().any(is_high) {
            (0..row.len()).filter(|&v| is_high(&fresh[v])).collect()
        } else {
            Vec::new()
        };
        let count = kept.len() + high.len();
        if count > MOST_OWN {
            assert!(of.len() > 1, "no network has 2^15 switches of 2^15 ports");
            self.tables.rows.truncate(at);
            for (j, x) in of.iter().enumerate() {
                self.keep(&[*x], row, open, &own[j * wide..(j + 1) * wide]);
            }
            return;
        }
        let switches = kept.iter().map(|&i| open[i] as usize).chain(high.iter().copied());
        let high: Vec<u16> = high.iter().map(|&v| fresh[v]).collect();
        for (v, number) in switches.zip(u16::MAX - count as u16..) {
            fresh[v] = number;
        }
        let (row, count) = ((at / row.len()) as u32, count as u16);
        let all = &mut self.tables.own;
        for (j, &x) in of.iter().enumerate() {
            self.tables.places[x] = TableEntryPosition { row, count, own: all.len() };
            let mine = &own[j * wide..(j + 1) * wide];
            if kept.len() == wide {
                all.extend_from_slice(mine);
            } else {
                all.extend(kept.iter().map(|&i| mine[i]));
            }
            all.extend_from_slice(&high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{NetworkRecipe, Switch, TopologyBuilder};
    use proptest::prelude::*;
    use serde_json::Map;

    /// A line of switches with these numbers of endpoints, which are attached in turn.
    fn network(endpoints: &[u32]) -> Topology {
        let mut b = TopologyBuilder::new();
        let all: Vec<SwitchId> =
            (0..endpoints.len()).map(|i| b.switch(Switch::new(format!("s{i}")))).collect();
        for pair in all.windows(2) {
            b.link(pair[0], pair[1]);
        }
        for round in 0..endpoints.iter().copied().max().unwrap_or(0) {
            let here = all.iter().zip(endpoints).filter(|(_, n)| **n > round);
            b.endpoints_on(here.map(|(s, _)| *s), 1);
        }
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    fn port() -> impl Strategy<Value = u16> {
        prop_oneof![
            8 => 0_u16..4, 1 => Just(NO_ROUTE), 1 => 65_500..=NO_ROUTE, 1 => 32_760_u16..32_780
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn what_is_kept_is_what_was_given(
            endpoints in prop::collection::vec(0_u32..5, 1..7),
            layers in 1_u32..3,
            base in prop::collection::vec(port(), 2 * 24 * 6),
            other in prop::collection::vec((0_usize..288, port()), 0..40),
        ) {
            let on = network(&endpoints);
            let (s, t) = (on.switches().len(), on.terminals().len());
            // the rows towards one switch are equal, except for some entries
            let mut next = vec![0; layers as usize * t * s];
            for (of, row) in next.chunks_mut(s).enumerate() {
                let home = on.terminals()[of % t].plug.switch.ix();
                row.copy_from_slice(&base[home * s..(home + 1) * s]);
            }
            let len = next.len().max(1);
            for (at, port) in other {
                if let Some(entry) = next.get_mut(at % len) {
                    *entry = port;
                }
            }
            let tables = ForwardingTableDraft::of(&on, layers, &next);
            prop_assert_eq!(tables.dense(), next.clone());
            let mut laying = ForwardingTableDraft::new(&on, layers);
            for (of, row) in next.chunks(s).enumerate() {
                let open: Vec<u32> = (0..s as u32).filter(|v| v % 2 == 0).collect();
                let own: Vec<u16> = open.iter().map(|&v| row[v as usize]).collect();
                let home = on.terminals()[of % t].plug.switch;
                laying.put(of / t, home, &[of % t], row, (&open, &own));
            }
            let laid = laying.finish();
            prop_assert_eq!(laid.dense(), next.clone());
            for of in 0..layers as usize * t {
                let tree = tables.tree(of);
                for v in 0..s {
                    prop_assert_eq!(tree.port(v), tree[v]);
                    let same = |x: &usize| tables.row(*x) == tables.row(of);
                    let alike = (0..layers as usize * t).filter(same);
                    let all_alike = alike.into_iter().all(|x| next[x * s + v] == next[of * s + v]);
                    prop_assert!(tree.is_own(v) || all_alike);
                }
            }
        }
    }

    #[test]
    fn terminals_of_a_switch_share_a_row() {
        let on = network(&[3, 3]);
        let next: Vec<u16> = (0..6).flat_map(|t| [t as u16, 7]).collect();
        let tables = ForwardingTableDraft::of(&on, 1, &next);
        assert_eq!(tables.rows.len(), 3 * 2, "one for each switch, and the empty one");
        assert_eq!(tables.own.len(), 6, "the last hop");
    }
}
