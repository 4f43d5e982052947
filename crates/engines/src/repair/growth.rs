//! Routes to one destination grown anew where no way out of what is cut off fits the lanes.
//!
//! Source: the growing of Domke, Hoefler, Matsuoka, "Routing on the dependency graph", HPDC 2016:
//! a hop is taken only where the dependencies that it brings close no cycle. Here whole paths are
//! asked for, so that it works with any service levels and SL2VL tables.

use super::{Beside, Mender, Plan, To};
use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A hop that may be taken: whether it changes an entry, hops to the destination, entries given to
/// its channel so far, switch, port.
type Hop = (bool, u32, u32, SwitchId, u16);

impl Mender<'_> {
    /// Takes the turns of a spanning tree on every lane, before all others.
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
                    assert!(taken, "paths in a tree close no circle");
                }
            }
        }
        order.settle();
        self.tree = Some(tree);
    }

    /// Grows the routes of the switches cut off, then of those around, too, up to the whole tree.
    pub(super) fn by_growth(&mut self, to: To, home: SwitchId) -> Option<Plan> {
        let old = self.row(to);
        // the ways out that were tried have marked parts as whole
        self.cut_off.trace(old, home);
        let tree = self.tree.clone();
        let around = [Some(0), Some(1), Some(2), None].map(|radius| (radius, None));
        let ways = around.into_iter().chain(tree.as_deref().map(|tree| (None, Some(tree))));
        for (radius, tree) in ways {
            let in_plane = |s: SwitchId| {
                let (own, last) = (&self.on.switches()[s.ix()], &self.on.switches()[home.ix()]);
                own.up && own.plane == last.plane && s != home
            };
            let torn = match tree {
                Some(_) => (0..old.len()).map(SwitchId::from).map(in_plane).collect(),
                None => self.cut_off.around(old, radius),
            };
            let known = self.mark();
            if let Some(plan) = self.grow(to, home, torn, tree) {
                self.cut_off.count(&plan.entries);
                return Some(plan);
            }
            self.undo_to(known);
        }
        None
    }

    /// Routes for the switches that are `torn`: each is joined to one that has its route by the
    /// first hop that fits, hops that the table has already first, then short ways; over the links
    /// of `tree` alone where there is one.
    fn grow(
        &mut self,
        to: To,
        home: SwitchId,
        mut torn: Vec<bool>,
        tree: Option<&[bool]>,
    ) -> Option<Plan> {
        let old = self.row(to);
        let mut entries = old.to_vec();
        let mut plan = Plan::default();
        let switches = (0..old.len()).map(SwitchId::from);
        if self.beside == Beside::Others {
            let stays = |s: &SwitchId| self.on.switches()[s.ix()].up && !torn[s.ix()] && *s != home;
            for s in switches.clone().filter(stays) {
                if !self.takes(to, s, true, old, &mut plan.levels) {
                    return None;
                }
            }
        }
        self.behind.resolve(self.old.topology(), old);
        let mut left = torn.iter().filter(|t| **t).count();
        let mut hops = BinaryHeap::new();
        for s in switches.filter(|s| !torn[s.ix()]) {
            if let Some(far) = self.cut_off.hops_from(s, old) {
                self.hops_to(s, far, (old, &torn, tree), &mut hops);
            }
        }
        while left > 0 {
            let Reverse((changes, far, _, s, port)): Reverse<Hop> = hops.pop()?;
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
                if self.beside == Beside::Whole && goes_on {
                    plan.stops.push(s);
                }
            }
            torn[s.ix()] = false;
            left -= 1;
            self.hops_to(s, far, (old, &torn, tree), &mut hops);
        }
        Some(plan)
    }

    /// Whether the paths over the new entry of `s` fit. Where packets to `s` were drained or
    /// stopped, those from `s` alone. Else those of all that come to it by the old entries; where
    /// the entry stays they were asked for with the hop that it leads to.
    fn fits(
        &mut self,
        to: To,
        s: SwitchId,
        (old, new): (&[u16], &[u16]),
        levels: &mut Vec<(SwitchId, u8)>,
    ) -> bool {
        let alone = match self.beside {
            Beside::All => false,
            Beside::Whole => self.cut_off.has(s),
            Beside::Others => true,
        };
        if alone {
            return self.takes(to, s, true, new, levels);
        }
        old[s.ix()] == new[s.ix()] || self.takes_meeting(to, s, new)
    }

    /// Adds the hops from torn switches to `s`, which has its route of `far` hops, over the links
    /// of `tree` where there is one.
    fn hops_to(
        &self,
        s: SwitchId,
        far: u32,
        (old, torn, tree): (&[u16], &[bool], Option<&[bool]>),
        hops: &mut BinaryHeap<Reverse<Hop>>,
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

/// A spanning tree of every connected part, breadth-first from its first switch: the channels that
/// leave each switch. O(arcs).
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
