//! The lengths of routes before a repair and after it.

use base::{Interrupted, ProgressWatch, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{Routing, TerminalNextHops};
use std::collections::BTreeMap;

/// Route lengths in hops between switches, before and after a repair.
///
/// A route leads from a switch with working endpoints to a working terminal on another switch, in
/// one layer. A route is counted if both ends work after the failures and it arrives in both
/// tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairRouteLengths {
    /// The number of routes for each pair of hop counts before and after.
    pub routes: BTreeMap<(u32, u32), u64>,
}

impl RepairRouteLengths {
    /// Compares the routes of `old` with those of `new`. O(layers * terminals * switches).
    pub(super) fn of(
        old: &Routing,
        new: &Routing,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, Interrupted> {
        let on = new.topology();
        let (sources, total) =
            (new.sources(), u64::from(new.layers()) * on.terminals().len() as u64);
        let (mut before, mut after) = (TerminalHopCounts::default(), TerminalHopCounts::default());
        let mut routes = BTreeMap::new();
        for (done, to) in new.destinations().enumerate() {
            if done % 256 == 0 {
                watch.tick("measuring routes", done as u64, total)?;
            }
            before.measure(old, to);
            after.measure(new, to);
            let home = on.terminals()[to.1.ix()].plug.switch;
            for &(s, _) in sources.of_plane(on.plane_of(to.1)).iter().filter(|(s, _)| *s != home) {
                if let (Some(was), Some(is)) = (before.hops(s), after.hops(s)) {
                    *routes.entry((was, is)).or_insert(0) += 1;
                }
            }
        }
        Ok(Self { routes })
    }

    /// The number of routes.
    pub fn count(&self) -> u64 {
        self.routes.values().sum()
    }

    /// The mean hops before and after; `None` where there are no routes.
    pub fn mean(&self) -> Option<(f64, f64)> {
        let all = self.count() as f64;
        let sum = |of: fn(&(u32, u32)) -> u32| {
            self.routes.iter().map(|(hops, n)| u64::from(of(hops)) * n).sum::<u64>() as f64
        };
        (all > 0.0).then(|| (sum(|h| h.0) / all, sum(|h| h.1) / all))
    }

    /// The most hops before and after; `None` where there are no routes.
    pub fn max(&self) -> Option<(u32, u32)> {
        let most = |of: fn(&(u32, u32)) -> u32| self.routes.keys().map(of).max();
        most(|h| h.0).zip(most(|h| h.1))
    }

    /// The number of routes that became longer, and of those that became shorter.
    pub fn changed(&self) -> (u64, u64) {
        let where_ = |is: fn(&(u32, u32)) -> bool| {
            self.routes.iter().filter(|(hops, _)| is(hops)).map(|(_, n)| *n).sum()
        };
        (where_(|h| h.1 > h.0), where_(|h| h.1 < h.0))
    }
}

/// The hops from every switch to one terminal.
#[derive(Default)]
struct TerminalHopCounts {
    hops: TerminalNextHops,
    depth: Vec<u32>,
    trail: Vec<usize>,
}

/// The mark of a switch whose route never arrives.
const NEVER: u32 = u32::MAX;
/// The mark of a switch whose route is not measured yet.
const OPEN: u32 = u32::MAX - 1;

impl TerminalHopCounts {
    /// Measures the routes to a terminal. O(switches).
    fn measure(&mut self, routing: &Routing, (layer, terminal): (u32, TerminalId)) {
        let on: &Topology = routing.topology();
        let tree = routing.tree(layer, terminal);
        self.hops.resolve(on, tree);
        let plug = on.terminals()[terminal.ix()].plug;
        self.depth.clear();
        self.depth.resize(on.switches().len(), OPEN);
        self.depth[plug.switch.ix()] =
            if tree.port(plug.switch.ix()) == plug.port { 0 } else { NEVER };
        for s in 0..self.depth.len() {
            let mut at = s;
            self.trail.clear();
            while self.depth[at] == OPEN {
                self.depth[at] = NEVER; // a route that returns to this switch never arrives
                self.trail.push(at);
                if self.hops.channel[at] == TerminalNextHops::NONE {
                    break;
                }
                at = self.hops.next[at] as usize;
            }
            let mut depth = self.depth[at];
            for &at in self.trail.iter().rev() {
                depth = if depth == NEVER { NEVER } else { depth + 1 };
                self.depth[at] = depth;
            }
        }
    }

    fn hops(&self, from: SwitchId) -> Option<u32> {
        Some(self.depth[from.ix()]).filter(|hops| *hops != NEVER)
    }
}
