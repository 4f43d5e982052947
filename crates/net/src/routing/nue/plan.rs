//! Which lane each destination takes, and the order of channels in each lane.
//!
//! Source: that of [`super`].

use super::order::{Order, up_then_down};
use super::turns::Counter;
use super::within::{Grower, Lane};
use crate::dependencies::Dependencies;
use crate::network::Topology;
use crate::routing::sssp::endpoints_per_switch;
use crate::routing::trees::spanning_tree;
use crate::routing::up_down::{breadth_first, roots};
use base::seed::Stream;
use base::{ChannelId, Interrupted, SwitchId, Watch};

/// Most times that the channels of a lane are moved at first, and each time more is asked of it.
const PASSES: usize = 6;
const MORE_PASSES: usize = 2;
/// Most times that more is asked of a lane.
const ROUNDS: usize = 8;

/// A layer, and a destination switch in it.
type Destination = (usize, SwitchId);

/// The lanes of all destinations, and their orders.
pub(super) struct Plan<'a> {
    on: &'a Topology,
    endpoints: Vec<u32>,
    /// The connected part of each switch.
    part: Vec<u32>,
    /// By layer and destination switch.
    lane_of: Vec<Vec<u8>>,
    lanes: Vec<Lane>,
    /// The channels of a spanning tree of every connected part, by the switch that they leave.
    tree: Vec<Vec<ChannelId>>,
}

impl<'a> Plan<'a> {
    /// Deals the destinations of all layers to `lanes` lanes, and orders the channels of each.
    pub(super) fn new(
        on: &'a Topology,
        layers: u32,
        lanes: u8,
        seed: u64,
        watch: &dyn Watch,
    ) -> Result<Self, Interrupted> {
        let (dependencies, endpoints) = (Dependencies::new(on), endpoints_per_switch(on));
        let mut all: Vec<Destination> = (0..layers as usize)
            .flat_map(|layer| (0..endpoints.len()).map(move |d| (layer, SwitchId::from(d))))
            .filter(|(_, d)| endpoints[d.ix()] > 0)
            .collect();
        Stream::new(seed, "destinations", 0).shuffle(&mut all);
        let mut counter = Counter::new(on, &dependencies, &endpoints);
        let mut dealt: Vec<Dealt> = (0..lanes).map(|_| Dealt::new(&dependencies, on)).collect();
        for (i, &to) in all.iter().enumerate() {
            watch.tick("lanes", i as u64, all.len() as u64)?;
            deal(&mut dealt, to, endpoints[to.1.ix()], &dependencies, &mut counter);
        }
        let mut own = Self {
            on,
            endpoints: endpoints.clone(),
            part: on.graph().components().0,
            lane_of: vec![vec![0; endpoints.len()]; layers as usize],
            lanes: Vec::new(),
            tree: Vec::new(),
        };
        for (lane, dealt) in dealt.iter().enumerate() {
            for &(layer, d) in &dealt.all {
                own.lane_of[layer][d.ix()] = lane as u8;
            }
        }
        if dealt.iter().all(|lane| lane.whole.is_some()) {
            let places = dealt.into_iter().filter_map(|lane| lane.whole).map(|whole| whole.place);
            own.lanes = places.map(|places| Lane::new(on, places)).collect();
        } else {
            own.compromise(dealt, seed, &mut counter, watch)?;
        }
        Ok(own)
    }

    /// Orders the channels of all lanes where not all destinations get what they want.
    fn compromise(
        &mut self,
        dealt: Vec<Dealt>,
        seed: u64,
        counter: &mut Counter<'_>,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let roots = roots(self.on, None, watch)?;
        self.tree = spanning_tree(self.on, &roots);
        let start = up_then_down(self.on, &breadth_first(self.on, &roots));
        let (mut last_resort, mut unsettled) = (None, Vec::new());
        for (lane, dealt) in dealt.into_iter().enumerate() {
            if let Some(whole) = dealt.whole {
                self.lanes.push(Lane::new(self.on, whole.place));
                continue;
            }
            let mut random = Stream::new(seed, "channels", lane as u64);
            dealt.all.iter().for_each(|(_, d)| counter.add(*d));
            let mut order = Order::new(self.on, start.clone(), counter.take(), &mut random);
            order.improve(PASSES);
            let found = self.insist(&mut order, &dealt.all, counter, watch)?;
            self.lanes.push(found);
            last_resort.get_or_insert((lane, order));
            unsettled.extend(dealt.all);
        }
        let Some((lane, mut order)) = last_resort else { return Ok(()) };
        if !self.settle(&unsettled, lane, watch)? {
            order.keep(self.tree.iter().flatten(), start);
            order.improve(PASSES);
            self.lanes[lane] = Lane::new(self.on, order.places());
        }
        Ok(())
    }

