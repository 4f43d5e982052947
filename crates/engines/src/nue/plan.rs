//! Assigns a lane to each destination, and orders the channels of each lane.
//!
//! Source: Domke, Hoefler, Matsuoka, as in [`super`].

use super::order::{ChannelOrder, up_then_down};
use super::spanning::SpanningTree;
use super::turns::TurnTrafficCounter;
use super::within::{LaneChannelOrder, RouteGrower};
use crate::lanes::order::AcyclicTurnSet;
use crate::sssp::endpoints_per_switch;
use crate::trees::NextHopTree;
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch, SwitchId};
use fabric::network::Topology;
use fabric::turns::ChannelDependencyNumbering;

/// A destination switch in one layer.
type LayeredDestination = (usize, SwitchId);

/// The lane of every destination, and the channel order of every lane.
pub(super) struct DestinationLaneAssignment<'a> {
    on: &'a Topology,
    endpoints: Vec<u32>,
    /// The number of the connected part that each switch is in.
    part: Vec<u32>,
    /// The lane of each destination, by layer and destination switch.
    lane_of: Vec<Vec<u8>>,
    /// The channel orders; empty where every lane allows all shortest routes to its destinations.
    lanes: Vec<LaneChannelOrder>,
}

impl<'a> DestinationLaneAssignment<'a> {
    /// Assigns the destinations of all layers to `lanes` lanes, and orders the channels of each
    /// lane.
    pub(super) fn new(
        on: &'a Topology,
        layers: u32,
        lanes: u8,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, Interrupted> {
        let (dependencies, endpoints) =
            (ChannelDependencyNumbering::new(on), endpoints_per_switch(on));
        let mut all: Vec<LayeredDestination> = (0..layers as usize)
            .flat_map(|layer| (0..endpoints.len()).map(move |d| (layer, SwitchId::from(d))))
            .filter(|(_, d)| endpoints[d.ix()] > 0)
            .collect();
        RandomStream::new(seed, "destinations", 0).shuffle(&mut all);
        let mut counter = TurnTrafficCounter::new(on, &dependencies, &endpoints);
        let mut assigned: Vec<DestinationsOfLane<'_>> =
            (0..lanes).map(|_| DestinationsOfLane::new(on, &dependencies)).collect();
        for (i, &to) in all.iter().enumerate() {
            watch.tick("lanes", i as u64, all.len() as u64)?;
            assign(&mut assigned, to, endpoints[to.1.ix()], &mut counter);
        }
        let mut own = Self {
            on,
            endpoints: endpoints.clone(),
            part: on.graph().components().0,
            lane_of: vec![vec![0; endpoints.len()]; layers as usize],
            lanes: Vec::new(),
        };
        for (lane, assigned) in assigned.iter().enumerate() {
            for &(layer, d) in &assigned.all {
                own.lane_of[layer][d.ix()] = lane as u8;
            }
        }
        if assigned.iter().any(|lane| lane.whole.is_none()) {
            own.compromise(assigned, seed, &mut counter, watch)?;
        }
        Ok(own)
    }

    /// Orders the channels of all lanes where some lane cannot allow all shortest routes to its
    /// destinations.
    fn compromise(
        &mut self,
        assigned: Vec<DestinationsOfLane<'_>>,
        seed: u64,
        counter: &mut TurnTrafficCounter<'_>,
        watch: &dyn ProgressWatch,
    ) -> Result<(), Interrupted> {
        let tree_order = SpanningTree::new(self.on);
        let start = up_then_down(self.on, &tree_order.rank);
        let (lanes, mut unsettled) = (assigned.len(), Vec::new());
        for (lane, assigned) in assigned.into_iter().enumerate() {
            watch.tick("lanes", lane as u64, lanes as u64)?;
            if let Some(whole) = assigned.whole {
                self.lanes.push(LaneChannelOrder::new(self.on, whole.places()));
                continue;
            }
            let mut random = RandomStream::new(seed, "channels", lane as u64);
            assigned.all.iter().for_each(|(_, d)| counter.add(*d));
            let mut order = ChannelOrder::new(
                self.on,
                start.clone(),
                &tree_order.links,
                counter.take(),
                &mut random,
            );
            order.improve();
            self.lanes.push(LaneChannelOrder::new(self.on, order.places()));
            unsettled.extend(assigned.all);
        }
        if lanes > 1 {
            self.settle(&unsettled, watch)?;
        }
        Ok(())
    }

    /// The lane of a destination switch in a layer.
    pub(super) fn lane(&self, layer: usize, to: SwitchId) -> u8 {
        self.lane_of[layer][to.ix()]
    }

    /// Moves destinations whose lane does not allow shortest routes to a lane that does, or else to
    /// the lane with the shortest detours.
    fn settle(
        &mut self,
        all: &[LayeredDestination],
        watch: &dyn ProgressWatch,
    ) -> Result<(), Interrupted> {
        let mut load = vec![0_u64; self.lanes.len()];
        for &(layer, d) in all {
            load[usize::from(self.lane(layer, d))] += u64::from(self.endpoints[d.ix()]);
        }
        let mut grower = RouteGrower::new(self.on);
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
            let lane = best.map_or(was, |b| b.1);
            load[was] -= u64::from(self.endpoints[d.ix()]);
            load[lane] += u64::from(self.endpoints[d.ix()]);
            self.lane_of[layer][d.ix()] = lane as u8;
        }
        Ok(())
    }

