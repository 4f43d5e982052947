//! Forwarding tables as values: a route per destination and layer, and the lane of every hop.

use super::rows::{ForwardingTableDraft, ForwardingTables, ForwardingTree};
use super::sl2vl::Sl2VlMapping;
use super::walk::RouteWalk;
use crate::network::Topology;
use base::{SwitchId, TerminalId};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// The service level of each path. A path runs from a source switch to a destination address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceLevels {
    /// All paths have this level.
    Same(u8),
    /// A level for each source switch: entry `(layer * terminals + terminal) * switches + source
    /// switch`.
    BySwitch(Vec<u8>),
    /// A level for each source terminal: entry `(layer * terminals + terminal) * terminals + source
    /// terminal`. Tables read from a subnet manager can differ between terminals of one switch.
    ByTerminal(Vec<u8>),
}

impl ServiceLevels {
    /// The levels that some path carries, each once, in order. O(paths).
    pub fn in_use(&self) -> Vec<u8> {
        let mut used = [false; 16];
        match self {
            Self::Same(sl) => used[usize::from(sl & 15)] = true,
            Self::BySwitch(v) | Self::ByTerminal(v) => {
                for sl in v {
                    used[usize::from(sl & 15)] = true;
                }
            }
        }
        (0..16).filter(|sl| used[usize::from(*sl)]).collect()
    }
}

/// The assignment of packets to virtual lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneAssignment {
    count: u8,
    levels: ServiceLevels,
    sl2vl: Sl2VlMapping,
}

impl LaneAssignment {
    /// The assignment by the service level of each path and the lane of each service level.
    pub fn new(levels: ServiceLevels, mut sl2vl: Sl2VlMapping) -> Self {
        if let Sl2VlMapping::PerPort(tables) = &mut sl2vl {
            tables.find_alike();
        }
        let used = levels.in_use();
        let highest =
            |table: &[u8; 16]| used.iter().map(|sl| table[usize::from(*sl)]).max().unwrap_or(0);
        let most = match &sl2vl {
            Sl2VlMapping::Uniform(table) => highest(table),
            Sl2VlMapping::PerPort(tables) => {
                tables.distinct().iter().map(highest).max().unwrap_or(0)
            }
        };
        Self { count: most + 1, levels, sl2vl }
    }

    /// The assignment of all packets to lane 0.
    pub const fn single() -> Self {
        Self { count: 1, levels: ServiceLevels::Same(0), sl2vl: Sl2VlMapping::Uniform([0; 16]) }
    }

    /// Number of data lanes: all lanes in use are below it. At least 1.
    pub fn count(&self) -> u8 {
        self.count
    }

    /// Service level of each path.
    pub fn levels(&self) -> &ServiceLevels {
        &self.levels
    }

    /// Lane of each service level.
    pub fn sl2vl(&self) -> &Sl2VlMapping {
        &self.sl2vl
    }
}

/// The forwarding tables of a network: `layers` routes to every terminal, one to every switch. A
/// clone shares the memory of the tables, so that it costs little.
#[derive(Debug, Clone)]
pub struct Routing {
    topology: Arc<Topology>,
    engine: String,
    options: Map<String, Value>,
    layers: u32,
    pub(super) tables: Arc<ForwardingTables>,
    to_switch: Arc<Vec<u16>>,
    lanes: Arc<LaneAssignment>,
    /// [`Routing::digest`], computed at the first call.
    pub(super) digest: Arc<OnceLock<u64>>,
}

impl Routing {
    /// A routing from its tables.
    ///
    /// `next[(layer * terminals + terminal) * switches + switch]` is the port by which `switch`
    /// forwards to `terminal` in `layer` (the terminal's own port at its switch), [`NO_ROUTE`]
    /// where it has none. `to_switch[destination * switches + switch]` likewise, 0 at the
    /// destination.
    ///
    /// # Panics
    /// When the lengths do not fit the network.
    pub fn new(topology: Arc<Topology>, layers: u32, next: Vec<u16>, to_switch: Vec<u16>) -> Self {
        let (s, t) = (topology.switches().len(), topology.terminals().len());
        assert_eq!(next.len(), layers as usize * t * s, "one entry a layer, terminal and switch");
        let tables = ForwardingTableDraft::of(&topology, layers, &next);
        drop(next);
        Self::of(topology, layers, tables, to_switch)
    }

    /// A routing from the tables that an engine has filled, and ports to switches as
    /// [`Routing::new`] takes them.
    ///
    /// # Panics
    /// When the length of `to_switch` does not fit the network.
    pub fn laid(
        topology: Arc<Topology>,
        layers: u32,
        laying: ForwardingTableDraft<'_>,
        to_switch: Vec<u16>,
    ) -> Self {
        Self::of(topology, layers, laying.finish(), to_switch)
    }