    /// The lane of a destination switch in a layer.
    pub(super) fn lane(&self, layer: usize, to: SwitchId) -> u8 {
        self.lane_of[layer][to.ix()]
    }

    /// Asks an order for the shortest routes of those that it leaves without any, again and again,
    /// and returns what becomes of it.
    fn insist(
        &self,
        order: &mut Order<'_>,
        all: &[Destination],
        counter: &mut Counter<'_>,
        watch: &dyn Watch,
    ) -> Result<Lane, Interrupted> {
        let mut grower = Grower::new(self.on);
        let mut found = Lane::new(self.on, order.places());
        for round in 0..ROUNDS {
            watch.tick("lanes", round as u64, ROUNDS as u64)?;
            let mut wanted = Vec::new();
            for &(_, d) in all {
                grower.reach(d, &found);
                counter.turns_of(self.lost(&grower), d, &mut wanted);
            }
            if wanted.is_empty() {
                break;
            }
            order.insist(&wanted);
            order.improve(MORE_PASSES);
            found = Lane::new(self.on, order.places());
        }
        Ok(found)
    }

    /// Moves destinations whose lane does not take shortest routes to a lane that does, else to the
    /// one of the least detours. False when no lane has routes to some destination: that one is
    /// left to `last_resort`.
    fn settle(
        &mut self,
        all: &[Destination],
        last_resort: usize,
        watch: &dyn Watch,
    ) -> Result<bool, Interrupted> {
        let mut load = vec![0_u64; self.lanes.len()];
        for &(layer, d) in all {
            load[usize::from(self.lane(layer, d))] += u64::from(self.endpoints[d.ix()]);
        }
        let (mut grower, mut every) = (Grower::new(self.on), true);
        for (i, &(layer, d)) in all.iter().enumerate() {
            watch.tick("destinations", i as u64, all.len() as u64)?;
            let shortest = self.on.graph().distances_from(d.ix());
            let was = usize::from(self.lane(layer, d));
            let mut by_load: Vec<usize> = (0..load.len()).collect();
            by_load.sort_by_key(|&l| (l != was, load[l], l));
            let mut best: Option<(u64, usize)> = None;
            for lane in by_load {
                grower.reach(d, &self.lanes[lane]);
                let Some(detour) = self.detour(&grower, &shortest) else { continue };
                if best.is_none_or(|(least, _)| detour < least) {
                    best = Some((detour, lane));
                }
                if detour == 0 {
                    break;
                }
            }
            every &= best.is_some();
            let lane = best.map_or(last_resort, |b| b.1);
            load[was] -= u64::from(self.endpoints[d.ix()]);
            load[lane] += u64::from(self.endpoints[d.ix()]);
            self.lane_of[layer][d.ix()] = lane as u8;
        }
        Ok(every)
    }

    /// Hops beyond shortest routes, over all endpoints; none where one has no route.
    fn detour(&self, grower: &Grower<'_>, shortest: &[u32]) -> Option<u64> {
        if self.lost(grower).next().is_some() {
            return None;
        }
        let more = |v: usize| u64::from(grower.hops(v) - shortest[v]);
        let reached = (0..shortest.len()).filter(|&v| self.endpoints[v] > 0 && grower.reaches(v));
        Some(reached.map(|v| more(v) * u64::from(self.endpoints[v])).sum())
    }

    /// The switches with endpoints that were not reached although there is a way.
    fn lost(&self, grower: &Grower<'_>) -> impl Iterator<Item = usize> {
        let part = self.part[grower.to().ix()];
        (0..self.endpoints.len())
            .filter(move |&v| self.endpoints[v] > 0 && !grower.reaches(v) && self.part[v] == part)
    }

    /// Finds the next hops towards `to` in its lane. Where hops that fit whatever is chosen leave
    /// switches with endpoints without a route, these and those on their ways take the hops of one
    /// tree: that of last places, or where this does not reach them all the spanning tree.
    pub(super) fn grow(&self, grower: &mut Grower<'_>, layer: usize, to: SwitchId) {
        let lane = &self.lanes[usize::from(self.lane(layer, to))];
        grower.grow(to, lane, &[]);
        let mut lost: Vec<usize> = self.lost(grower).collect();
        if !lost.is_empty() {
            grower.reach(to, lane);
            let tree = if self.lost(grower).next().is_none() {
                (0..self.endpoints.len()).map(|v| grower.last(v)).collect()
            } else {
                self.tree_towards(to)
            };
            let mut forced = vec![None; self.endpoints.len()];
            while !lost.is_empty() {
                for mut v in lost {
                    while let Some(hop) = tree[v].filter(|_| forced[v].is_none()) {
                        forced[v] = Some(hop);
                        v = self.on.head(hop).switch.ix();
                    }
                }
                grower.grow(to, lane, &forced);
                lost = self.lost(grower).collect();
            }
        }
        grower.attach_rest();
    }

