//! Which lane each destination takes, and the order of channels in each lane.
//!
//! Source: that of [`super`].

use super::order::{Order, up_then_down};
use super::turns::Counter;
use super::within::Grower;
use crate::dependencies::Dependencies;
use crate::lanes::order::Order as Growing;
use crate::network::Topology;
use crate::routing::sssp::endpoints_per_switch;
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
    orders: Vec<Order<'a>>,
    /// A lane that does not take all it was given: what no lane has routes to goes there.
    last_resort: usize,
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
        let growing = || Growing::new(on, &dependencies, true);
        let mut dealt: Vec<Dealt<'_>> = (0..lanes)
            .map(|_| Dealt { growing: Some(growing()), load: 0, all: Vec::new() })
            .collect();
        for (i, &to) in all.iter().enumerate() {
            watch.tick("lanes", i as u64, all.len() as u64)?;
            deal(&mut dealt, to, endpoints[to.1.ix()], &mut counter);
        }
        let roots = roots(on, None, watch)?;
        let start = up_then_down(on, &breadth_first(on, &roots));
        let mut own = Self {
            on,
            endpoints: endpoints.clone(),
            part: on.graph().components().0,
            lane_of: vec![vec![0; endpoints.len()]; layers as usize],
            orders: Vec::new(),
            last_resort: dealt.iter().position(|lane| lane.growing.is_none()).unwrap_or(0),
            tree: spanning_tree(on, &roots),
        };
        for (lane, dealt) in dealt.iter().enumerate() {
            for &(layer, d) in &dealt.all {
                own.lane_of[layer][d.ix()] = lane as u8;
            }
            let mut random = Stream::new(seed, "channels", lane as u64);
            own.orders.push(match &dealt.growing {
                Some(growing) => {
                    let places = growing.positions().iter().map(|p| u64::from(*p)).collect();
                    Order::new(on, places, counter.take(), &mut random)
                }
                None => own.order(&dealt.all, start.clone(), &mut counter, &mut random, watch)?,
            });
        }
        if !own.settle(&all, watch)? {
            let order = &mut own.orders[own.last_resort];
            order.keep(own.tree.iter().flatten(), start);
            order.improve(PASSES);
        }
        Ok(own)
    }

    /// The lane of a destination switch in a layer.
    pub(super) fn lane(&self, layer: usize, to: SwitchId) -> u8 {
        self.lane_of[layer][to.ix()]
    }

    /// An order for destinations that do not all get what they want: sifted, and then asked for
    /// the shortest routes of those that it leaves without any.
    fn order(
        &self,
        all: &[Destination],
        start: Vec<u64>,
        counter: &mut Counter<'_>,
        random: &mut Stream,
        watch: &dyn Watch,
    ) -> Result<Order<'a>, Interrupted> {
        all.iter().for_each(|(_, d)| counter.add(*d));
        let mut order = Order::new(self.on, start, counter.take(), random);
        order.improve(PASSES);
        let mut grower = Grower::new(self.on);
        for round in 0..ROUNDS {
            watch.tick("lanes", round as u64, ROUNDS as u64)?;
            let mut wanted = Vec::new();
            for &(_, d) in all {
                grower.grow(d, &order.places, &[]);
                counter.turns_of(self.lost(&grower), d, &mut wanted);
            }
            if wanted.is_empty() {
                break;
            }
            order.insist(&wanted);
            order.improve(MORE_PASSES);
        }
        Ok(order)
    }

    /// Moves destinations whose lane does not take shortest routes to a lane that does, else to the
    /// one of the least detours. False when no lane has routes to some destination: that one is
    /// left to the last resort.
    fn settle(&mut self, all: &[Destination], watch: &dyn Watch) -> Result<bool, Interrupted> {
        let mut load = vec![0_u64; self.orders.len()];
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
                grower.grow(d, &self.orders[lane].places, &[]);
                let Some(detour) = self.detour(&grower, &shortest) else { continue };
                if best.is_none_or(|(least, _)| detour < least) {
                    best = Some((detour, lane));
                }
                if detour == 0 {
                    break;
                }
            }
            every &= best.is_some();
            let lane = best.map_or(self.last_resort, |b| b.1);
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

    /// Finds the next hops towards `to` in its lane. Where switches with endpoints are not reached,
    /// they and those on their ways along the spanning tree take the tree.
    pub(super) fn grow(&self, grower: &mut Grower<'_>, layer: usize, to: SwitchId) {
        let places = &self.orders[usize::from(self.lane(layer, to))].places;
        grower.grow(to, places, &[]);
        let mut lost: Vec<usize> = self.lost(grower).collect();
        if !lost.is_empty() {
            let tree = self.tree_towards(to);
            let mut forced = vec![None; self.endpoints.len()];
            while !lost.is_empty() {
                for mut v in lost {
                    while let Some(hop) = tree[v].filter(|_| forced[v].is_none()) {
                        forced[v] = Some(hop);
                        v = self.on.head(hop).switch.ix();
                    }
                }
                grower.grow(to, places, &forced);
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
struct Dealt<'a> {
    all: Vec<Destination>,
    load: u64,
    /// An order in which all turns of all their shortest routes go forward, if there is one.
    growing: Option<Growing<'a>>,
}

/// Gives a destination to the least loaded lane that takes all its shortest routes besides those of
/// its others, else to the least loaded one.
fn deal(lanes: &mut [Dealt<'_>], to: Destination, endpoints: u32, counter: &mut Counter<'_>) {
    let mut by_load: Vec<usize> = (0..lanes.len()).collect();
    by_load.sort_by_key(|&l| (lanes[l].load, l));
    let mut home = None;
    if lanes.iter().any(|lane| lane.growing.is_some()) {
        counter.add(to.1);
        let turns = counter.drain();
        home = by_load.iter().copied().find(|&l| {
            let Some(growing) = &mut lanes[l].growing else { return false };
            let fits = turns.iter().all(|&(a, b)| growing.take_turn((a, 0), (b, 0)));
            if fits {
                growing.settle()
            } else {
                growing.undo()
            }
            fits
        });
    }
    let lane = &mut lanes[home.unwrap_or(by_load[0])];
    if home.is_none() {
        lane.growing = None;
    }
    lane.load += u64::from(endpoints);
    lane.all.push(to);
}

/// A spanning tree of every connected part, by breadth-first search from `roots`: its channels that
/// leave each switch. O(arcs).
fn spanning_tree(on: &Topology, roots: &[u32]) -> Vec<Vec<ChannelId>> {
    let graph = on.graph();
    let mut leaving = vec![Vec::new(); graph.switches()];
    let mut seen = vec![false; graph.switches()];
    let mut found = roots.to_vec();
    for &v in roots {
        seen[v as usize] = true;
    }
    let mut head = 0;
    while let Some(&v) = found.get(head) {
        head += 1;
        for (&w, &c) in graph.neighbours(v as usize).iter().zip(graph.channels(v as usize)) {
            if !std::mem::replace(&mut seen[w as usize], true) {
                leaving[v as usize].push(c);
                leaving[w as usize].push(c.reverse());
                found.push(w);
            }
        }
    }
    leaving
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
    fn assert_forward(on: &Topology, tree: &MinimalTree, places: &[u64]) {
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
                        let order = &plan.orders[usize::from(plan.lane(0, to))];
                        assert_forward(&on, &tree, &order.places);
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
            let mut plan = Plan::new(&on, 1, 1, 3, &Quiet).unwrap();
            let roots = roots(&on, None, &Quiet).unwrap();
            let start = up_then_down(&on, &breadth_first(&on, &roots));
            plan.orders[0].keep(plan.tree.iter().flatten(), start);
            plan.orders[0].improve(PASSES);
            let places = &plan.orders[0].places;
            let mut channels = 0;
            for leaving in &plan.tree {
                for &out in leaving {
                    channels += 1;
                    let there = on.head(out).switch.ix();
                    for &on_ward in plan.tree[there].iter().filter(|c| **c != out.reverse()) {
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
