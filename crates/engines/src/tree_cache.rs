//! A cache of next-hop trees, which keeps the switches with several next hops apart from the
//! others. Engines use a tree again and again while they choose routes.

use super::trees::NextHopTree;
use base::{ChannelId, SwitchId};
use fabric::network::Topology;

/// A switch with a single next hop towards a destination, which no choice elsewhere affects.
pub(super) struct SingleNextHopSwitch {
    /// The switch.
    pub(super) switch: u32,
    /// The switch's only next hop.
    pub(super) channel: ChannelId,
    /// The port of that channel.
    pub(super) port: u16,
    /// The number of endpoints whose routes it forwards: its own and those of settled switches
    /// behind it.
    pub(super) carried: u32,
}

/// The next hops towards one destination switch, with the switches that have no choice apart.
#[derive(Default)]
pub(super) struct NextHopChoices {
    /// The switches with one next hop to which no switch with several next hops can forward. So no
    /// choice affects the routes that they forward.
    pub(super) settled: Vec<SingleNextHopSwitch>,
    /// The tree of all other switches.
    pub(super) open: NextHopTree,
    /// For each switch in the order of `open`: its endpoints and those of the settled switches
    /// behind it.
    pub(super) carried: Vec<u32>,
}

impl NextHopChoices {
    /// Splits a tree into settled and open switches. O(hops of the tree).
    fn of(on: &Topology, tree: &NextHopTree, endpoints: &[u32]) -> Self {
        let mut behind = endpoints.to_vec();
        let mut open = vec![false; endpoints.len()];
        let mut settled = Vec::new();
        for (i, &v) in tree.order.iter().enumerate().rev() {
            let (hops, carried) = (tree.hops(i), behind[v as usize]);
            if let [(channel, to)] = *hops
                && !open[v as usize]
            {
                let port = on.tail(channel).port;
                settled.push(SingleNextHopSwitch { switch: v, channel, port, carried });
                behind[to as usize] += carried;
            } else {
                open[v as usize] = true;
                for (_, to) in hops {
                    open[*to as usize] = true;
                }
            }
        }
        let open = tree.part(|v| open[v as usize]);
        let carried = open.order.iter().map(|&v| behind[v as usize]).collect();
        Self { settled, open, carried }
    }

    /// Writes the ports of the settled switches.
    pub(super) fn write_settled(&self, entries: &mut [u16]) {
        for settled in &self.settled {
            entries[settled.switch as usize] = settled.port;
        }
    }

    /// Writes the ports of the switches of `open`, in their order.
    pub(super) fn write_open(&self, ports: &[u16], entries: &mut [u16]) {
        for (&v, &port) in self.open.order.iter().zip(ports) {
            entries[v as usize] = port;
        }
    }

    fn bytes(&self) -> usize {
        let hops: usize = (0..self.open.order.len()).map(|i| self.open.hops(i).len()).sum();
        self.settled.len() * size_of::<SingleNextHopSwitch>()
            + (self.carried.len() * 3 + hops * 2) * 4
    }
}

/// The largest share of switches that have several next hops towards one destination, over a sample
/// of destinations and with all shortest paths allowed. O(arcs).
pub(crate) fn open_share(on: &Topology) -> f64 {
    let edge = on.edge_switches();
    let endpoints = vec![0; on.switches().len()];
    let mut tree = NextHopTree::default();
    let some = edge.iter().step_by(edge.len().div_ceil(4).max(1));
    let open = some.map(|&home| {
        tree.rebuild(on, SwitchId(home), None);
        NextHopChoices::of(on, &tree, &endpoints).open.order.len()
    });
    open.max().unwrap_or(0) as f64 / endpoints.len().max(1) as f64
}

/// The memory for cached trees, in bytes. Trees beyond it are built again whenever they are needed.
pub(crate) const MOST_BYTES: usize = 256 << 20;

/// The next-hop trees that `build` makes, one per destination switch, each built when it is first
/// needed.
pub(super) struct NextHopTreeCache<'a, W> {
    on: &'a Topology,
    build: W,
    endpoints: Vec<u32>,
    kept: Vec<Option<NextHopChoices>>,
    bytes_left: usize,
    /// Scratch, and the last tree that did not fit into the cache.
    tree: NextHopTree,
    last: NextHopChoices,
}

impl<'a, W: Fn(&mut NextHopTree, SwitchId)> NextHopTreeCache<'a, W> {
    /// An empty cache of trees that `build` makes; `endpoints` has the working endpoints per
    /// switch.
    pub(super) fn new(on: &'a Topology, endpoints: Vec<u32>, build: W) -> Self {
        let kept = endpoints.iter().map(|_| None).collect();
        let (tree, last) = Default::default();
        Self { on, build, endpoints, kept, bytes_left: MOST_BYTES, tree, last }
    }

    /// The next hops to choose from towards switch `to`.
    pub(super) fn towards(&mut self, to: SwitchId) -> &NextHopChoices {
        let slot = &mut self.kept[to.ix()];
        if slot.is_none() {
            (self.build)(&mut self.tree, to);
            let choices = NextHopChoices::of(self.on, &self.tree, &self.endpoints);
            let Some(left) = self.bytes_left.checked_sub(choices.bytes()) else {
                self.last = choices;
                return &self.last;
            };
            self.bytes_left = left;
            *slot = Some(choices);
        }
        slot.as_ref().unwrap_or(&self.last)
    }
}

/// The working terminals, grouped into runs of consecutive terminals on the same switch.
pub(super) fn runs(on: &Topology) -> Vec<(SwitchId, Vec<usize>)> {
    let mut all: Vec<(SwitchId, Vec<usize>)> = Vec::new();
    for (t, terminal) in on.terminals().iter().enumerate() {
        if !on.terminal_is_up(base::TerminalId::from(t)) {
            continue;
        }
        match all.last_mut() {
            Some((home, run)) if *home == terminal.plug.switch => run.push(t),
            _ => all.push((terminal.plug.switch, vec![t])),
        }
    }
    all
}
