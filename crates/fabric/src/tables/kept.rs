//! Tables as bytes, which pass them between processes without any change; and the comparison of two
//! tables.
//!
//! Numbers are little-endian; an array is its length, as eight bytes, and its elements. Every
//! stored row is written once. This is no file format: another version of the program may use
//! another layout, and refuses these bytes.

use super::bytes::{ByteReader, ByteWriter};
use super::routing::{LaneAssignment, Routing, ServiceLevels};
use super::rows::ForwardingTables;
use super::sl2vl::{Sl2VlMapping, Sl2VlPortTables, are_lanes};
use crate::network::Topology;
use base::{Interrupted, ProgressWatch, Refusal};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The first bytes; the number changes with the layout.
const MARK: &[u8] = b"flyloom tables 1\n";

impl Routing {
    /// The tables, their lanes and the engine that made them, as bytes for [`Routing::from_bytes`].
    /// O(stored entries).
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = ByteWriter(MARK.to_vec());
        out.array(self.engine().as_bytes(), |b| [*b]);
        out.array(Value::Object(self.options().clone()).to_string().as_bytes(), |b| [*b]);
        out.0.extend(self.layers().to_le_bytes());
        self.tables.write(&mut out);
        out.array(self.to_switch(), |port| port.to_le_bytes());
        match self.lanes().levels() {
            ServiceLevels::Same(level) => out.0.extend([0, *level]),
            ServiceLevels::BySwitch(levels) => {
                out.0.push(1);
                out.array(levels, |level| [*level]);
            }
            ServiceLevels::ByTerminal(levels) => {
                out.0.push(2);
                out.array(levels, |level| [*level]);
            }
        }
        match self.lanes().sl2vl() {
            Sl2VlMapping::Uniform(table) => {
                out.0.push(0);
                out.0.extend(table);
            }
            Sl2VlMapping::PerPort(tables) => {
                out.0.push(1);
                tables.write(&mut out);
            }
        }
        out.0
    }

    /// The tables that [`Routing::to_bytes`] wrote. `on` must be the network that they were made
    /// for.
    ///
    /// # Errors
    /// When the bytes are no such tables, or belong to another network or version of the program.
    pub fn from_bytes(on: Arc<Topology>, bytes: &[u8]) -> Result<Self, Refusal> {
        Self::read(on, bytes).ok_or_else(|| {
            let help = "tables pickled by this version of flyloom, for this network";
            Refusal::new("tables", "the bytes are none of these tables", help)
        })
    }

    fn read(on: Arc<Topology>, bytes: &[u8]) -> Option<Self> {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut from = ByteReader(bytes.strip_prefix(MARK)?);
        let engine = String::from_utf8(from.array(u8::from_le_bytes)?).ok()?;
        let options: Map<String, Value> =
            serde_json::from_slice(&from.array(u8::from_le_bytes)?).ok()?;
        let layers = u32::from_le_bytes(from.take()?);
        let trees = (layers as usize).checked_mul(terminals)?;
        let tables = ForwardingTables::read(&mut from, switches, trees)?;
        let to_switch = from.array(u16::from_le_bytes)?;
        let [kind] = from.take()?;
        let (levels, sources) = match kind {
            0 => {
                let [level] = from.take()?;
                (ServiceLevels::Same(level), None)
            }
            1 => (ServiceLevels::BySwitch(from.array(u8::from_le_bytes)?), Some(switches)),
            2 => (ServiceLevels::ByTerminal(from.array(u8::from_le_bytes)?), Some(terminals)),
            _ => return None,
        };
        if let (ServiceLevels::BySwitch(v) | ServiceLevels::ByTerminal(v), Some(sources)) =
            (&levels, sources)
            && v.len() != trees.checked_mul(sources)?
        {
            return None;
        }
        let [kind] = from.take()?;
        let sl2vl = match kind {
            0 => Sl2VlMapping::Uniform(from.take().filter(are_lanes)?),
            1 => Sl2VlMapping::PerPort(Sl2VlPortTables::read(&mut from, &on)?),
            _ => return None,
        };
        if to_switch.len() != switches * switches || !from.0.is_empty() {
            return None;
        }
        let routing = Self::of(on, layers, tables, to_switch);
        Some(routing.with_lanes(LaneAssignment::new(levels, sl2vl)).named(&engine, options))
    }

    /// Whether `other` has the same routes and lanes on the same network, whichever engine made
    /// them and however they are stored. O(entries), or O(stored entries) where both are stored
    /// alike.
    ///
    /// # Errors
    /// [`Interrupted`] when `watch` asks to stop.
    pub fn is_same(&self, other: &Self, watch: &dyn ProgressWatch) -> Result<bool, Interrupted> {
        let alike = self.layers() == other.layers()
            && (Arc::ptr_eq(self.topology(), other.topology())
                || self.topology() == other.topology())
            && self.lanes() == other.lanes()
            && self.to_switch() == other.to_switch();
        if !alike || Arc::ptr_eq(&self.tables, &other.tables) || self.tables == other.tables {
            return Ok(alike);
        }
        let trees = self.tables.trees();
        for of in 0..trees {
            if of % 256 == 0 {
                watch.tick("comparing tables", of as u64, trees as u64)?;
            }
            if self.tables.tree(of) != other.tables.tree(of) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A hash of the tables: equal for equal tables, and very probably different for others. It
    /// covers the network, the number of lanes, and the routes in each layer to one terminal of
    /// each switch. It may differ between versions of the program. O(layers * switches^2) the first
    /// time.
    pub fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| self.reckon_digest())
    }

    fn reckon_digest(&self) -> u64 {
        let on = self.topology();
        let mut hash = DefaultHasher::new();
        (on.digest(), self.layers(), self.lanes().count()).hash(&mut hash);
        let mut row = Vec::with_capacity(on.switches().len());
        for layer in 0..self.layers() {
            for home in (0..on.switches().len()).map(base::SwitchId::from) {
                let Some(&first) = on.terminals_on(home).first() else { continue };
                row.clear();
                row.extend(self.tree(layer, first).ports());
                row.hash(&mut hash);
            }
        }
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{NetworkRecipe, Switch, TopologyBuilder};
    use crate::tables::NO_ROUTE;
    use base::{QuietWatch, SwitchId, TerminalId};

    /// A line of three switches with two endpoints each.
    fn line() -> Arc<Topology> {
        let mut b = TopologyBuilder::new();
        let all: Vec<SwitchId> = (0..3).map(|i| b.switch(Switch::new(format!("s{i}")))).collect();
        b.link(all[0], all[1]);
        b.link(all[1], all[2]);
        b.endpoints_on(all.into_iter(), 2);
        Arc::new(
            b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a line"),
        )
    }

    /// The routes of that network, written by hand: ports 1 and 2 have endpoints, 3 and 4 links.
    fn routes(on: &Arc<Topology>) -> Routing {
        let to: [[u16; 3]; 3] = [[0, 3, 3], [3, 0, 3], [3, 4, 0]];
        let next = (0..6_usize).flat_map(|t| {
            let mut row = to[t / 2];
            row[t / 2] = 1 + (t % 2) as u16;
            row
        });
        Routing::new(on.clone(), 1, next.collect(), to.concat()).named("hand", Map::new())
    }

    fn all_kinds() -> Vec<Routing> {
        let on = line();
        let mut tables = Sl2VlPortTables::new(&on, [0; 16]);
        tables.set(SwitchId(1), 3, 4, [1; 16]);
        tables.set(SwitchId(2), 1, 3, std::array::from_fn(|sl| (sl % 2) as u8));
        let plain = routes(&on);
        let lanes = |levels, sl2vl| plain.clone().with_lanes(LaneAssignment::new(levels, sl2vl));
        vec![
            plain.clone(),
            lanes(ServiceLevels::Same(1), Sl2VlMapping::modulo(2)),
            lanes(ServiceLevels::BySwitch(vec![1; 18]), Sl2VlMapping::modulo(2)),
            lanes(ServiceLevels::ByTerminal(vec![1; 36]), Sl2VlMapping::PerPort(tables)),
        ]
    }

    #[test]
    fn what_was_written_reads_back_the_same() {
        let all = all_kinds();
        for (i, one) in all.iter().enumerate() {
            let back = Routing::from_bytes(line(), &one.to_bytes()).expect("its own bytes");
            assert_eq!((back.engine(), back.next()), ("hand", one.next()));
            assert!(one.is_same(&back, &QuietWatch).expect("not stopped"));
            assert_eq!((one.digest(), one.kept_entries()), (back.digest(), back.kept_entries()));
            assert_eq!(one.lanes(), back.lanes());
            for other in &all[..i] {
                assert!(!one.is_same(other, &QuietWatch).expect("not stopped"));
            }
        }
    }

    #[test]
    fn every_entry_counts_however_it_is_kept() {
        let on = line();
        let plain = routes(&on);
        for at in 0..18 {
            let mut next = plain.next();
            next[at] = NO_ROUTE;
            let other = Routing::new(on.clone(), 1, next, plain.to_switch().to_vec());
            assert!(!plain.is_same(&other, &QuietWatch).expect("not stopped"), "entry {at}");
        }
        let mut apart = super::super::ForwardingTableDraft::new(&on, 1);
        for t in 0..6 {
            let row = plain.tree(0, TerminalId(t as u32)).to_vec();
            apart.put(0, SwitchId(t as u32 / 2), &[t], &row, (&[], &[]));
        }
        let laid = Routing::laid(on.clone(), 1, apart, plain.to_switch().to_vec());
        assert!(plain.is_same(&laid, &QuietWatch).expect("not stopped"));
        assert_eq!(plain.digest(), laid.digest());
    }

    #[test]
    fn bytes_of_others_are_refused_and_never_panic() {
        let other = Arc::new(line().with_failures(&[], &[]).expect("the same"));
        let smaller = {
            let mut b = TopologyBuilder::new();
            b.switch(Switch::new("alone"));
            Arc::new(
                b.finish(NetworkRecipe { family: "t".into(), params: Map::new() }).expect("one"),
            )
        };
        for one in all_kinds() {
            let bytes = one.to_bytes();
            assert!(Routing::from_bytes(other.clone(), &bytes).is_ok());
            assert!(Routing::from_bytes(smaller.clone(), &bytes).is_err());
            for end in 0..bytes.len() {
                assert!(Routing::from_bytes(other.clone(), &bytes[..end]).is_err(), "cut at {end}");
            }
            for at in 0..bytes.len() {
                let mut wrong = bytes.clone();
                wrong[at] ^= 0xff;
                if let Ok(read) = Routing::from_bytes(other.clone(), &wrong) {
                    let _ = (read.next(), read.digest(), read.to_bytes()); // none panics
                }
            }
        }
    }
}
