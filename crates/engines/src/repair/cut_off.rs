//! Finds the parts of a destination's tree that failures cut off, and the paths out of them.

use base::{ChannelId, SwitchId};
use fabric::network::Topology;
use fabric::tables::{ForwardingTree, RouteWalk};
use std::collections::VecDeque;

/// A part of a destination's tree that a dead entry cuts off: all switches whose route passes
/// through the switch with that entry.
#[derive(Debug, Clone)]
pub(super) struct CutOffTreePart {
    /// The switch whose entry is dead.
    pub(super) root: SwitchId,
    /// All switches whose routes pass through the root, the root first.
    pub(super) members: Vec<SwitchId>,
    /// The least number of entries that must change so that the routes leave the part.
    pub(super) least: u32,
    number: u32,
}

/// A path out of a cut-off part: the hops from its root on, the last of which leaves the part.
#[derive(Debug, Clone)]
pub(super) struct CutOffExitPath {
    hops: Vec<(SwitchId, u16)>,
}

impl CutOffExitPath {
    /// Writes the entries of the path, last hop first. Returns those that changed, in that order,
    /// with their old ports.
    pub(super) fn apply(&self, entries: &mut [u16]) -> Vec<(SwitchId, u16)> {
        let mut was = Vec::new();
        for &(s, port) in self.hops.iter().rev() {
            if entries[s.ix()] != port {
                was.push((s, entries[s.ix()]));
                entries[s.ix()] = port;
            }
        }
        was
    }
}

/// Exit paths, each with the number of entries that it changes.
type ExitPaths = Vec<(u32, CutOffExitPath)>;

/// The largest number of exit paths of a part that are compared.
const MOST_EXITS: usize = 1024;

/// The mark of a switch that is not cut off.
const CONNECTED: u32 = 0;
/// Marks of switches that were not traced yet, and of switches without a route.
const UNKNOWN: u32 = u32::MAX;
const ASTRAY: u32 = u32::MAX - 1;

/// Finds the cut-off parts of one destination after the other.
pub(super) struct CutOffFinder<'a> {
    on: &'a Topology,
    lost: Vec<(SwitchId, Vec<u16>)>,
    /// The number of the part of every switch, for the current destination.
    part: Vec<u32>,
    home: SwitchId,
    /// The number of entries that this repair has pointed to each channel.
    given: Vec<u32>,
}

impl<'a> CutOffFinder<'a> {
    pub(super) fn new(on: &'a Topology, lost: &[(SwitchId, Vec<u16>)]) -> Self {
        Self {
            on,
            lost: lost.to_vec(),
            part: Vec::new(),
            home: SwitchId(0),
            given: vec![0; on.links().len() * 2],
        }
    }

    /// The switches other than `home` whose entry is a port that they have lost.
    pub(super) fn roots(
        lost: &[(SwitchId, Vec<u16>)],
        entries: &[u16],
        home: SwitchId,
    ) -> impl Iterator<Item = SwitchId> {
        let dead = move |(s, ports): &&(SwitchId, Vec<u16>)| {
            *s != home && ports.contains(&entries[s.ix()])
        };
        lost.iter().filter(dead).map(|(s, _)| *s)
    }

    /// The parts that are cut off from `home`. O(failed ports) when there are none, otherwise
    /// O(switches) and the arcs of the parts.
    pub(super) fn parts(&mut self, entries: &[u16], home: SwitchId) -> Vec<CutOffTreePart> {
        let is_broken = Self::roots(&self.lost, entries, home).next().is_some();
        if is_broken { self.trace(entries, home) } else { Vec::new() }
    }

