//! Compares engines of balanced shortest paths with a plain computation of the same: no choice is
//! skipped, no load is cached, every path is walked.

use base::seed::RandomStream;
use base::{ChannelId, LinkId, QuietWatch, SwitchId, TerminalId};
use engines::engine;
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::tables::{NO_ROUTE, Routing};
use families::family;
use serde_json::Map;
use std::sync::Arc;

const NETWORKS: [&str; 8] = [
    "slim_fly:q=5,p=2",
    "slim_fly:q=7,p=1",
    "jellyfish:n=20,k=4,p=2,seed=3",
    "torus:shape=4x3x3",
    "hyperx:shape=4x5,p=1",
    "fat_tree:levels=3,k=4",
    "fat_tree:leaves=6,spines=3,parallel=2,p=4",
    "dragonfly:a=4,h=2,p=1",
];

/// The networks, each whole and with every tenth link failed at random.
fn networks() -> Vec<Arc<Topology>> {
    let mut all = Vec::new();
    for inline in NETWORKS {
        let recipe = parse_inline(inline).expect("an inline form");
        let family = family(&recipe.family).expect("a family");
        let whole = family.build(&recipe.params).expect("a member");
        let mut links: Vec<LinkId> = (0..whole.links().len()).map(LinkId::from).collect();
        RandomStream::new(1, "failures", 0).shuffle(&mut links);
        let broken = whole.with_failures(&links[..links.len() / 10], &[]).expect("known links");
        all.extend([Arc::new(whole), Arc::new(broken)]);
    }
    all
}

fn routed(on: &Arc<Topology>, name: &str, layers: u32) -> Routing {
    let routed = engine(name).expect("an engine").route(&Map::new(), on, layers, &QuietWatch);
    routed.unwrap_or_else(|e| panic!("{name} on {}: {e}", on.recipe()))
}

/// The hops of `v` that come nearer to `to`, in port order.
fn nearer(on: &Topology, distance: &[u32], v: usize) -> Vec<(ChannelId, usize)> {
    let all = on.graph().channels(v).iter().map(|&c| (c, on.head(c).switch.ix()));
    all.filter(|(_, w)| distance[v] != u32::MAX && distance[*w] + 1 == distance[v]).collect()
}

fn endpoints(on: &Topology, v: usize) -> u64 {
    let attached = on.terminals_on(SwitchId::from(v)).iter();
    attached.filter(|&&t| on.terminal_is_up(t)).count() as u64
}

/// A slow balancer of shortest paths, to compare engines with.
struct ReferencePathBalancer<'a> {
    on: &'a Topology,
    distance: Vec<Vec<u32>>,
    cost: Vec<u64>,
    weight: Vec<u64>,
}

impl<'a> ReferencePathBalancer<'a> {
    fn new(on: &'a Topology) -> Self {
        let n = on.switches().len();
        let rate = |l: usize| on.links()[l].cable.rate_gbps();
        let fastest = (0..on.links().len()).map(rate).fold(0.0, f64::max);
        let cost = |c: usize| (16.0 * fastest / rate(c / 2)).round() as u64;
        Self {
            on,
            distance: (0..n).map(|d| on.graph().distances_from(d)).collect(),
            cost: (0..on.links().len() * 2).map(cost).collect(),
            weight: vec![0; on.links().len() * 2],
        }
    }

    /// The lightest shortest paths to `d`; among equals those whose ports are in the rows of
    /// `earlier` come last.
    fn lightest(&self, d: usize, earlier: &[&[u16]]) -> Vec<u16> {
        let distance = &self.distance[d];
        let mut by_distance: Vec<usize> = (0..distance.len()).collect();
        by_distance.sort_by_key(|&v| distance[v]);
        let mut row = vec![NO_ROUTE; distance.len()];
        let mut length = vec![0; distance.len()];
        for v in by_distance {
            let key = |&(c, w): &(ChannelId, usize)| {
                let port = self.on.tail(c).port;
                let used = earlier.iter().filter(|row| row[v] == port).count();
                (self.weight[c.0 as usize] + length[w], used, port)
            };
            if let Some(best) = nearer(self.on, distance, v).iter().min_by_key(|hop| key(hop)) {
                (length[v], row[v]) = (key(best).0, self.on.tail(best.0).port);
            }
        }
        row
    }

    /// Walks from every switch to `d` and adds or removes the load of `times` destinations.
    fn walk(&mut self, d: usize, row: &[u16], times: u64, add: bool) {
        for s in (0..row.len()).filter(|&s| row[s] != NO_ROUTE && s != d) {
            let load = endpoints(self.on, s) * times;
            let mut at = SwitchId::from(s);
            while at.ix() != d {
                let (c, next) = self.on.hop(at, row[at.ix()]).expect("a hop");
                let (weight, load) =
                    (&mut self.weight[c.0 as usize], load * self.cost[c.0 as usize]);
                *weight = if add { *weight + load } else { *weight - load };
                at = next;
            }
        }
    }

