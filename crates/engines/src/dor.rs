//! Dimension-order routing: a packet corrects one coordinate after the other.
//!
//! Source: Dally & Towles, "Principles and Practices of Interconnection Networks", 2004, sections
//! 8.4.2 (dimension order, the shorter direction round a ring) and 14.2.3 (the dateline). A packet
//! keeps its service level. So the level has one bit per ring, which says from the start whether
//! the route crosses the dateline of that ring, and the lane is that bit, as in `torus-2QoS` of
//! `OpenSM`.
//!
//! Two lanes suffice. Dimensions are corrected in order. On lane 0 of a ring no route crosses the
//! dateline. On lane 1 all routes cross it and none is longer than half the ring, so none uses the
//! channel opposite to the dateline.

use super::{Engine, EnginePromise};
use crate::lanes::DefaultLaneMethod;
use base::ComputationError;
use base::{ChannelId, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::geometry::{GridRowLinks, NetworkGeometry, PlaneStructure};
use fabric::network::{PortPeer, Topology};
use fabric::tables::{
    LaneAssignment, NO_ROUTE, Routing, ServiceLevels, Sl2VlMapping, Sl2VlPortTables,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Dimension order on tori, meshes, `HyperX` and related networks; each layer starts one dimension
/// later.
///
/// Several layers, and tori of more than four dimensions, get their lanes path by path, as few as
/// that finds. Otherwise a torus takes two lanes and any other network one.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dor {}

impl Engine for Dor {
    const NAME: &'static str = "dor";
    const PROMISE: EnginePromise = EnginePromise { minimal: true, deadlock_free: true };
    const LANES: DefaultLaneMethod = DefaultLaneMethod::Online;

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }

    /// O(layers * terminals * switches * (dimensions + radix)), and the time of assigning lanes.
    fn route(
        &self,
        on: &Arc<Topology>,
        layers: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<Routing, ComputationError> {
        let grid = SwitchGrid::new(on)?;
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let mut next = vec![NO_ROUTE; layers as usize * terminals * switches];
        let mut assigned = vec![0_u32; on.links().len() * 2];
        let rows = layers as usize * terminals;
        for row in 0..rows {
            let (layer, t) = (row / terminals, TerminalId::from(row % terminals));
            if !on.terminal_is_up(t) {
                continue;
            }
            watch.tick("routing", row as u64, rows as u64)?;
            let plug = on.terminals()[t.ix()].plug;
            let entries = &mut next[row * switches..(row + 1) * switches];
            grid.route(on, plug.switch, (layer, turn(on, t) + layer), entries, &mut assigned)?;
            entries[plug.switch.ix()] = plug.port;
        }
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        for d in (0..switches).filter(|&d| on.switches()[d].up) {
            let entries = &mut to_switch[d * switches..(d + 1) * switches];
            grid.route(on, SwitchId::from(d), (0, 0), entries, &mut assigned)?;
            entries[d] = 0;
        }
        let routing = Routing::new(on.clone(), layers, next, to_switch);
        let rings = grid.rings();
        let one_order = layers == 1 || grid.wide.len() == 1;
        if one_order && (1..=4).contains(&rings.len()) {
            let lanes = grid.dateline(on, layers, &rings);
            return Ok(routing.with_lanes(lanes));
        }
        Ok(routing)
    }
}

/// The position of a terminal among those on its switch. It decides which half of a ring the
/// terminal's routes take where both directions are equally long.
fn turn(on: &Topology, t: TerminalId) -> usize {
    let attached = on.terminals_on(on.terminals()[t.ix()].plug.switch);
    attached.iter().position(|a| *a == t).unwrap_or(0)
}

/// The switches of a network as points of a grid.
struct SwitchGrid {
    row: GridRowLinks,
    sizes: Vec<u32>,
    /// Dimensions with more than one switch, in the order in which the first layer corrects them.
    wide: Vec<usize>,
    coordinates: Vec<Vec<u32>>,
    /// The switch at each point of the grid, in row-major order.
    at: Vec<u32>,
}

impl SwitchGrid {
    fn new(on: &Topology) -> Result<Self, Refusal> {
        let help =
            "for grids: torus, mesh, ring, hypercube, hyperx, flattened_butterfly; try dfsssp";
        let row = match on.geometry() {
            NetworkGeometry { form: PlaneStructure::Grid(row), planes: 0 }
                if row != GridRowLinks::Other =>
            {
                row
            }
            _ => {
                let why = format!("'{}' has no dimensions to go by", on.recipe().family);
                return Err(Refusal::new("", why, help));
            }
        };
        let coordinates: Vec<Vec<u32>> =
            on.switches().iter().map(|s| s.coordinates.clone()).collect();
        let dimensions = coordinates.first().map_or(0, Vec::len);
        let size = |d: usize| coordinates.iter().filter_map(|c| c.get(d)).max().copied();
        let sizes: Vec<u32> =
            (0..dimensions).map(|d| size(d).map_or(1, |most| most.saturating_add(1))).collect();
        let places = sizes.iter().fold(1_u64, |n, &s| n.saturating_mul(u64::from(s)));
        let no_grid =
            || Refusal::new("", "the switches' coordinates are not those of a grid", help);
        if places != coordinates.len() as u64 || coordinates.iter().any(|c| c.len() != dimensions) {
            return Err(no_grid());
        }
        let wide = (0..dimensions).filter(|&d| sizes[d] > 1).collect();
        let mut grid = Self { row, sizes, wide, coordinates, at: vec![u32::MAX; places as usize] };
        for v in 0..grid.coordinates.len() {
            let place = grid.place(&grid.coordinates[v]);
            if std::mem::replace(&mut grid.at[place], v as u32) != u32::MAX {
                return Err(no_grid());
            }
        }
        Ok(grid)
    }

    fn place(&self, coordinates: &[u32]) -> usize {
        let digits = self.sizes.iter().zip(coordinates);
        digits.fold(0, |place, (&size, &x)| place * size as usize + x as usize)
    }

    /// The dimensions whose rows are rings long enough for a route of two hops.
    fn rings(&self) -> Vec<usize> {
        let long = |d: &usize| self.row == GridRowLinks::Ring && self.sizes[*d] > 3;
        self.wide.iter().copied().filter(long).collect()
    }

    /// Whether the route from `a` to `b` round a ring of `size` goes up the coordinates. It takes
    /// the shorter direction; if both are equally long, the parities of `a` and `turn` decide.
    fn goes_plus(a: u32, b: u32, size: u32, turn: usize) -> bool {
        let ahead = (u64::from(b) + u64::from(size) - u64::from(a)) % u64::from(size);
        match (2 * ahead).cmp(&u64::from(size)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => (a as usize + turn).is_multiple_of(2),
        }
    }

    /// The switch after `v` on the route to `to`, in the dimension order of `layer`.
    fn step(&self, v: usize, to: SwitchId, (layer, turn): (usize, usize)) -> usize {
        let (mut here, there) = (self.coordinates[v].clone(), &self.coordinates[to.ix()]);
        let order = (0..self.wide.len()).map(|i| self.wide[(i + layer) % self.wide.len()]);
        for d in order {
            let (a, b, size) = (here[d], there[d], self.sizes[d]);
            if a == b {
                continue;
            }
            here[d] = match self.row {
                GridRowLinks::Complete | GridRowLinks::Other => b,
                GridRowLinks::Line if a < b => a + 1,
                GridRowLinks::Line => a - 1,
                GridRowLinks::Ring if Self::goes_plus(a, b, size, turn) => (a + 1) % size,
                GridRowLinks::Ring => (a + size - 1) % size,
            };
            break;
        }
        self.at[self.place(&here)] as usize
    }

    /// Writes the port of every other working switch towards `to`. Among parallel links it takes
    /// the one over which the fewest addresses are routed so far.
    fn route(
        &self,
        on: &Topology,
        to: SwitchId,
        (layer, turn): (usize, usize),
        entries: &mut [u16],
        assigned: &mut [u32],
    ) -> Result<(), Refusal> {
        let graph = on.graph();
        for v in (0..entries.len()).filter(|&v| v != to.ix() && on.switches()[v].up) {
            let w = self.step(v, to, (layer, turn));
            let row = graph.neighbours(v).iter().zip(graph.channels(v));
            let there = row.filter(|(n, _)| **n as usize == w).map(|(_, c)| *c);
            let Some(channel) = there.min_by_key(|c: &ChannelId| assigned[c.0 as usize]) else {
                let (a, b) = (&on.switches()[v].name, &on.switches()[w].name);
                let why = format!("dimension order needs the cable from {a} to {b}, which is down");
                return Err(Refusal::new("", why, "repair it, or use dfsssp or up_down"));
            };
            assigned[channel.0 as usize] += 1;
            entries[v] = on.tail(channel).port;
        }
        Ok(())
    }

    /// Service levels and SL2VL tables for datelines. Bit i of a route's level says whether it
    /// crosses, in ring i, between the last switch and the first. The lane of a channel along ring
    /// i is bit i of the level.
    fn dateline(&self, on: &Topology, layers: u32, rings: &[usize]) -> LaneAssignment {
        let mut levels =
            Vec::with_capacity(layers as usize * on.terminals().len() * self.coordinates.len());
        for layer in 0..layers as usize {
            for (t, terminal) in on.terminals().iter().enumerate() {
                let there = &self.coordinates[terminal.plug.switch.ix()];
                let turn = turn(on, TerminalId::from(t)) + layer;
                levels.extend(self.coordinates.iter().map(|here| {
                    let crosses = |d: usize| {
                        let (a, b) = (here[d], there[d]);
                        a != b && (b < a) == Self::goes_plus(a, b, self.sizes[d], turn)
                    };
                    let bits = rings.iter().enumerate().map(|(i, &d)| u8::from(crosses(d)) << i);
                    bits.sum::<u8>()
                }));
            }
        }
        let mut tables = Sl2VlPortTables::new(on, [0; 16]);
        for (v, here) in self.coordinates.iter().enumerate() {
            let switch = SwitchId::from(v);
            let cabled = |port: &u16| on.peer(switch, *port) != PortPeer::Empty;
            let ports: Vec<u16> = (1..=on.switches()[v].ports).filter(cabled).collect();
            for &output in &ports {
                let Some((_, to)) = on.hop(switch, output) else { continue };
                let there = &self.coordinates[to.ix()];
                let Some(ring) = rings.iter().position(|&d| here[d] != there[d]) else { continue };
                let table = std::array::from_fn(|sl| (sl >> ring & 1) as u8);
                for &input in &ports {
                    tables.set(switch, input, output, table);
                }
            }
        }
        LaneAssignment::new(ServiceLevels::BySwitch(levels), Sl2VlMapping::PerPort(tables))
    }
}
