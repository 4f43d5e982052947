//! The channels that traffic between two places loads, with the loads; each list is computed when
//! it is first needed.

use crate::capacity::capacities;
use crate::paths::TrafficPathRule;
use crate::slots::{ProcessSlots, switch_of};
use base::{Graph, Refusal, SwitchId};
use std::collections::HashMap;

/// A channel, and the load on it for each byte sent: the channel's share of the traffic over its
/// capacity.
pub type ChannelShare = (u32, f32);

/// Most pairs of places that are indexed by a table; more are indexed by a hash map.
const MOST_DENSE: usize = 1 << 23;

/// Lists of the channels between places. A place is a site. With tables, whose routes depend on the
/// endpoint, the destination is an endpoint instead.
pub struct ChannelListsByPair<'a> {
    paths: TrafficPathRule<'a>,
    slots: &'a ProcessSlots,
    capacity: Vec<f64>,
    /// The target of each slot: its site or, with tables, the index of its endpoint.
    target: Vec<u32>,
    targets: usize,
    /// One slot of each target.
    slot_of: Vec<u32>,
    index: ChannelListIndex,
    ranges: Vec<(u32, u32)>,
    shares: Vec<ChannelShare>,
    /// Distances to a destination switch, kept once they are computed.
    far: HashMap<u32, Vec<u32>>,
    here: Vec<f64>,
    /// Distances to the current destination switch, for large networks; `order` lists the switches
    /// whose distance is set.
    around: Vec<u32>,
    order: Vec<u32>,
}

/// The number of switches up to which the distances of all pairs are kept.
const MOST_CACHED: usize = 1 << 12;

/// Distances to `home` of `source` and of all switches that are nearer.
fn search(graph: &Graph, home: u32, source: u32, far: &mut Vec<u32>, order: &mut Vec<u32>) {
    far.resize(graph.switches(), u32::MAX);
    for &v in &*order {
        far[v as usize] = u32::MAX;
    }
    order.clear();
    order.push(home);
    far[home as usize] = 0;
    let mut head = 0;
    while far[source as usize] == u32::MAX {
        let v = order[head] as usize; // there is a path: distances have been found before
        head += 1;
        for &w in graph.neighbours(v) {
            if far[w as usize] == u32::MAX {
                far[w as usize] = far[v] + 1;
                order.push(w);
            }
        }
    }
}

/// The list of each pair of places, by number.
enum ChannelListIndex {
    Dense(Vec<u32>),
    Sparse(HashMap<u64, u32>),
}

impl<'a> ChannelListsByPair<'a> {
    /// Lists for these slots, none of which is computed yet.
    pub fn new(paths: TrafficPathRule<'a>, slots: &'a ProcessSlots) -> Self {
        let count = slots.count() as u32;
        let (mut target, mut slot_of) = (Vec::new(), Vec::new());
        match paths {
            TrafficPathRule::Shortest(_) | TrafficPathRule::Split(_) => {
                target.extend((0..count).map(|s| slots.site(s)));
                slot_of.extend((0..slots.sites() as u32).map(|site| slots.of_site(site)[0]));
            }
            TrafficPathRule::Tables(_) => {
                for s in 0..count {
                    if s == 0 || slots.endpoint(s) != slots.endpoint(s - 1) {
                        slot_of.push(s);
                    }
                    target.push(slot_of.len() as u32 - 1);
                }
            }
        }
        let targets = slot_of.len();
        let pairs = slots.sites() * targets;
        let index = if pairs <= MOST_DENSE {
            ChannelListIndex::Dense(vec![u32::MAX; pairs])
        } else {
            ChannelListIndex::Sparse(HashMap::new())
        };
        Self {
            paths,
            slots,
            capacity: capacities(paths.topology()),
            target,
            targets,
            slot_of,
            index,
            ranges: Vec::new(),
            shares: Vec::new(),
            far: HashMap::new(),
            here: vec![0.0; paths.topology().switches().len()],
            around: Vec::new(),
            order: Vec::new(),
        }
    }

    /// The target that traffic to a slot has.
    #[inline]
    pub fn target(&self, slot: u32) -> u32 {
        self.target[slot as usize]
    }