    pub(super) fn of(
        topology: Arc<Topology>,
        layers: u32,
        tables: ForwardingTables,
        to_switch: Vec<u16>,
    ) -> Self {
        let s = topology.switches().len();
        assert_eq!(to_switch.len(), s * s, "one entry a pair of switches");
        let (engine, options) = ("file".to_owned(), Map::new());
        let (tables, to_switch) = (Arc::new(tables), Arc::new(to_switch));
        Self {
            topology,
            engine,
            options,
            layers,
            tables,
            to_switch,
            lanes: Arc::new(LaneAssignment::single()),
            digest: Arc::default(),
        }
    }

    /// The same tables with these lanes.
    #[must_use]
    pub fn with_lanes(mut self, lanes: LaneAssignment) -> Self {
        let (s, t) = (self.topology.switches().len(), self.topology.terminals().len());
        let width = match &lanes.levels {
            ServiceLevels::Same(_) => None,
            ServiceLevels::BySwitch(v) => Some((v.len(), s)),
            ServiceLevels::ByTerminal(v) => Some((v.len(), t)),
        };
        if let Some((len, sources)) = width {
            assert_eq!(
                len,
                self.layers as usize * t * sources,
                "one level a layer, terminal, source"
            );
        }
        self.lanes = Arc::new(lanes);
        self.digest = Arc::default();
        self
    }

    /// The same tables with `engine` and `options` as what made them.
    #[must_use]
    pub fn named(mut self, engine: &str, options: Map<String, Value>) -> Self {
        engine.clone_into(&mut self.engine);
        self.options = options;
        self
    }

    /// The network that the tables are for.
    pub fn topology(&self) -> &Arc<Topology> {
        &self.topology
    }

    /// Name of the engine that made the tables, or `file`.
    pub fn engine(&self) -> &str {
        &self.engine
    }

    /// The engine's options.
    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    /// The number of routes to every terminal.
    pub fn layers(&self) -> u32 {
        self.layers
    }

    /// The LID mask control that carries its layers: the least m with 2^m at least `layers`.
    pub fn lmc(&self) -> u8 {
        self.layers.next_power_of_two().trailing_zeros() as u8
    }

    /// The assignment of packets to lanes.
    pub fn lanes(&self) -> &LaneAssignment {
        &self.lanes
    }

    /// All entries towards terminals, in the order of [`Routing::new`]. Every call builds them
    /// anew, in O(entries) memory.
    pub fn next(&self) -> Vec<u16> {
        self.tables.dense()
    }

    /// The number of entries towards terminals.
    pub fn entries(&self) -> usize {
        self.tables.trees() * self.topology.switches().len()
    }

    /// The number of stored entries: one that several terminals of a switch share is stored once.
    pub fn kept_entries(&self) -> usize {
        self.tables.kept()
    }

    /// All entries towards switches, in the order of [`Routing::new`].
    pub fn to_switch(&self) -> &[u16] {
        &self.to_switch
    }