    /// As [`Self::parts`], but it always prepares [`Self::around`], also when there are no parts.
    pub(super) fn trace(&mut self, entries: &[u16], home: SwitchId) -> Vec<CutOffTreePart> {
        let roots: Vec<SwitchId> = Self::roots(&self.lost, entries, home).collect();
        self.home = home;
        self.part.clear();
        self.part.resize(entries.len(), UNKNOWN);
        self.part[home.ix()] = CONNECTED;
        let mut parts: Vec<CutOffTreePart> = (1..)
            .zip(roots)
            .map(|(number, root)| CutOffTreePart { root, members: vec![root], least: 0, number })
            .collect();
        for part in &parts {
            self.part[part.root.ix()] = part.number;
        }
        let mut trail = Vec::new();
        for s in (0..entries.len()).filter(|&s| self.on.switches()[s].up) {
            let mut walk = self.walk(SwitchId::from(s), entries);
            while self.part[walk.at().ix()] == UNKNOWN {
                trail.push(walk.at().ix());
                self.part[walk.at().ix()] = ASTRAY;
                if walk.next().is_none() {
                    break;
                }
            }
            let own = self.part[walk.at().ix()];
            for v in trail.drain(..) {
                self.part[v] = own;
                if own != CONNECTED && own != ASTRAY {
                    parts[own as usize - 1].members.push(SwitchId::from(v));
                }
            }
        }
        for part in &mut parts {
            let out = |p: u32| p != part.number && p != ASTRAY;
            part.least = self.exits_of(part, entries, out).first().map_or(0, |o| o.0);
        }
        parts
    }

    /// The next part that has an exit path to connected switches: the one with the fewest changes.
    /// Its exit paths are sorted by changes, then hops, then the entries that the repair has
    /// pointed to their channel.
    pub(super) fn next(
        &self,
        parts: &mut Vec<CutOffTreePart>,
        entries: &[u16],
    ) -> Option<(CutOffTreePart, Vec<CutOffExitPath>)> {
        let exits = |part: &CutOffTreePart| self.exits_of(part, entries, |p| p == CONNECTED);
        let mut best: Option<(u32, usize, ExitPaths)> = None;
        for (i, part) in parts.iter().enumerate() {
            let found = exits(part);
            let Some(&(least, _)) = found.first() else { continue };
            if best.as_ref().is_none_or(|(known, _, _)| least < *known) {
                best = Some((least, i, found));
            }
        }
        let (_, i, found) = best?;
        Some((parts.remove(i), found.into_iter().map(|(_, exit)| exit).collect()))
    }

    /// Marks the switches of a part as connected, once it has an exit path.
    pub(super) fn attach(&mut self, part: &CutOffTreePart) {
        for s in &part.members {
            self.part[s.ix()] = CONNECTED;
        }
    }

    /// Whether a switch is cut off from the destination that was traced last.
    pub(super) fn has(&self, s: SwitchId) -> bool {
        self.part[s.ix()] != CONNECTED && self.part[s.ix()] < ASTRAY
    }

    /// Whether a port has a working cable to another switch.
    pub(super) fn leads_on(&self, s: SwitchId, port: u16) -> bool {
        self.on.hop(s, port).is_some_and(|(channel, _)| self.works(channel))
    }

    /// Counts the changed entries at their new channels.
    pub(super) fn count(&mut self, changed: &[(SwitchId, u16)]) {
        for &(s, port) in changed {
            if let Some((channel, _)) = self.on.hop(s, port) {
                self.given[channel.0 as usize] += 1;
            }
        }
    }

    /// The number of entries that this repair has pointed to a channel.
    pub(super) fn given(&self, channel: ChannelId) -> u32 {
        self.given[channel.0 as usize]
    }