    /// One row for each of `destinations` (switch, number of times), in every layer.
    fn layers(&mut self, destinations: &[(usize, u64)], layers: usize) -> Vec<Vec<Vec<u16>>> {
        let mut done: Vec<Vec<Vec<u16>>> = Vec::new();
        for _ in 0..layers {
            let mut table: Vec<Vec<u16>> = Vec::new();
            for round in 0..5 {
                let (before, old) = (self.weight.clone(), table.clone());
                let total: u64 = before.iter().sum();
                let most = before.iter().max().copied().unwrap_or(0);
                if round > 0 && most <= total.div_ceil(before.len() as u64) {
                    break;
                }
                table.clear();
                for (i, &(d, times)) in destinations.iter().enumerate() {
                    if round > 0 {
                        self.walk(d, &old[i], times, false);
                    }
                    let earlier: Vec<&[u16]> = done.iter().map(|l| l[i].as_slice()).collect();
                    let row = self.lightest(d, &earlier);
                    self.walk(d, &row, times, true);
                    table.push(row);
                }
                if round > 0 && self.weight.iter().max().copied().unwrap_or(0) >= most {
                    (self.weight, table) = (before, old);
                    break;
                }
            }
            done.push(table);
        }
        done
    }
}

/// The working terminals with their switches.
fn terminals(on: &Topology) -> Vec<(TerminalId, usize)> {
    let all = (0..on.terminals().len()).map(TerminalId::from);
    all.filter(|&t| on.terminal_is_up(t))
        .map(|t| (t, on.terminals()[t.ix()].plug.switch.ix()))
        .collect()
}

/// Asserts that a row of `routing` is `row`, which says nothing about the destination's own switch.
fn agrees(routing: &Routing, layer: usize, t: TerminalId, home: usize, row: &[u16]) {
    let plug = routing.topology().terminals()[t.ix()].plug;
    let mut expected = row.to_vec();
    expected[home] = plug.port;
    let (on, tree) = (routing.topology().recipe(), routing.tree(layer as u32, t).to_vec());
    assert_eq!(tree, expected, "{} on {on}, layer {layer}, terminal {t}", routing.engine());
}

#[test]
fn sssp_is_as_the_plain_search_finds_it() {
    for on in networks() {
        for layers in [1, 2] {
            let routing = routed(&on, "sssp", layers as u32);
            let to = terminals(&on);
            let destinations: Vec<(usize, u64)> = to.iter().map(|&(_, home)| (home, 1)).collect();
            let mut plain = ReferencePathBalancer::new(&on);
            for (layer, table) in plain.layers(&destinations, layers).iter().enumerate() {
                for (&(t, home), row) in to.iter().zip(table) {
                    agrees(&routing, layer, t, home, row);
                }
            }
            for d in 0..on.switches().len() {
                let mut expected = plain.lightest(d, &[]);
                expected[d] = 0;
                assert_eq!(routing.tree_to_switch(SwitchId::from(d)), expected, "{}", on.recipe());
            }
        }
    }
}

#[test]
fn lash_is_as_the_plain_search_finds_it() {
    for on in networks() {
        for layers in [1, 2] {
            let routing = routed(&on, "lash", layers as u32);
            let mut rows = vec![usize::MAX; on.switches().len()];
            let mut destinations = Vec::new();
            for d in (0..rows.len()).filter(|&d| endpoints(&on, d) > 0) {
                rows[d] = destinations.len();
                destinations.push((d, endpoints(&on, d)));
            }
            let tables = ReferencePathBalancer::new(&on).layers(&destinations, layers);
            for (layer, table) in tables.iter().enumerate() {
                for (t, home) in terminals(&on) {
                    agrees(&routing, layer, t, home, &table[rows[home]]);
                }
            }
            let others = routed(&on, "ecmp", 1);
            for d in 0..on.switches().len() {
                let distance = on.graph().distances_from(d);
                let first =
                    |v: usize| nearer(&on, &distance, v).first().map(|(c, _)| on.tail(*c).port);
                let entry = |v: usize| if v == d { 0 } else { first(v).unwrap_or(NO_ROUTE) };
                let expected: Vec<u16> = (0..on.switches().len()).map(entry).collect();
                assert_eq!(routing.tree_to_switch(SwitchId::from(d)), expected, "{}", on.recipe());
                assert_eq!(others.tree_to_switch(SwitchId::from(d)), expected, "{}", on.recipe());
            }
        }
    }
}

#[test]
fn min_hop_is_as_the_plain_search_finds_it() {
    for on in networks() {
        let (n, layers) = (on.switches().len(), 3);
        let routing = routed(&on, "min_hop", layers);
        let mut assigned = vec![0; on.links().len() * 2];
        for layer in 0..layers {
            for (t, home) in terminals(&on) {
                let distance = on.graph().distances_from(home);
                let mut row = vec![NO_ROUTE; n];
                for v in 0..n {
                    let before: Vec<u16> = (0..layer).map(|l| routing.tree(l, t)[v]).collect();
                    let leads = |p: u16| on.hop(SwitchId::from(v), p).map(|(_, w)| w.ix());
                    let key = |&(c, w): &(ChannelId, usize)| {
                        let port = on.tail(c).port;
                        let same_port = before.iter().filter(|p| **p == port).count();
                        let same_switch = before.iter().filter(|p| leads(**p) == Some(w)).count();
                        (assigned[c.0 as usize], same_port, same_switch, port)
                    };
                    if let Some(&(c, _)) = nearer(&on, &distance, v).iter().min_by_key(|h| key(h)) {
                        assigned[c.0 as usize] += 1;
                        row[v] = on.tail(c).port;
                    }
                }
                agrees(&routing, layer as usize, t, home, &row);
            }
        }
    }
}
