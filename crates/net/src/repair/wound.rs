//! The parts of a destination's tree that failures cut off, and the ways out of them.

use crate::network::Topology;
use base::{ChannelId, SwitchId};
use std::collections::VecDeque;

/// What routes over a switch whose entry is dead.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// The switch whose entry is dead.
    pub(super) root: SwitchId,
    /// All switches whose routes go over it, itself first.
    pub(super) members: Vec<SwitchId>,
    /// The least number of entries to change so that they leave the part.
    pub(super) least: u32,
    number: u32,
}

/// A way out of a part: the channels from its root on, the last of which leaves it.
#[derive(Debug, Clone)]
pub(super) struct Outlet {
    hops: Vec<(SwitchId, u16)>,
}

impl Outlet {
    /// Writes the entries, last hop first; those that changed, in that order, with what they were.
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

/// Ways out, each with the number of entries that it changes.
type Ways = Vec<(u32, Outlet)>;

/// The most ways out of a part that are looked at.
const MOST_OUTLETS: usize = 1024;

/// Not cut off.
const WHOLE: u32 = 0;
/// Not known yet, and without a route: no part.
const UNKNOWN: u32 = u32::MAX;
const ASTRAY: u32 = u32::MAX - 1;

/// Finds the parts of one destination after the other.
pub(super) struct Wound<'a> {
    on: &'a Topology,
    lost: Vec<(SwitchId, Vec<u16>)>,
    /// The part of every switch, for the destination at hand.
    part: Vec<u32>,
    home: SwitchId,
    /// Entries that were given to each channel by this repair.
    given: Vec<u32>,
}

impl<'a> Wound<'a> {
    pub(super) fn new(on: &'a Topology, lost: &[(SwitchId, Vec<u16>)]) -> Self {
        Self {
            on,
            lost: lost.to_vec(),
            part: Vec::new(),
            home: SwitchId(0),
            given: vec![0; on.links().len() * 2],
        }
    }

    /// The parts that are cut off from `home`. O(failed ports) when there are none, else
    /// O(switches), and the arcs of the parts.
    pub(super) fn parts(&mut self, entries: &[u16], home: SwitchId) -> Vec<Part> {
        let dead =
            |(s, ports): &&(SwitchId, Vec<u16>)| *s != home && ports.contains(&entries[s.ix()]);
        let roots: Vec<SwitchId> = self.lost.iter().filter(dead).map(|(s, _)| *s).collect();
        if roots.is_empty() {
            return Vec::new();
        }
        self.home = home;
        self.part.clear();
        self.part.resize(entries.len(), UNKNOWN);
        self.part[home.ix()] = WHOLE;
        let mut parts: Vec<Part> = (1..)
            .zip(roots)
            .map(|(number, root)| Part { root, members: vec![root], least: 0, number })
            .collect();
        for part in &parts {
            self.part[part.root.ix()] = part.number;
        }
        let mut trail = Vec::new();
        for s in (0..entries.len()).filter(|&s| self.on.switches()[s].up) {
            let mut at = s;
            while self.part[at] == UNKNOWN {
                trail.push(at);
                self.part[at] = ASTRAY;
                match self.on.hop(SwitchId::from(at), entries[at]) {
                    Some((_, next)) => at = next.ix(),
                    None => break,
                }
            }
            let own = self.part[at];
            for v in trail.drain(..) {
                self.part[v] = own;
                if own != WHOLE && own != ASTRAY {
                    parts[own as usize - 1].members.push(SwitchId::from(v));
                }
            }
        }
        for part in &mut parts {
            let out = |p: u32| p != part.number && p != ASTRAY;
            part.least = self.outlets(part, entries, out).first().map_or(0, |o| o.0);
        }
        parts
    }

    /// The next part that has a way out to what is whole, the one with the fewest changes first,
    /// and its ways out, those of fewest changes and then hops and then entries first.
    pub(super) fn next(
        &self,
        parts: &mut Vec<Part>,
        entries: &[u16],
    ) -> Option<(Part, Vec<Outlet>)> {
        let ways = |part: &Part| self.outlets(part, entries, |p| p == WHOLE);
        let mut best: Option<(u32, usize, Ways)> = None;
        for (i, part) in parts.iter().enumerate() {
            let found = ways(part);
            let Some(&(least, _)) = found.first() else { continue };
            if best.as_ref().is_none_or(|(known, _, _)| least < *known) {
                best = Some((least, i, found));
            }
        }
        let (_, i, found) = best?;
        Some((parts.remove(i), found.into_iter().map(|(_, outlet)| outlet).collect()))
    }

    /// A part has found its way: it is whole.
    pub(super) fn attach(&mut self, part: &Part) {
        for s in &part.members {
            self.part[s.ix()] = WHOLE;
        }
    }

    /// Notes the entries that changed.
    pub(super) fn count(&mut self, changed: &[(SwitchId, u16)], entries: &[u16]) {
        for (s, _) in changed {
            if let Some((channel, _)) = self.on.hop(*s, entries[s.ix()]) {
                self.given[channel.0 as usize] += 1;
            }
        }
    }

    /// Ways from the root of a part to switches that `out` accepts, with their numbers of changed
    /// entries. A hop that the table has already changes nothing: a search with costs 0 and 1.
    fn outlets(&self, part: &Part, entries: &[u16], out: impl Fn(u32) -> bool) -> Ways {
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
                    let far = self.hops_from(SwitchId(w), entries);
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
            if found.len() >= MOST_OUTLETS {
                break;
            }
        }
        found.sort_unstable();
        let way = |(cost, _, _, v, port): (u32, u32, u32, SwitchId, u16)| {
            let mut hops = vec![(v, port)];
            let mut at = v;
            while let Some((earlier, port)) = before[at.ix()] {
                hops.push((earlier, port));
                at = earlier;
            }
            hops.reverse();
            (cost, Outlet { hops })
        };
        found.into_iter().map(way).collect()
    }

    /// Hops from a switch to the destination; many where it is cut off, too.
    fn hops_from(&self, from: SwitchId, entries: &[u16]) -> u32 {
        let (mut at, mut hops) = (from, 0);
        while at != self.home && hops <= entries.len() as u32 {
            let next = self.on.hop(at, entries[at.ix()]);
            let Some((_, next)) = next.filter(|(c, _): &(ChannelId, _)| self.works(*c)) else {
                return u32::MAX;
            };
            (at, hops) = (next, hops + 1);
        }
        hops
    }

    fn works(&self, channel: ChannelId) -> bool {
        self.on.link_is_up(channel.link())
    }
}
