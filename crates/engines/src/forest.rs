//! What the trees of next hops leave to be chosen, kept while routes are chosen again and again.

use super::trees::MinimalTree;
use base::{ChannelId, SwitchId};
use fabric::network::Topology;

/// A switch whose next hop towards a destination no choice changes.
pub(super) struct Settled {
    /// The switch.
    pub(super) switch: u32,
    /// Its only next hop.
    pub(super) channel: ChannelId,
    /// The port of that.
    pub(super) port: u16,
    /// Endpoints whose routes it forwards: its own and those of settled switches behind it.
    pub(super) carried: u32,
}

/// The next hops towards one switch, those without alternative apart.
#[derive(Default)]
pub(super) struct Choices {
    /// Switches with one next hop to which none with several leads: what is chosen anywhere
    /// changes neither their hop nor what they forward.
    pub(super) settled: Vec<Settled>,
    /// All others.
    pub(super) open: MinimalTree,
    /// By place in the order of `open`: endpoints of the switch and of the settled ones behind it.
    pub(super) carried: Vec<u32>,
}

impl Choices {
    /// Those of a tree. O(hops of the tree).
    fn of(on: &Topology, tree: &MinimalTree, endpoints: &[u32]) -> Self {
        let mut behind = endpoints.to_vec();
        let mut open = vec![false; endpoints.len()];
        let mut settled = Vec::new();
        for (i, &v) in tree.order.iter().enumerate().rev() {
            let (hops, carried) = (tree.hops(i), behind[v as usize]);
            if let [(channel, to)] = *hops
                && !open[v as usize]
            {
                let port = on.tail(channel).port;
                settled.push(Settled { switch: v, channel, port, carried });
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

    /// Writes a port of each switch with a choice, in their order.
    pub(super) fn write_open(&self, ports: &[u16], entries: &mut [u16]) {
        for (&v, &port) in self.open.order.iter().zip(ports) {
            entries[v as usize] = port;
        }
    }

    fn bytes(&self) -> usize {
        let hops: usize = (0..self.open.order.len()).map(|i| self.open.hops(i).len()).sum();
        self.settled.len() * size_of::<Settled>() + (self.carried.len() * 3 + hops * 2) * 4
    }
}

/// The part of the switches whose hop towards a switch can differ between its terminals where all
/// shortest ways may be taken: the most of some destinations. O(arcs).
pub(crate) fn open_share(on: &Topology) -> f64 {
    let edge = on.edge_switches();
    let endpoints = vec![0; on.switches().len()];
    let mut tree = MinimalTree::default();
    let some = edge.iter().step_by(edge.len().div_ceil(4).max(1));
    let open = some.map(|&home| {
        tree.rebuild(on, SwitchId(home), None);
        Choices::of(on, &tree, &endpoints).open.order.len()
    });
    open.max().unwrap_or(0) as f64 / endpoints.len().max(1) as f64
}

/// The most memory that trees are kept in; further ones are built whenever they are needed.
pub(crate) const MOST_BYTES: usize = 256 << 20;

/// The trees that `ways` makes, one a destination switch, each built when it is first needed.
pub(super) struct Forest<'a, W> {
    on: &'a Topology,
    ways: W,
    endpoints: Vec<u32>,
    kept: Vec<Option<Choices>>,
    bytes_left: usize,
    /// Scratch, and the last one for which there was no room.
    tree: MinimalTree,
    last: Choices,
}

impl<'a, W: Fn(&mut MinimalTree, SwitchId)> Forest<'a, W> {
    /// A forest of trees that `ways` builds, with `endpoints` by switch.
    pub(super) fn new(on: &'a Topology, endpoints: Vec<u32>, ways: W) -> Self {
        let kept = endpoints.iter().map(|_| None).collect();
        let (tree, last) = Default::default();
        Self { on, ways, endpoints, kept, bytes_left: MOST_BYTES, tree, last }
    }

    /// What is to be chosen towards switch `to`.
    pub(super) fn towards(&mut self, to: SwitchId) -> &Choices {
        let slot = &mut self.kept[to.ix()];
        if slot.is_none() {
            (self.ways)(&mut self.tree, to);
            let made = Choices::of(self.on, &self.tree, &self.endpoints);
            let Some(left) = self.bytes_left.checked_sub(made.bytes()) else {
                self.last = made;
                return &self.last;
            };
            self.bytes_left = left;
            *slot = Some(made);
        }
        slot.as_ref().unwrap_or(&self.last)
    }
}

/// The working terminals, in runs of those that follow one another on one switch.
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