    /// The channels from a site to a target, with their shares.
    #[inline]
    pub fn of(&mut self, from: u32, target: u32) -> &[ChannelShare] {
        let pair = from as usize * self.targets + target as usize;
        let known = match &self.index {
            ChannelListIndex::Dense(all) => all[pair],
            ChannelListIndex::Sparse(all) => all.get(&(pair as u64)).copied().unwrap_or(u32::MAX),
        };
        let at = if known == u32::MAX { self.make(from, target, pair) } else { known };
        let (begin, end) = self.ranges[at as usize];
        &self.shares[begin as usize..end as usize]
    }

    #[cold]
    fn make(&mut self, from: u32, target: u32, pair: usize) -> u32 {
        let slot = self.slot_of[target as usize];
        let mut found: Vec<(u32, f64)> = Vec::new();
        let to_site = self.slots.site(slot);
        if from != to_site {
            // cannot fail: the distances of all pairs were computed before, so paths exist
            let _ = self.collect(from, slot, &mut found);
        }
        found.sort_by_key(|(channel, _)| *channel);
        let begin = self.shares.len() as u32;
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let share: f64 = same.iter().map(|s| s.1).sum();
            let load = share / self.capacity[same[0].0 as usize].max(f64::MIN_POSITIVE);
            self.shares.push((same[0].0, load as f32));
        }
        self.ranges.push((begin, self.shares.len() as u32));
        let at = self.ranges.len() as u32 - 1;
        match &mut self.index {
            ChannelListIndex::Dense(all) => all[pair] = at,
            ChannelListIndex::Sparse(all) => {
                all.insert(pair as u64, at);
            }
        }
        at
    }

    fn collect(
        &mut self,
        from: u32,
        slot: u32,
        found: &mut Vec<(u32, f64)>,
    ) -> Result<(), Refusal> {
        let on = self.paths.topology();
        let slots = self.slots;
        let sources = slots.rails(from);
        let own: Vec<_> = match self.paths {
            TrafficPathRule::Shortest(_) | TrafficPathRule::Split(_) => {
                slots.rails(slots.site(slot)).to_vec()
            }
            TrafficPathRule::Tables(_) => {
                let e = base::EndpointId(slots.endpoint(slot));
                let all = (0..).map(base::TerminalId).zip(on.terminals());
                let of = all.filter(|(t, own)| own.endpoint == e && on.terminal_is_up(*t));
                of.map(|(t, _)| t).collect()
            }
        };
        let pairs: Vec<_> = sources
            .iter()
            .flat_map(|a| own.iter().map(move |b| (*a, *b)))
            .filter(|(a, b)| on.plane_of(*a) == on.plane_of(*b))
            .collect();
        for &(a, b) in &pairs {
            let share = 1.0 / pairs.len() as f64;
            let source = switch_of(on, a);
            match self.paths {
                TrafficPathRule::Shortest(_) => self.split(source, switch_of(on, b), share, found),
                TrafficPathRule::Split(shares) => {
                    shares.collect(source, switch_of(on, b), share, found);
                }
                TrafficPathRule::Tables(routing) => {
                    for layer in 0..routing.layers() {
                        let route = self.paths.route(layer, SwitchId(source), b)?;
                        let part = share / f64::from(routing.layers());
                        found.extend(route.iter().map(|c| (c.0, part)));
                    }
                }
            }
        }
        Ok(())
    }

    /// One flow that splits equally at every switch over all minimal next hops (ECMP).
    fn split(&mut self, source: u32, home: u32, amount: f64, found: &mut Vec<(u32, f64)>) {
        let graph = self.paths.topology().graph();
        let whole = graph.switches() <= MOST_CACHED;
        let far = if whole {
            self.far.entry(home).or_insert_with(|| graph.distances_from(home as usize))
        } else {
            search(graph, home, source, &mut self.around, &mut self.order);
            &self.around
        };
        let here = &mut self.here;
        here[source as usize] = amount;
        let mut level = vec![source];
        while level[0] != home {
            let mut next = Vec::new();
            for &v in &level {
                let v = v as usize;
                let amount = std::mem::take(&mut here[v]);
                let ahead = |w: u32| far[w as usize] < far[v];
                let next_hops = graph.neighbours(v).iter().filter(|&&w| ahead(w)).count();
                for (&w, channel) in graph.neighbours(v).iter().zip(graph.channels(v)) {
                    if ahead(w) {
                        let share = amount / next_hops as f64;
                        if here[w as usize] == 0.0 {
                            next.push(w);
                        }
                        here[w as usize] += share;
                        found.push((channel.0, share));
                    }
                }
            }
            level = next;
        }
        here[home as usize] = 0.0;
    }
}
