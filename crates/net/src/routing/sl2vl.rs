//! The lane of each service level, at every port of every switch alike or by ports.

use crate::network::Topology;
use base::SwitchId;
use std::collections::BTreeMap;
use std::ops::Range;

/// The lane a packet takes, from its service level, at each switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sl2Vl {
    /// The same table at every port of every switch.
    Uniform([u8; 16]),
    /// A table for each pair of ports.
    PerPort(PortTables),
}

impl Sl2Vl {
    /// Lane = service level modulo `lanes`, so that no level leaves the lanes in use.
    ///
    /// # Panics
    /// When `lanes` is 0.
    pub fn modulo(lanes: u8) -> Self {
        Self::Uniform(std::array::from_fn(|sl| sl as u8 % lanes))
    }

    /// The lane at `switch` of a packet of level `sl` from `in_port` to `out_port`.
    #[inline]
    pub fn lane(&self, switch: SwitchId, in_port: u16, out_port: u16, sl: u8) -> u8 {
        match self {
            Self::Uniform(table) => table[usize::from(sl & 15)],
            Self::PerPort(tables) => tables.get(switch, in_port, out_port)[usize::from(sl & 15)],
        }
    }
}

/// Numbers the pairs of an in-port and an out-port of each switch, the management port 0 included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PortPairs {
    ports: Vec<u16>,
    /// Where the pairs of each switch begin, and where the last ones end.
    first: Vec<usize>,
}

impl PortPairs {
    /// Those of the switches of `on`. O(switches).
    pub(crate) fn new(on: &Topology) -> Self {
        let ports: Vec<u16> = on.switches().iter().map(|s| s.ports + 1).collect();
        let mut first = vec![0];
        for &p in &ports {
            first.push(first[first.len() - 1] + usize::from(p) * usize::from(p));
        }
        Self { ports, first }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.first[self.ports.len()]
    }

    /// The numbers of the pairs of `switch`, by in-port, then out-port.
    pub(crate) fn of_switch(&self, switch: SwitchId) -> Range<usize> {
        self.first[switch.ix()]..self.first[switch.ix() + 1]
    }

    /// The numbers of the pairs with this in-port, by out-port.
    fn of_input(&self, switch: usize, input: u16) -> Range<usize> {
        let ports = usize::from(self.ports[switch]);
        let begin = self.first[switch] + usize::from(input) * ports;
        begin..begin + ports
    }

    /// The number of a pair; `None` where the switch has no such port.
    #[inline]
    pub(crate) fn at(&self, switch: SwitchId, input: u16, output: u16) -> Option<usize> {
        let ports = *self.ports.get(switch.ix())?;
        let inside = input < ports && output < ports;
        inside.then(|| {
            self.first[switch.ix()] + usize::from(input) * usize::from(ports) + usize::from(output)
        })
    }
}

/// An SL2VL table for each (switch, in-port, out-port): the fallback where none was set.
#[derive(Debug, Clone)]
pub struct PortTables {
    pairs: PortPairs,
    /// An index into `tables` for each pair.
    which: Vec<u16>,
    /// The tables that occur; the first is the fallback.
    tables: Vec<[u8; 16]>,
    /// Where in `tables` each of them is.
    known: BTreeMap<[u8; 16], u16>,
    /// The first in-port with the same tables, by switch and in-port; empty until asked for.
    alike: Vec<Vec<u16>>,
}

impl PortTables {
    /// `fallback` everywhere. O(sum of ports squared).
    pub fn new(on: &Topology, fallback: [u8; 16]) -> Self {
        let pairs = PortPairs::new(on);
        let which = vec![0; pairs.count()];
        let known = BTreeMap::from([(fallback, 0)]);
        Self { pairs, which, tables: vec![fallback], known, alike: Vec::new() }
    }

    /// Sets one table; false where the switch has no such port, or for a table beyond 65,536
    /// different ones. O(log different tables).
    pub fn set(&mut self, switch: SwitchId, input: u16, output: u16, table: [u8; 16]) -> bool {
        let Some(at) = self.pairs.at(switch, input, output) else { return false };
        self.alike.clear();
        let known = if let Some(&known) = self.known.get(&table) {
            known
        } else {
            let Ok(fresh) = u16::try_from(self.tables.len()) else { return false };
            self.tables.push(table);
            self.known.insert(table, fresh);
            fresh
        };
        self.which[at] = known;
        true
    }

    /// The table of a pair of ports; the fallback where the switch has none of that number.
    #[inline]
    pub fn get(&self, switch: SwitchId, input: u16, output: u16) -> &[u8; 16] {
        &self.tables
            [self.pairs.at(switch, input, output).map_or(0, |at| usize::from(self.which[at]))]
    }

    /// Finds out which in-ports of a switch have the same tables. O(sum of ports squared), times
    /// the different kinds of in-ports of a switch.
    pub(super) fn find_alike(&mut self) {
        let row = |s: usize, input: u16| &self.which[self.pairs.of_input(s, input)];
        let of_switch = |s: usize| {
            let mut kinds: Vec<u16> = Vec::new();
            let mut alike = Vec::with_capacity(self.pairs.ports[s].into());
            for input in 0..self.pairs.ports[s] {
                let known = kinds.iter().copied().find(|&k| row(s, k) == row(s, input));
                if known.is_none() {
                    kinds.push(input);
                }
                alike.push(known.unwrap_or(input));
            }
            alike
        };
        self.alike = (0..self.pairs.ports.len()).map(of_switch).collect();
    }

    /// The first in-port of the switch with the same tables as `input`, where that is known.
    pub(super) fn like(&self, switch: SwitchId, input: u16) -> u16 {
        let row = self.alike.get(switch.ix());
        row.and_then(|row| row.get(usize::from(input))).copied().unwrap_or(input)
    }

    /// The table of all pairs that were not set.
    pub fn fallback(&self) -> &[u8; 16] {
        &self.tables[0]
    }

    /// The different tables that occur, the fallback among them.
    pub fn distinct(&self) -> &[[u8; 16]] {
        &self.tables
    }

    /// The pairs whose table is not the fallback, by switch, in-port and out-port.
    pub fn iter(&self) -> impl Iterator<Item = (SwitchId, u16, u16, &[u8; 16])> + '_ {
        (0..self.pairs.ports.len()).flat_map(move |s| {
            let ports = self.pairs.ports[s];
            let pairs = (0..ports).flat_map(move |i| (0..ports).map(move |o| (i, o)));
            pairs.zip(&self.which[self.pairs.first[s]..]).filter(|(_, which)| **which != 0).map(
                move |((input, output), which)| {
                    (SwitchId::from(s), input, output, &self.tables[usize::from(*which)])
                },
            )
        })
    }
}

/// Equal when every pair of ports has the same table, in whatever order they were set.
impl PartialEq for PortTables {
    fn eq(&self, other: &Self) -> bool {
        self.fallback() == other.fallback() && self.pairs == other.pairs && {
            let table = |own: &Self, which: u16| own.tables[usize::from(which)];
            let pairs = self.which.iter().zip(&other.which);
            pairs.into_iter().all(|(a, b)| table(self, *a) == table(other, *b))
        }
    }
}

impl Eq for PortTables {}