    /// The hops beyond shortest routes, summed over all endpoints; `None` where an endpoint was not
    /// reached.
    fn detour(&self, grower: &RouteGrower<'_>, shortest: &[u32]) -> Option<u64> {
        if self.lost(grower).next().is_some() {
            return None;
        }
        let more = |v: usize| u64::from(grower.hops(v) - shortest[v]);
        let reached = (0..shortest.len()).filter(|&v| self.endpoints[v] > 0 && grower.reaches(v));
        Some(reached.map(|v| more(v) * u64::from(self.endpoints[v])).sum())
    }

    /// The switches with endpoints that have no route although they are connected to the
    /// destination.
    fn lost(&self, grower: &RouteGrower<'_>) -> impl Iterator<Item = usize> {
        let part = self.part[grower.to().ix()];
        (0..self.endpoints.len())
            .filter(move |&v| self.endpoints[v] > 0 && !grower.reaches(v) && self.part[v] == part)
    }

    /// Lists in `tree` the next hops towards `to` that its lane allows; any combination of them is
    /// free of deadlock.
    pub(super) fn next_hops(
        &self,
        tree: &mut NextHopTree,
        grower: &mut RouteGrower<'_>,
        layer: usize,
        to: SwitchId,
    ) {
        match self.lanes.get(usize::from(self.lane(layer, to))) {
            Some(lane) => {
                self.grow(grower, to, lane);
                grower.fill(tree);
            }
            None => tree.rebuild(self.on, to, None),
        }
    }

