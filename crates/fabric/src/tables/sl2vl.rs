//! The lane of each service level: one table for all ports of all switches, or one for each pair of
//! ports.

use super::bytes::{ByteReader, ByteWriter};
use crate::network::Topology;
use base::SwitchId;
use std::collections::BTreeMap;

/// The lane a packet takes, from its service level, at each switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sl2VlMapping {
    /// One table, which is the same at every port of every switch.
    Uniform([u8; 16]),
    /// A table for each pair of ports.
    PerPort(Sl2VlPortTables),
}

impl Sl2VlMapping {
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

/// The numbers of all pairs of an in-port and an out-port of each switch, with the management port
/// 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortPairNumbering {
    ports: Vec<u16>,
    /// The number of the first pair of each switch, then the number of all pairs.
    first: Vec<usize>,
}

impl PortPairNumbering {
    /// The numbers of the pairs of ports of `on`. O(switches).
    pub fn new(on: &Topology) -> Self {
        let ports: Vec<u16> = on.switches().iter().map(|s| s.ports + 1).collect();
        let mut first = vec![0];
        for &p in &ports {
            first.push(first[first.len() - 1] + usize::from(p) * usize::from(p));
        }
        Self { ports, first }
    }

    /// The number of pairs.
    pub fn count(&self) -> usize {
        self.first[self.ports.len()]
    }

    /// The number of a pair; `None` where the switch has no such port.
    #[inline]
    pub fn at(&self, switch: SwitchId, input: u16, output: u16) -> Option<usize> {
        let ports = *self.ports.get(switch.ix())?;
        let inside = input < ports && output < ports;
        inside.then(|| {
            self.first[switch.ix()] + usize::from(input) * usize::from(ports) + usize::from(output)
        })
    }
}

/// The SL2VL tables of all (switch, in-port, out-port); pairs for which none was set have the
/// fallback.
///
/// In-ports with the same tables share one row of table numbers.
#[derive(Debug, Clone)]
pub struct Sl2VlPortTables {
    ports: Vec<u16>,
    /// The index of the first in-port of each switch in `row_of`, then the number of all in-ports.
    first: Vec<usize>,
    /// The row of each in-port; row 0 consists of the fallback alone.
    row_of: Vec<u32>,
    /// For each out-port, an index into `tables`.
    rows: Vec<Vec<u32>>,
    /// Rows below this number may belong to several in-ports.
    shared: usize,
    /// The different tables; the first is the fallback.
    tables: Vec<[u8; 16]>,
    /// The index of each table in `tables`, and the index in `rows` of each row that may be shared.
    known: BTreeMap<[u8; 16], u32>,
    known_rows: BTreeMap<Vec<u32>, u32>,
    /// By switch and in-port, the first in-port of the switch with the same tables; empty until
    /// [`Sl2VlPortTables::find_alike`] is called.
    alike: Vec<Vec<u16>>,
}

impl Sl2VlPortTables {
    /// Tables that are all `fallback`. O(ports).
    pub fn new(on: &Topology, fallback: [u8; 16]) -> Self {
        let ports: Vec<u16> = on.switches().iter().map(|s| s.ports + 1).collect();
        let mut first = vec![0];
        for &p in &ports {
            first.push(first[first.len() - 1] + usize::from(p));
        }
        let row_of = vec![0; first[ports.len()]];
        let known = BTreeMap::from([(fallback, 0)]);
        let (rows, tables) = (vec![Vec::new()], vec![fallback]);
        let (known_rows, alike) = (BTreeMap::from([(Vec::new(), 0)]), Vec::new());
        Self { ports, first, row_of, rows, shared: 1, tables, known, known_rows, alike }
    }

    /// The index of an in-port in `row_of`; `None` where the switch has no such port.
    #[inline]
    fn at(&self, switch: SwitchId, input: u16) -> Option<usize> {
        (input < *self.ports.get(switch.ix())?)
            .then(|| self.first[switch.ix()] + usize::from(input))
    }

    fn number(&mut self, table: [u8; 16]) -> u32 {
        let fresh = u32::try_from(self.tables.len()).expect("fewer tables than pairs of ports");
        let known = *self.known.entry(table).or_insert(fresh);
        if known == fresh {
            self.tables.push(table);
        }
        known
    }

    /// Sets one table; returns false where the switch has no such port. O(ports of the switch) for
    /// the first table of an in-port, O(log different tables) for the next ones.
    pub fn set(&mut self, switch: SwitchId, input: u16, output: u16, table: [u8; 16]) -> bool {
        let ports = self.ports.get(switch.ix()).copied().unwrap_or(0);
        let Some(at) = self.at(switch, input).filter(|_| output < ports) else { return false };
        self.alike.clear();
        let known = self.number(table);
        if (self.row_of[at] as usize) < self.shared {
            let mut own = self.rows[self.row_of[at] as usize].clone();
            own.resize(ports.into(), 0);
            self.row_of[at] = self.rows.len() as u32;
            self.rows.push(own);
        }
        self.rows[self.row_of[at] as usize][usize::from(output)] = known;
        true
    }

    /// Sets the tables of all out-ports of an in-port. O(ports of the switch * log different
    /// tables).
    ///
    /// # Panics
    /// When the switch has no such port.
    pub fn set_row(&mut self, switch: SwitchId, input: u16, of: impl Fn(u16) -> [u8; 16]) {
        let at = self.at(switch, input).expect("a port of the switch");
        self.alike.clear();
        self.share();
        let row = (0..self.ports[switch.ix()]).map(|output| self.number(of(output))).collect();
        self.row_of[at] = self.shared_row(row);
        self.shared = self.rows.len();
    }

