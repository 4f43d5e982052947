//! Grows new routes to one destination where no exit path of a cut-off part fits the lanes.
//!
//! Source: Domke, Hoefler, Matsuoka, "Routing on the dependency graph", HPDC 2016: routes grow hop
//! by hop, and a hop is taken only where its dependencies close no cycle. Here whole paths are
//! tested, so that it works with any service levels and SL2VL tables.

use super::{Destination, DestinationTableChanges, OldRoutesSharingLanes, RepairState};
use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hop that a switch may take: whether it changes an entry, the hops to the destination, the
/// entries that the repair has pointed to its channel, switch, port. Smaller tuples are tried
/// first.
type HopOffer = (bool, u32, u32, SwitchId, u16);

impl RepairState<'_> {
    /// Reserves the turns of a spanning tree on every lane, before any other turns.
    pub(super) fn reserve_tree(&mut self) {
        let Some(order) = &mut self.order else { return };
        let mut tree = vec![false; self.on.links().len()];
        for leaving in spanning_tree(self.on) {
            for c in &leaving {
                tree[c.link().ix()] = true;
            }
            let pairs = leaving.iter().flat_map(|a| leaving.iter().map(move |b| (*a, *b)));
            for (a, b) in pairs.filter(|(a, b)| a != b) {
                for lane in 0..self.old.lanes().count() {
                    let taken = order.take_turn((a.reverse(), lane), (b, lane));
                    assert!(taken, "paths in a tree close no cycle");
                }
            }
        }
        order.settle();
        self.tree = Some(tree);
    }

    /// Grows routes for the switches that are cut off; if that fails, also for those around them,
    /// in steps up to the whole tree of the destination.
    pub(super) fn by_growth(
        &mut self,
        to: Destination,
        home: SwitchId,
    ) -> Option<DestinationTableChanges> {
        let old = self.row(to);
        // traced again, because the search for exit paths has marked some parts as connected
        self.cut_off.trace(old, home);
        let tree = self.tree.clone();
        let around = [Some(0), Some(1), Some(2), None].map(|radius| (radius, None));
        let attempts = around.into_iter().chain(tree.as_deref().map(|tree| (None, Some(tree))));
        for (radius, tree) in attempts {
            let in_plane = |s: SwitchId| {
                let (own, last) = (&self.on.switches()[s.ix()], &self.on.switches()[home.ix()]);
                own.up && own.plane == last.plane && s != home
            };
            let torn = match tree {
                Some(_) => (0..old.len()).map(SwitchId::from).map(in_plane).collect(),
                None => self.cut_off.around(old, radius),
            };
            let known = self.checkpoint();
            if let Some(plan) = self.grow(to, home, torn, tree) {
                self.cut_off.count(&plan.entries);
                return Some(plan);
            }
            self.undo_to(known);
        }
        None
    }

    /// Grows routes for the switches marked in `torn`. Each is joined to a switch that has a route,
    /// by the first hop that fits: hops of the old table first, then short ones. If `tree` is
    /// given, only its links are used.
    fn grow(
        &mut self,
        to: Destination,
        home: SwitchId,
        mut torn: Vec<bool>,
        tree: Option<&[bool]>,
    ) -> Option<DestinationTableChanges> {
        let old = self.row(to);
        let mut entries = old.to_vec();
        let mut plan = DestinationTableChanges::default();
        let switches = (0..old.len()).map(SwitchId::from);
        if self.live == OldRoutesSharingLanes::OtherDestinations {
            let stays = |s: &SwitchId| self.on.switches()[s.ix()].up && !torn[s.ix()] && *s != home;
            for s in switches.clone().filter(stays) {
                if !self.takes(to, s, true, old, &mut plan.levels) {
                    return None;
                }
            }
        }
        self.predecessors.resolve(self.old.topology(), old);
        let mut left = torn.iter().filter(|t| **t).count();
        let mut hops = BinaryHeap::new();
        for s in switches.filter(|s| !torn[s.ix()]) {
            if let Some(far) = self.cut_off.hops_from(s, old) {
                self.hops_to(s, far, (old, &torn, tree), &mut hops);
            }
        }
        while left > 0 {
            let Reverse((changes, far, _, s, port)): Reverse<HopOffer> = hops.pop()?;
            if !torn[s.ix()] {
                continue;
            }
            entries[s.ix()] = port;
            if !self.fits(to, s, (old, &entries), &mut plan.levels) {
                entries[s.ix()] = old[s.ix()];
                continue;
            }
            if changes {
                plan.entries.push((s, port));
                let goes_on = self.cut_off.has(s) && self.cut_off.leads_on(s, old[s.ix()]);
                if self.live == OldRoutesSharingLanes::Arriving && goes_on {
                    plan.stops.push(s);
                }
            }
            torn[s.ix()] = false;
            left -= 1;
            self.hops_to(s, far, (old, &torn, tree), &mut hops);
        }
        Some(plan)
    }

    /// Whether the paths over the new entry of `s` fit the lanes. Where packets to `s` were drained
    /// or stopped, only the paths from `s` count. Otherwise the paths of all switches that reach
    /// `s` by old entries count too. Where the entry of `s` does not change, these were tested when
    /// the switch that it leads to got its entry.
    fn fits(
        &mut self,
        to: Destination,
        s: SwitchId,
        (old, new): (&[u16], &[u16]),
        levels: &mut Vec<(SwitchId, u8)>,
    ) -> bool {
        let alone = match self.live {
            OldRoutesSharingLanes::All => false,
            OldRoutesSharingLanes::Arriving => self.cut_off.has(s),
            OldRoutesSharingLanes::OtherDestinations => true,
        };
        if alone {
            return self.takes(to, s, true, new, levels);
        }
        old[s.ix()] == new[s.ix()] || self.takes_meeting(to, s, new)
    }

    /// Adds the hops from torn switches to `s`, whose route has `far` hops. If `tree` is given,
    /// only its links are used.
    fn hops_to(
        &self,
        s: SwitchId,
        far: u32,
        (old, torn, tree): (&[u16], &[bool], Option<&[bool]>),
        hops: &mut BinaryHeap<Reverse<HopOffer>>,
    ) {
        let graph = self.on.graph();
        for (&v, &c) in graph.neighbours(s.ix()).iter().zip(graph.channels(s.ix())) {
            if torn[v as usize] && tree.is_none_or(|tree| tree[c.link().ix()]) {
                let port = self.on.tail(c.reverse()).port;
                let given = self.cut_off.given(c.reverse());
                let changes = old[v as usize] != port;
                hops.push(Reverse((changes, far + 1, given, SwitchId(v), port)));
            }
        }
    }
}

/// A breadth-first spanning tree of every connected part, from its first switch: for each switch
/// the channels of the tree that leave it. O(arcs).
fn spanning_tree(on: &Topology) -> Vec<Vec<ChannelId>> {
    let graph = on.graph();
    let mut leaving = vec![Vec::new(); graph.switches()];
    let mut seen = vec![false; graph.switches()];
    for root in 0..graph.switches() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let (mut found, mut head) = (vec![root], 0);
        while let Some(&v) = found.get(head) {
            head += 1;
            for (&w, &c) in graph.neighbours(v).iter().zip(graph.channels(v)) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    leaving[v].push(c);
                    leaving[w as usize].push(c.reverse());
                    found.push(w as usize);
                }
            }
        }
    }
    leaving
}