    /// For the destination that was traced last: the switches at most `radius` hops from one that
    /// is cut off, and all switches whose routes pass through them. Without `radius`, all switches
    /// with routes. O(switches * hops).
    pub(super) fn around(&self, entries: &[u16], radius: Option<usize>) -> Vec<bool> {
        let graph = self.on.graph();
        let all = 0..entries.len();
        let has_route = |s: usize| s != self.home.ix() && self.part[s] < ASTRAY;
        let Some(radius) = radius else { return all.map(has_route).collect() };
        let cut_off = |s: usize| has_route(s) && self.part[s] != CONNECTED;
        let mut torn: Vec<bool> = all.clone().map(cut_off).collect();
        for _ in 0..radius {
            let near = |s: usize| graph.neighbours(s).iter().any(|&w| torn[w as usize]);
            torn = all.clone().map(|s| has_route(s) && (torn[s] || near(s))).collect();
        }
        let over = |s: usize| {
            let mut walk = self.walk(SwitchId::from(s), entries);
            while walk.at() != self.home && !torn[walk.at().ix()] && walk.next().is_some() {}
            torn[walk.at().ix()]
        };
        all.map(|s| has_route(s) && over(s)).collect()
    }

    /// Paths from the root of a part to switches that `out` accepts, with the number of entries
    /// that each changes. A hop that the table already has changes nothing, so this is a
    /// shortest-path search with costs 0 and 1.
    fn exits_of(
        &self,
        part: &CutOffTreePart,
        entries: &[u16],
        out: impl Fn(u32) -> bool,
    ) -> ExitPaths {
        let graph = self.on.graph();
        let mut cost = vec![u32::MAX; entries.len()];
        let mut done = vec![false; entries.len()];
        let mut before: Vec<Option<(SwitchId, u16)>> = vec![None; entries.len()];
        let mut queue = VecDeque::from([part.root]);
        cost[part.root.ix()] = 0;
        let mut found: Vec<(u32, u32, u32, SwitchId, u16)> = Vec::new();
        while let Some(v) = queue.pop_front() {
            if std::mem::replace(&mut done[v.ix()], true) {
                continue;
            }
            for (&w, &c) in graph.neighbours(v.ix()).iter().zip(graph.channels(v.ix())) {
                let port = self.on.tail(c).port;
                let own = self.part[w as usize];
                if out(own) {
                    let far = self.hops_from(SwitchId(w), entries).unwrap_or(u32::MAX);
                    let load = self.given[c.0 as usize];
                    found.push((cost[v.ix()] + 1, far, load, v, port));
                } else if own == part.number {
                    let step = u32::from(entries[v.ix()] != port);
                    if cost[v.ix()] + step < cost[w as usize] {
                        cost[w as usize] = cost[v.ix()] + step;
                        before[w as usize] = Some((v, port));
                        if step == 0 {
                            queue.push_front(SwitchId(w));
                        } else {
                            queue.push_back(SwitchId(w));
                        }
                    }
                }
            }
            if found.len() >= MOST_EXITS {
                break;
            }
        }
        found.sort_unstable();
        let path = |(cost, _, _, v, port): (u32, u32, u32, SwitchId, u16)| {
            let mut hops = vec![(v, port)];
            let mut at = v;
            while let Some((earlier, port)) = before[at.ix()] {
                hops.push((earlier, port));
                at = earlier;
            }
            hops.reverse();
            (cost, CutOffExitPath { hops })
        };
        found.into_iter().map(path).collect()
    }

    /// The number of hops from a switch to the destination; `None` where it is cut off.
    pub(super) fn hops_from(&self, from: SwitchId, entries: &[u16]) -> Option<u32> {
        let (mut walk, mut hops) = (self.walk(from, entries), 0);
        while walk.at() != self.home && hops <= entries.len() as u32 {
            walk.next().filter(|hop| self.works(hop.channel))?;
            hops += 1;
        }
        (walk.at() == self.home).then_some(hops)
    }

    fn walk<'w>(&self, from: SwitchId, entries: &'w [u16]) -> RouteWalk<'w, ForwardingTree<'w>>
    where
        'a: 'w,
    {
        RouteWalk::new(self.on, ForwardingTree::plain(entries), from)
    }

    fn works(&self, channel: ChannelId) -> bool {
        self.on.link_is_up(channel.link())
    }
}