    /// The number of a row; a row that is new is added to `rows`.
    fn shared_row(&mut self, mut row: Vec<u32>) -> u32 {
        let end = row.iter().rposition(|&table| table != 0).map_or(0, |last| last + 1);
        row.truncate(end);
        let fresh = self.rows.len() as u32;
        let known = *self.known_rows.entry(row.clone()).or_insert(fresh);
        if known == fresh {
            self.rows.push(row);
        }
        known
    }

    /// Merges equal rows.
    fn share(&mut self) {
        let own = self.rows.split_off(self.shared);
        if own.is_empty() {
            return;
        }
        let first = self.shared as u32;
        let numbers: Vec<u32> = own.into_iter().map(|row| self.shared_row(row)).collect();
        for row in self.row_of.iter_mut().filter(|row| **row >= first) {
            *row = numbers[(*row - first) as usize];
        }
        self.shared = self.rows.len();
    }

    /// The table of a pair of ports; the fallback where the switch has no such ports.
    #[inline]
    pub fn get(&self, switch: SwitchId, input: u16, output: u16) -> &[u8; 16] {
        let row = self.at(switch, input).map(|at| &self.rows[self.row_of[at] as usize]);
        let table = row.and_then(|row| row.get(usize::from(output))).copied().unwrap_or(0);
        &self.tables[table as usize]
    }

    /// Finds the in-ports of each switch that have the same tables. O(ports * different in-ports of
    /// a switch), and O(ports of the switch) for each in-port that was set by itself.
    pub(super) fn find_alike(&mut self) {
        self.share();
        let of_switch = |s: usize| {
            let rows = &self.row_of[self.first[s]..self.first[s + 1]];
            let mut kinds: Vec<u16> = Vec::new();
            let mut alike = Vec::with_capacity(rows.len());
            for (input, row) in (0..).zip(rows) {
                let known = kinds.iter().copied().find(|&k| rows[usize::from(k)] == *row);
                if known.is_none() {
                    kinds.push(input);
                }
                alike.push(known.unwrap_or(input));
            }
            alike
        };
        self.alike = (0..self.ports.len()).map(of_switch).collect();
    }

    /// The first in-port of the switch with the same tables as `input`; `input` itself before
    /// `find_alike` was called.
    pub fn like(&self, switch: SwitchId, input: u16) -> u16 {
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
        let inputs = (0..self.ports.len()).map(SwitchId::from);
        let inputs = inputs.flat_map(|s| (0..self.ports[s.ix()]).map(move |input| (s, input)));
        inputs.zip(&self.row_of).flat_map(move |((s, input), row)| {
            let row = (0_u16..).zip(&self.rows[*row as usize]).filter(|(_, table)| **table != 0);
            row.map(move |(output, table)| (s, input, output, &self.tables[*table as usize]))
        })
    }
}

/// Whether all values of a table are numbers of lanes (below 16).
pub(super) fn are_lanes(table: &[u8; 16]) -> bool {
    table.iter().all(|&lane| lane < 16)
}

impl Sl2VlPortTables {
    /// Writes the tables in their stored form; rows must have been merged.
    pub(super) fn write(&self, out: &mut ByteWriter) {
        out.array(&self.tables, |table| *table);
        out.array(&self.row_of, |row| row.to_le_bytes());
        let ends: Vec<u32> = self.rows.iter().map(|row| row.len() as u32).collect();
        out.array(&ends, |length| length.to_le_bytes());
        out.array(&self.rows.concat(), |table| table.to_le_bytes());
    }

    /// Reads what [`Sl2VlPortTables::write`] wrote.
    pub(super) fn read(from: &mut ByteReader<'_>, on: &Topology) -> Option<Self> {
        let tables: Vec<[u8; 16]> = from.array(|table| table)?;
        let row_of = from.array(u32::from_le_bytes)?;
        let lengths = from.array(u32::from_le_bytes)?;
        let all = from.array(u32::from_le_bytes)?;
        let mut read = Self::new(on, *tables.first()?);
        let mut rest = all.as_slice();
        let mut rows = Vec::with_capacity(lengths.len());
        for length in lengths {
            let (row, more) = rest.split_at_checked(length as usize)?;
            rest = more;
            rows.push(row.to_vec());
        }
        let wide = |(at, row): (usize, &u32)| {
            let ports = read.ports[read.first.partition_point(|&first| first <= at) - 1];
            rows.get(*row as usize).is_some_and(|row| row.len() <= usize::from(ports))
        };
        let fits = rest.is_empty()
            && row_of.len() == read.row_of.len()
            && row_of.iter().enumerate().all(wide)
            && all.iter().all(|&table| (table as usize) < tables.len())
            && tables.iter().all(are_lanes)
            && rows.first()?.is_empty();
        read.known = tables.iter().copied().zip(0..).collect();
        read.known_rows = rows.iter().cloned().zip(0..).collect();
        read.shared = rows.len();
        (read.row_of, read.rows, read.tables) = (row_of, rows, tables);
        fits.then_some(read)
    }
}

/// Equal when every pair of ports has the same table, whatever the order in which they were set.
impl PartialEq for Sl2VlPortTables {
    fn eq(&self, other: &Self) -> bool {
        self.fallback() == other.fallback()
            && self.ports == other.ports
            && self.iter().eq(other.iter())
    }
}

impl Eq for Sl2VlPortTables {}