    /// The tree's next hop of every switch towards `to`. O(switches).
    fn tree_towards(&self, to: SwitchId) -> Vec<Option<ChannelId>> {
        let mut hop = vec![None; self.tree.len()];
        let mut found = vec![to];
        while let Some(v) = found.pop() {
            for &c in &self.tree[v.ix()] {
                let w = self.on.head(c).switch;
                if w != to && hop[w.ix()].is_none() {
                    hop[w.ix()] = Some(c.reverse());
                    found.push(w);
                }
            }
        }
        hop
    }
}

/// The destinations of one lane.
struct Dealt {
    all: Vec<Destination>,
    load: u64,
    /// All turns of all their shortest routes, as long as these have no cycle.
    whole: Option<Whole>,
}

impl Dealt {
    fn new(dependencies: &Dependencies, on: &Topology) -> Self {
        Self { all: Vec::new(), load: 0, whole: Some(Whole::new(dependencies, on)) }
    }
}

/// Turns without a cycle.
struct Whole {
    /// By channel: a place such that all turns lead to a later one.
    place: Vec<u32>,
    /// Which turns there are, a bit a dependency.
    has: Vec<u64>,
    /// By channel: turns that lead to it; the last turn that leads from it.
    into: Vec<u32>,
    last: Vec<u32>,
    /// Turns: the dependency, the channels, and the turn before from the same channel.
    turns: Vec<(usize, u32, u32, u32)>,
}

const NONE: u32 = u32::MAX;

impl Whole {
    fn new(dependencies: &Dependencies, on: &Topology) -> Self {
        let channels = on.graph().links() * 2;
        Self {
            place: vec![0; channels],
            has: vec![0; dependencies.count().div_ceil(64)],
            into: vec![0; channels],
            last: vec![NONE; channels],
            turns: Vec::new(),
        }
    }

    /// Adds turns if that makes no cycle. O(turns), where they do not all go forward as it is
    /// O(channels and all turns).
    fn add(&mut self, turns: &[(ChannelId, ChannelId)], dependencies: &Dependencies) -> bool {
        let begun = self.turns.len();
        let mut forward = true;
        for &(a, b) in turns {
            let (turn, from, to) = (dependencies.of(a, b), a.0 as usize, b.0 as usize);
            if self.has[turn / 64] >> (turn % 64) & 1 == 0 {
                self.has[turn / 64] |= 1 << (turn % 64);
                let before = std::mem::replace(&mut self.last[from], self.turns.len() as u32);
                self.turns.push((turn, a.0, b.0, before));
                self.into[to] += 1;
                forward &= self.place[from] < self.place[to];
            }
        }
        if forward || self.sort() {
            return true;
        }
        while self.turns.len() > begun {
            let Some((turn, from, to, before)) = self.turns.pop() else { break };
            self.has[turn / 64] &= !(1 << (turn % 64));
            self.last[from as usize] = before;
            self.into[to as usize] -= 1;
        }
        false
    }

    /// Finds places anew; leaves them as they were when there is a cycle.
    fn sort(&mut self) -> bool {
        let mut into = self.into.clone();
        let mut order: Vec<u32> =
            (0..into.len() as u32).filter(|c| into[*c as usize] == 0).collect();
        let mut head = 0;
        while let Some(&c) = order.get(head) {
            head += 1;
            let mut at = self.last[c as usize];
            while at != NONE {
                let (_, _, to, before) = self.turns[at as usize];
                into[to as usize] -= 1;
                if into[to as usize] == 0 {
                    order.push(to);
                }
                at = before;
            }
        }
        let whole = order.len() == into.len();
        if whole {
            for (place, c) in (0..).zip(order) {
                self.place[c as usize] = place;
            }
        }
        whole
    }
}

