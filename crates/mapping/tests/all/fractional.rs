//! Tests of fractional routing against maximum flows, found by another algorithm, and closed forms.

use base::QuietWatch;
use base::seed::RandomStream;
use fabric::Topology;
use fabric::network::parse_inline;
use mapping::evaluate::evaluate;
use mapping::fractional::{FractionalRouting, SwitchDemand};
use mapping::paths::TrafficPathRule;
use proptest::prelude::*;
use std::collections::VecDeque;
use traffic::communication::{CommunicationGraph, ProcessPairTraffic};

fn network(name: &str) -> Topology {
    let recipe = parse_inline(name).expect("a recipe");
    families::family(&recipe.family).expect("a family").build(&recipe.params).expect("built")
}

/// The maximum flow from one switch to another over links of capacity 1 in each direction, by
/// augmenting paths (Ford & Fulkerson).
fn most_flow(on: &Topology, from: usize, to: usize) -> f64 {
    let graph = on.graph();
    let mut used = vec![0_i32; 2 * on.links().len()];
    let mut found = 0.0;
    loop {
        let mut by = vec![None; graph.switches()];
        let mut queue = VecDeque::from([from]);
        let mut seen = vec![false; graph.switches()];
        seen[from] = true;
        while let Some(v) = queue.pop_front() {
            for (&w, c) in graph.neighbours(v).iter().zip(graph.channels(v)) {
                // flow in the opposite direction can be undone
                let room = 1 - used[c.ix()] + used[c.reverse().ix()].min(1);
                if !seen[w as usize] && room > 0 {
                    seen[w as usize] = true;
                    by[w as usize] = Some((v, *c));
                    queue.push_back(w as usize);
                }
            }
        }
        if !seen[to] {
            return found;
        }
        let mut at = to;
        while let Some((v, c)) = by[at] {
            if used[c.reverse().ix()] > 0 {
                used[c.reverse().ix()] -= 1;
            } else {
                used[c.ix()] += 1;
            }
            at = v;
        }
        found += 1.0;
    }
}

fn one(on: &Topology, from: u32, to: u32, bytes: f64) -> SwitchDemand {
    let mut demand = vec![Vec::new(); on.switches().len()];
    demand[to as usize].push((from, bytes));
    demand
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For a single pair with enough slack, the least congestion is its bytes divided by the
    /// maximum flow.
    #[test]
    fn one_pair_is_a_maximum_flow(which in 0_usize..5, seed in any::<u64>()) {
        let names = ["slim_fly:q=5,p=1", "torus:shape=3x4,p=1", "dragonfly:h=2,p=1",
            "hyperx:shape=3x3,p=1", "ring:n=7,p=1"];
        let on = network(names[which]);
        let mut draw = RandomStream::new(seed, "test", 0);
        let count = on.switches().len() as u64;
        let (from, to) = (draw.below(count) as u32, draw.below(count) as u32);
        prop_assume!(from != to);
        let best = 100.0 / most_flow(&on, from as usize, to as usize);
        let found = FractionalRouting::new(&on, &one(&on, from, to, 100.0), 6, 300, &QuietWatch)
            .expect("routed");
        prop_assert!(found.bound() <= best * (1.0 + 1e-9), "{} {}", found.bound(), best);
        prop_assert!(found.congestion() >= best * (1.0 - 1e-9), "{} {}", found.congestion(), best);
        prop_assert!(found.congestion() <= best * 1.03, "{} {}", found.congestion(), best);
        prop_assert!(found.bound() >= best * 0.95, "{} {}", found.bound(), best);
    }

    /// The loads that an evaluation counts are those of the fractional routing, and no path is too
    /// long.
    #[test]
    fn shares_carry_what_the_routing_carries(which in 0_usize..3, seed in any::<u64>()) {
        let name = ["slim_fly:q=5,p=2", "torus:shape=3x4,p=1", "dragonfly:h=2,p=1"][which];
        let on = network(name);
        let count = on.terminals().len() as u64;
        let mut draw = RandomStream::new(seed, "test", 1);
        let any = |draw: &mut RandomStream| draw.below(count) as u32;
        let sent: Vec<ProcessPairTraffic> = (0..40)
            .map(|_| ProcessPairTraffic {
                from: any(&mut draw), to: any(&mut draw), bytes: 1.0 + draw.below(9) as f64,
                messages: 1.0,
            })
            .filter(|one| one.from != one.to)
            .collect();
        let graph = CommunicationGraph::new(count as u32, sent).expect("a graph");
        let places: Vec<u32> = (0..count as u32).collect();
        let switch = |p: u32| on.terminals()[p as usize].plug.switch.0;
        let mut demand = vec![Vec::new(); on.switches().len()];
        for one in graph.sent() {
            demand[switch(one.to) as usize].push((switch(one.from), one.bytes));
        }
        let routed = FractionalRouting::new(&on, &demand, 1, 60, &QuietWatch).expect("routed");
        let split = TrafficPathRule::Split(&routed);
        let found = evaluate(split, &graph, &places, &QuietWatch).expect("figures");
        let most = found.figures.maximum_congestion;
        prop_assert!((most - routed.congestion()).abs() <= 1e-6 * most, "{most}");
        let shortest = TrafficPathRule::Shortest(&on);
        let direct = evaluate(shortest, &graph, &places, &QuietWatch).expect("figures");
        prop_assert!(found.figures.maximum_dilation <= direct.figures.maximum_dilation + 1);
        prop_assert!(most <= direct.figures.maximum_congestion * (1.0 + 1e-9));
        prop_assert!(routed.bound() <= most * (1.0 + 1e-9));
    }
}

#[test]
fn without_slack_a_ring_has_one_path() {
    let on = network("ring:n=7,p=1");
    // in one direction around the ring the path has two hops, in the other five
    for (slack, best) in [(0, 30.0), (2, 30.0), (3, 15.0)] {
        let found = FractionalRouting::new(&on, &one(&on, 0, 2, 30.0), slack, 100, &QuietWatch)
            .expect("routed");
        assert!((found.congestion() - best).abs() < 0.01 * best, "{slack}: {}", found.congestion());
        assert!(found.bound() <= best + 1e-9);
    }
}

#[test]
fn what_cannot_be_reached_is_refused() {
    let on = network("ring:n=7,p=1");
    let mut builder_demand = one(&on, 0, 2, 1.0);
    builder_demand[3].push((6, 1.0));
    assert!(FractionalRouting::new(&on, &builder_demand, 0, 1, &QuietWatch).is_ok());
    let planes = network("multi_plane:planes=2,of=ring:n=3,p=1");
    let other = (0..6).find(|&s| planes.graph().distances_from(0)[s as usize] == u32::MAX);
    let demand = one(&planes, 0, other.expect("a switch of the other plane"), 1.0);
    let said = FractionalRouting::new(&planes, &demand, 0, 1, &QuietWatch)
        .err()
        .expect("no path")
        .to_string();
    assert!(said.contains("no path"), "{said}");
}