    /// The forwarding port of every switch towards `terminal` in `layer`.
    #[inline]
    pub fn tree(&self, layer: u32, terminal: TerminalId) -> ForwardingTree<'_> {
        self.tables.tree(layer as usize * self.topology.terminals().len() + terminal.ix())
    }

    /// The number of the stored row for `terminal`. Terminals with the same row have the same
    /// entries in `layer`, except where [`ForwardingTree::is_own`] is true.
    #[inline]
    pub fn row(&self, layer: u32, terminal: TerminalId) -> u32 {
        self.tables.row(layer as usize * self.topology.terminals().len() + terminal.ix())
    }

    /// The forwarding port of every switch towards switch `to`.
    pub fn tree_to_switch(&self, to: SwitchId) -> &[u16] {
        let s = self.topology.switches().len();
        &self.to_switch[to.ix() * s..(to.ix() + 1) * s]
    }

    /// The distinct (service level, in-port) with which traffic for `terminal` starts at `source`.
    ///
    /// Where lanes do not depend on the in-port, it is 0. Otherwise one in-port stands for all
    /// those of the switch that have the same SL2VL tables.
    pub fn starts(&self, layer: u32, terminal: TerminalId, source: SwitchId) -> Vec<(u8, u16)> {
        let t = self.topology.terminals().len();
        let row = layer as usize * t + terminal.ix();
        let by_port = match &self.lanes.sl2vl {
            Sl2VlMapping::PerPort(tables) => Some(tables),
            Sl2VlMapping::Uniform(_) => None,
        };
        let one = |from: Option<TerminalId>| {
            let level = match (&self.lanes.levels, from) {
                (ServiceLevels::Same(sl), _) => *sl,
                (ServiceLevels::BySwitch(v), _) => {
                    v[row * self.topology.switches().len() + source.ix()]
                }
                (ServiceLevels::ByTerminal(v), Some(from)) => v[row * t + from.ix()],
                (ServiceLevels::ByTerminal(_), None) => 0,
            };
            let port = by_port.zip(from).map(|(tables, from)| {
                tables.like(source, self.topology.terminals()[from.ix()].plug.port)
            });
            (level, port.unwrap_or(0))
        };
        if by_port.is_none() && !matches!(self.lanes.levels, ServiceLevels::ByTerminal(_)) {
            return vec![one(None)];
        }
        let mut all: Vec<(u8, u16)> =
            self.topology.terminals_on(source).iter().map(|&from| one(Some(from))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The hops of the route from switch `from` to `terminal` in `layer`.
    #[inline]
    pub fn walk(
        &self,
        layer: u32,
        terminal: TerminalId,
        from: SwitchId,
    ) -> RouteWalk<'_, ForwardingTree<'_>> {
        RouteWalk::new(&self.topology, self.tree(layer, terminal), from)
    }

    /// The service level of the path from terminal `from` to `to` in `layer`.
    pub fn service_level(&self, from: TerminalId, layer: u32, to: TerminalId) -> u8 {
        let row = layer as usize * self.topology.terminals().len() + to.ix();
        match &self.lanes.levels {
            ServiceLevels::Same(sl) => *sl,
            ServiceLevels::BySwitch(v) => {
                let source = self.topology.terminals()[from.ix()].plug.switch;
                v[row * self.topology.switches().len() + source.ix()]
            }
            ServiceLevels::ByTerminal(v) => v[row * self.topology.terminals().len() + from.ix()],
        }
    }

    /// The working switches that carry working terminals, by plane, with the number of these
    /// terminals: the sources of all traffic.
    pub fn sources(&self) -> TrafficSourceSwitches {
        let t = &self.topology;
        let mut by_plane = vec![Vec::new(); usize::from(t.planes())];
        let mut endpoints = vec![0; t.switches().len()];
        for s in t.edge_switches() {
            let id = SwitchId(s);
            let count = t.terminals_on(id).iter().filter(|&&x| t.terminal_is_up(x)).count() as u32;
            if count > 0 {
                by_plane[usize::from(t.switches()[id.ix()].plane)].push((id, count));
                endpoints[id.ix()] = count;
            }
        }
        TrafficSourceSwitches { by_plane, endpoints }
    }

    /// The working destinations: every layer and working terminal, layers outermost.
    pub fn destinations(&self) -> impl Iterator<Item = (u32, TerminalId)> + '_ {
        let all = (0..self.topology.terminals().len()).map(TerminalId::from);
        let up: Vec<TerminalId> = all.filter(|&t| self.topology.terminal_is_up(t)).collect();
        (0..self.layers).flat_map(move |layer| up.clone().into_iter().map(move |t| (layer, t)))
    }
}

/// The switches at which traffic starts, by plane.
#[derive(Debug, Clone)]
pub struct TrafficSourceSwitches {
    by_plane: Vec<Vec<(SwitchId, u32)>>,
    /// The working terminals on each switch.
    endpoints: Vec<u32>,
}

impl TrafficSourceSwitches {
    /// The source switches of `plane`, each with its number of working terminals.
    pub fn of_plane(&self, plane: u16) -> &[(SwitchId, u32)] {
        &self.by_plane[usize::from(plane)]
    }

    /// The number of working terminals on a switch; 0 where no traffic starts.
    pub fn endpoints(&self, switch: SwitchId) -> u32 {
        self.endpoints[switch.ix()]
    }
}

/// The starts of routes ([`Routing::starts`]) for each source, computed once where they are the
/// same for all destinations.
pub struct RouteStartSwitches<'a> {
    routing: &'a Routing,
    /// The starts by switch; `None` where they depend on the destination.
    fixed: Option<Vec<Vec<(u8, u16)>>>,
    last: Vec<(u8, u16)>,
}

impl<'a> RouteStartSwitches<'a> {
    /// The starts of `routing`. O(terminals) where all paths have the same level.
    pub fn new(routing: &'a Routing) -> Self {
        let on = &routing.topology;
        let same = matches!(routing.lanes.levels, ServiceLevels::Same(_));
        let of = |s| routing.starts(0, TerminalId(0), SwitchId::from(s));
        let fixed = same.then(|| (0..on.switches().len()).map(of).collect());
        Self { routing, fixed, last: Vec::new() }
    }

    /// Whether the starts are the same for all destinations.
    pub fn are_fixed(&self) -> bool {
        self.fixed.is_some()
    }

    /// As [`Routing::starts`].
    #[inline]
    pub fn of(&mut self, layer: u32, terminal: TerminalId, source: SwitchId) -> &[(u8, u16)] {
        if let Some(fixed) = &self.fixed {
            return &fixed[source.ix()];
        }
        self.last = self.routing.starts(layer, terminal, source);
        &self.last
    }
}