/// Gives a destination to the least loaded lane that takes all its shortest routes besides those of
/// its others, else to the least loaded one.
fn deal(
    lanes: &mut [Dealt],
    to: Destination,
    endpoints: u32,
    dependencies: &Dependencies,
    counter: &mut Counter<'_>,
) {
    let mut by_load: Vec<usize> = (0..lanes.len()).collect();
    by_load.sort_by_key(|&l| (lanes[l].load, l));
    let mut home = None;
    if lanes.iter().any(|lane| lane.whole.is_some()) {
        counter.add(to.1);
        let turns = counter.drain();
        let takes = |lane: &mut Dealt| {
            lane.whole.as_mut().is_some_and(|whole| whole.add(&turns, dependencies))
        };
        home = by_load.iter().copied().find(|&l| takes(&mut lanes[l]));
    }
    let lane = &mut lanes[home.unwrap_or(by_load[0])];
    if home.is_none() {
        lane.whole = None;
    }
    lane.load += u64::from(endpoints);
    lane.all.push(to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::trees::MinimalTree;
    use crate::topology::{family, parse_inline};
    use base::{LinkId, Quiet};

    fn network(inline: &str) -> Topology {
        let recipe = parse_inline(inline).unwrap();
        family(&recipe.family).unwrap().build(&recipe.params).unwrap()
    }

    /// Networks, whole and with every ninth link gone.
    fn networks() -> Vec<Topology> {
        let whole = ["slim_fly:q=5,p=2", "torus:shape=5x3,p=1", "dragonfly:h=2", "fat_tree:k=4"];
        let mut all: Vec<Topology> = whole.iter().map(|inline| network(inline)).collect();
        for i in 0..all.len() {
            let gone: Vec<LinkId> =
                (0..all[i].links().len()).step_by(9).map(LinkId::from).collect();
            all.push(all[i].with_failures(&gone, &[]).unwrap());
        }
        all
    }

    /// Every turn from any hop of a switch to any hop of the next leads to a later place.
    fn assert_forward(on: &Topology, tree: &MinimalTree, places: &[u32]) {
        let hops = |v: u32| {
            let i = tree.order.iter().position(|w| *w == v);
            i.map_or(&[][..], |i| tree.hops(i))
        };
        for &v in &tree.order {
            for &(channel, next) in hops(v) {
                assert_eq!(on.head(channel).switch.0, next);
                assert_eq!(on.tail(channel).switch.0, v);
                for &(then, _) in hops(next) {
                    assert!(places[channel.0 as usize] < places[then.0 as usize]);
                }
            }
        }
    }

    #[test]
    fn whatever_hops_are_chosen_turns_go_forward_and_arrive() {
        for on in networks() {
            let (part, _) = on.graph().components();
            for lanes in [1, 2, 8] {
                let plan = Plan::new(&on, 1, lanes, 7, &Quiet).unwrap();
                let mut grower = Grower::new(&on);
                let mut tree = MinimalTree::default();
                for d in 0..on.switches().len() {
                    if plan.endpoints[d] == 0 {
                        continue;
                    }
                    let to = SwitchId::from(d);
                    plan.grow(&mut grower, 0, to);
                    grower.fill(&mut tree);
                    let with_endpoints = |v: &&u32| plan.endpoints[**v as usize] > 0;
                    if plan.endpoints.iter().all(|n| *n > 0) {
                        let lane = &plan.lanes[usize::from(plan.lane(0, to))];
                        assert_forward(&on, &tree, &lane.places);
                    }
                    let reached = tree.order.iter().filter(with_endpoints).count();
                    let there = (0..part.len())
                        .filter(|&v| v != d && part[v] == part[d] && plan.endpoints[v] > 0);
                    assert_eq!(reached, there.count());
                    let mut found = vec![false; part.len()];
                    found[d] = true;
                    for (i, &v) in tree.order.iter().enumerate() {
                        assert!(!tree.hops(i).is_empty());
                        assert!(tree.hops(i).iter().all(|(_, next)| found[*next as usize]));
                        found[v as usize] = true;
                    }
                }
            }
        }
    }

    #[test]
    fn the_spanning_tree_is_a_way_out_in_its_lane() {
        for on in networks() {
            let (dependencies, endpoints) = (Dependencies::new(&on), endpoints_per_switch(&on));
            let mut counter = Counter::new(&on, &dependencies, &endpoints);
            (0..on.switches().len()).for_each(|d| counter.add(SwitchId::from(d)));
            let roots = roots(&on, None, &Quiet).unwrap();
            let tree = spanning_tree(&on, &roots);
            let start = up_then_down(&on, &breadth_first(&on, &roots));
            let mut random = Stream::new(3, "test", 0);
            let mut order = Order::new(&on, start.clone(), counter.take(), &mut random);
            order.improve(PASSES);
            order.keep(tree.iter().flatten(), start);
            order.improve(PASSES);
            let places = order.places();
            let mut channels = 0;
            for leaving in &tree {
                for &out in leaving {
                    channels += 1;
                    let there = on.head(out).switch.ix();
                    for &on_ward in tree[there].iter().filter(|c| **c != out.reverse()) {
                        assert!(places[out.0 as usize] < places[on_ward.0 as usize]);
                    }
                }
            }
            let parts = on.graph().components().1 as usize;
            assert_eq!(channels, 2 * (on.switches().len() - parts));
        }
    }

    #[test]
    fn lanes_that_suffice_give_shortest_routes_only() {
        let on = network("slim_fly:q=5,p=1");
        let plan = Plan::new(&on, 1, 8, 0, &Quiet).unwrap();
        let mut grower = Grower::new(&on);
        for d in 0..50 {
            plan.grow(&mut grower, 0, SwitchId(d));
            let shortest = on.graph().distances_from(d as usize);
            assert!((0..50).all(|v| grower.hops(v) == shortest[v]));
        }
    }
}