    /// Finds the next hops towards `to`. If some switch with endpoints has no route by hops that
    /// fit any choice of the switches further on, then such switches, and those on their routes,
    /// take the hops at the latest places that exist.
    fn grow(&self, grower: &mut RouteGrower<'_>, to: SwitchId, lane: &LaneChannelOrder) {
        grower.grow(to, lane, &[]);
        let mut lost: Vec<usize> = self.lost(grower).collect();
        if !lost.is_empty() {
            let latest = lane.latest(self.on, to);
            let mut forced = vec![None; self.endpoints.len()];
            while !lost.is_empty() {
                for mut v in lost {
                    while let Some(hop) = latest[v].filter(|_| forced[v].is_none()) {
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
}

/// The destinations assigned to one lane.
struct DestinationsOfLane<'a> {
    all: Vec<LayeredDestination>,
    load: u64,
    /// An order in which all turns of all their shortest routes go forward, as long as one exists.
    whole: Option<AcyclicTurnSet<'a>>,
}

impl<'a> DestinationsOfLane<'a> {
    fn new(on: &Topology, dependencies: &'a ChannelDependencyNumbering) -> Self {
        Self { all: Vec::new(), load: 0, whole: Some(AcyclicTurnSet::new(on, dependencies)) }
    }
}

/// Assigns a destination to the least loaded lane that allows all its shortest routes besides those
/// of its other destinations, or else to the least loaded lane.
fn assign(
    lanes: &mut [DestinationsOfLane<'_>],
    to: LayeredDestination,
    endpoints: u32,
    counter: &mut TurnTrafficCounter<'_>,
) {
    let mut by_load: Vec<usize> = (0..lanes.len()).collect();
    by_load.sort_by_key(|&l| (lanes[l].load, l));
    let mut home = None;
    if lanes.iter().any(|lane| lane.whole.is_some()) {
        counter.add(to.1);
        let turns = counter.drain();
        let turns = turns.iter().map(|&(a, b)| ((a, 0), (b, 0)));
        let takes = |lane: &mut DestinationsOfLane<'_>| {
            lane.whole.as_mut().is_some_and(|whole| whole.take(turns.clone()))
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
    use base::{ChannelId, LinkId, QuietWatch};
    use fabric::network::parse_inline;
    use families::family;

    fn network(inline: &str) -> Topology {
        let recipe = parse_inline(inline).unwrap();
        family(&recipe.family).unwrap().build(&recipe.params).unwrap()
    }

    /// Networks, each whole and with every ninth link failed.
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
    fn assert_forward(on: &Topology, tree: &NextHopTree, places: &[u32]) {
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
                let plan = DestinationLaneAssignment::new(&on, 1, lanes, 7, &QuietWatch).unwrap();
                let mut grower = RouteGrower::new(&on);
                let mut tree = NextHopTree::default();
                for d in 0..on.switches().len() {
                    if plan.endpoints[d] == 0 {
                        continue;
                    }
                    let to = SwitchId::from(d);
                    plan.next_hops(&mut tree, &mut grower, 0, to);
                    let with_endpoints = |v: &&u32| plan.endpoints[**v as usize] > 0;
                    if plan.endpoints.iter().all(|n| *n > 0)
                        && let Some(lane) = plan.lanes.get(usize::from(plan.lane(0, to)))
                    {
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
    fn turns_of_the_spanning_tree_stay_forward() {
        for on in networks() {
            let (dependencies, endpoints) =
                (ChannelDependencyNumbering::new(&on), endpoints_per_switch(&on));
            let mut counter = TurnTrafficCounter::new(&on, &dependencies, &endpoints);
            (0..on.switches().len()).for_each(|d| counter.add(SwitchId::from(d)));
            let tree_order = SpanningTree::new(&on);
            let start = up_then_down(&on, &tree_order.rank);
            let mut random = RandomStream::new(3, "test", 0);
            let mut order =
                ChannelOrder::new(&on, start, &tree_order.links, counter.take(), &mut random);
            order.improve();
            let places = order.places();
            for &out in &tree_order.links {
                let leaves = |c: &&ChannelId| on.tail(**c).switch == on.head(out).switch;
                for &then in tree_order.links.iter().filter(leaves).filter(|c| **c != out.reverse())
                {
                    assert!(places[out.0 as usize] < places[then.0 as usize]);
                }
            }
            // the links are a spanning tree of every connected part: few enough to have no cycle
            let parts = on.graph().components().1 as usize;
            assert_eq!(tree_order.links.len(), 2 * (on.switches().len() - parts));
            let on_tree = |l: &LinkId| tree_order.links.iter().any(|c| c.link() == *l);
            let gone: Vec<LinkId> =
                (0..on.links().len()).map(LinkId::from).filter(|l| !on_tree(l)).collect();
            let bare = on.with_failures(&gone, &[]).unwrap();
            assert_eq!(bare.graph().components().1 as usize, parts);
        }
    }

    #[test]
    fn lanes_that_suffice_give_shortest_routes_only() {
        let on = network("slim_fly:q=5,p=1");
        let plan = DestinationLaneAssignment::new(&on, 1, 8, 0, &QuietWatch).unwrap();
        let (mut grower, mut tree) = (RouteGrower::new(&on), NextHopTree::default());
        for d in 0..50 {
            plan.next_hops(&mut tree, &mut grower, 0, SwitchId(d));
            let shortest = on.graph().distances_from(d as usize);
            assert_eq!(tree.order.len(), 49);
            for (i, &v) in tree.order.iter().enumerate() {
                let nearer = |w: u32| shortest[w as usize] + 1 == shortest[v as usize];
                assert!(tree.hops(i).iter().all(|(_, w)| nearer(*w)));
                let all = on.graph().neighbours(v as usize).iter().filter(|w| nearer(**w));
                assert_eq!(tree.hops(i).len(), all.count());
            }
        }
    }
}
