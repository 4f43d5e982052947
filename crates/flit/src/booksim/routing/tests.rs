//! Tests of guides: the paths and channels of packets, and the result of the proof.

use super::super::freedom::{DeadlockCounterexample, prove};
use super::*;
use base::QuietWatch;
use base::seed::FastRandomStream;
use paths::guide::{OutputRequest, PacketPosition, QueueView};
use paths::wiring::CableEnd;
use paths::word::{FlitLayout, HEAD, HOP, PacketHeader};
use std::collections::BTreeMap;
use verify::Verdict;

/// Buffers that are as full as a function says.
struct FilledBuffers<F: Fn(u32, u16) -> u32> {
    here: u32,
    of: F,
}

impl<F: Fn(u32, u16) -> u32> QueueView for FilledBuffers<F> {
    fn used(&self, port: u16) -> u32 {
        (self.of)(self.here, port)
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        (self.of)(router, port)
    }
}

/// One hop: the router that the packet left, the port, and the channel.
type Hop = (u32, u16, u8);

/// A network with its routing function, ready for tests.
struct TestNetwork {
    network: BookSimNetwork,
    wiring: RouterWiring,
    guide: Box<dyn EnumerableRouting + Send>,
    layout: FlitLayout,
}

impl TestNetwork {
    fn new(network: BookSimNetwork, name: &str, vcs: u8, hops: bool) -> Self {
        let wiring = network.wiring().unwrap();
        let guide = guide(&network, &wiring, name, vcs, hops).unwrap();
        let ends = wiring.endpoints().len() as u32;
        let layout = FlitLayout::new(ends, 1, guide.vias(), 0, 1000).unwrap();
        Self { network, wiring, guide, layout }
    }

    fn distances(&self, from: u32) -> Vec<u32> {
        let mut far = vec![u32::MAX; self.wiring.routers() as usize];
        far[from as usize] = 0;
        let mut open = vec![from];
        for at in 0.. {
            let Some(&router) = open.get(at) else { break };
            for port in self.wiring.ports(router) {
                if let CableEnd::Router { router: to, .. } = port.end
                    && far[to as usize] == u32::MAX
                {
                    far[to as usize] = far[router as usize] + 1;
                    open.push(to);
                }
            }
        }
        far
    }

    /// Follows one packet; every want must be among the guide's own steps.
    fn walk(
        &self,
        source: u32,
        target: u32,
        random: &mut FastRandomStream,
        used: fn(u32, u16) -> u32,
    ) -> Vec<Hop> {
        let mut flit = self.layout.packet(target, 0, 0) | HEAD;
        let start = self.wiring.endpoints()[source as usize];
        let (mut router, mut in_port) = (start.router, start.port);
        let mut packet = PacketHeader::new(&mut flit, &self.layout);
        let mut lane = any(self.guide.inject(source, &mut packet, random), random);
        let mut path = Vec::new();
        loop {
            let before = PacketHeader::new(&mut flit, &self.layout).note();
            let sight = FilledBuffers { here: router, of: used };
            let mut packet = PacketHeader::new(&mut flit, &self.layout);
            let mut here = PacketPosition { router, in_port, lane, sight: &sight, random };
            let mut wants = Vec::new();
            self.guide.wants(&mut here, &mut packet, &mut wants);
            let pick = here.random.below(wants.len() as u32) as usize;
            let chosen = wants[pick];
            let (note, via) = (packet.note(), packet.via());
            let out = any(chosen.lanes, random);
            let end = self.wiring.ports(router)[usize::from(chosen.port)].end;
            if let CableEnd::Endpoint(e) = end {
                assert_eq!(e, target);
                return path;
            }
            let last = self.wiring.endpoints()[target as usize].router;
            for want in &wants {
                let first = path.is_empty();
                self.check(
                    router,
                    (!first).then_some(in_port),
                    lane,
                    before,
                    [via, last],
                    (*want, note),
                );
            }
            path.push((router, chosen.port, out));
            assert!(path.len() < 40, "{source} to {target} does not arrive: {path:?}");
            let CableEnd::Router { router: to, port } = end else {
                panic!("nothing is cabled there")
            };
            (router, in_port, lane) = (to, port, out);
            flit += HOP;
        }
    }

    fn check(
        &self,
        router: u32,
        in_port: Option<u16>,
        lane: u8,
        before: u32,
        ends: [u32; 2],
        wanted: (OutputRequest, u32),
    ) {
        let mut found = Vec::new();
        let mut ask = |note: u32, goal: u32| {
            if goal != router {
                let at = RoutingSearchPosition { router, in_port, lanes: 1 << lane, note, goal };
                self.guide.steps(&at, &mut found);
            }
        };
        let goal = |note: u32| if self.guide.then(note).is_some() { ends[0] } else { ends[1] };
        if in_port.is_none() {
            for end in ends {
                let mut notes = Vec::new();
                self.guide.starts(router, end, &mut notes);
                notes.iter().filter(|n| goal(**n) == end).for_each(|n| ask(*n, end));
            }
        } else {
            ask(before, goal(before));
            if let Some(note) = self.guide.then(before).filter(|_| goal(before) == router) {
                ask(note, ends[1]);
            }
        }
        let (want, note) = wanted;
        let fits = found.iter().any(|step| {
            step.on >> lane & 1 == 1
                && step.want.port == want.port
                && want.lanes & !step.want.lanes == 0
                && step.note == note
        });
        assert!(fits, "{:?}: at {router} {want:?} {note} is none of {found:?}", self.network);
    }

    /// Walks between all pairs of endpoints, or a part of them, with several buffer loads.
    fn walks(&self, mut visit: impl FnMut(u32, u32, &[Hop])) {
        let ends = self.wiring.endpoints().len() as u32;
        let mut random = FastRandomStream::new(7, "test", 0);
        let loads: [fn(u32, u16) -> u32; 3] = [
            |_, _| 0,
            |router, port| mixed(router, port) % 4,
            |router, port| mixed(router, port) % 100,
        ];
        for round in 0..3000 {
            let (a, b) = (random.below(ends), random.below(ends));
            visit(a, b, &self.walk(a, b, &mut random, loads[round % 3]));
        }
    }

    fn router(&self, endpoint: u32) -> u32 {
        self.wiring.endpoints()[endpoint as usize].router
    }

    fn proof(
        &self,
    ) -> Verdict<super::super::freedom::DeadlockFreeChannelOrder, DeadlockCounterexample> {
        prove(self.guide.as_ref(), &self.wiring, &QuietWatch).unwrap()
    }
}

/// A number that looks random but depends on its arguments alone.
fn mixed(router: u32, port: u16) -> u32 {
    (router * 64 + u32::from(port) + 1).wrapping_mul(0x9E37_79B1) >> 16
}

fn any(lanes: u32, random: &mut FastRandomStream) -> u8 {
    assert!(lanes != 0);
    let members: Vec<u8> = (0..32).filter(|lane| lanes >> lane & 1 == 1).collect();
    members[random.below(members.len() as u32) as usize]
}

const MESH: BookSimNetwork = BookSimNetwork::Mesh { k: 4, n: 2 };

fn torus(k: u32, n: u32) -> BookSimNetwork {
    BookSimNetwork::Torus { k, n, wires: false }
}

fn flatfly(k: u32, n: u32, xr: u32) -> BookSimNetwork {
    BookSimNetwork::FlatFly { k, n, x: k, xr, wires: false }
}

/// A network of links without latencies, with the same number of endpoints on each router.
fn anynet(links: &[(u32, u32)], routers: u32, each: u32) -> BookSimNetwork {
    let mut neighbours = vec![Vec::new(); routers as usize];
    for &(a, b) in links {
        neighbours[a as usize].push((b, 1));
        neighbours[b as usize].push((a, 1));
    }
    for row in &mut neighbours {
        row.sort_unstable();
    }
    let endpoints = (0..routers).map(|r| (r * each..(r + 1) * each).collect()).collect();
    BookSimNetwork::Anynet { neighbours, endpoints }
}

/// The Petersen graph: 10 routers, diameter 2, no triangle and no square.
fn petersen() -> BookSimNetwork {
    let links: Vec<(u32, u32)> =
        (0..5).flat_map(|i| [(i, (i + 1) % 5), (i, i + 5), (i + 5, (i + 2) % 5 + 5)]).collect();
    anynet(&links, 10, 2)
}

/// Five routers, each linked to each.
fn complete() -> BookSimNetwork {
    let links: Vec<(u32, u32)> = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b))).collect();
    anynet(&links, 5, 2)
}

/// All functions, each with a number of channels and whether it should be proved free of deadlock:
/// by the notes on `BookSim` where that deadlocks, else by theory.
fn cases() -> Vec<(BookSimNetwork, &'static str, u8, bool, bool)> {
    let mut cases = Vec::new();
    for (name, vcs, free) in [
        ("dor", 1, true),
        ("dor", 4, true),
        ("dim_order", 3, true),
        ("dim_order_ni", 17, true),
        ("xy_yx", 2, true),
        ("xy_yx", 4, true),
        ("xy_yx", 3, false),
        ("adaptive_xy_yx", 4, true),
        ("adaptive_xy_yx", 3, false),
        ("valiant", 4, false),
        ("min_adapt", 2, true),
        ("min_adapt", 4, true),
    ] {
        cases.push((MESH, name, vcs, false, free));
    }
    for (k, n, vcs, free) in [
        (8, 2, 4, true),
        (5, 2, 2, true),
        (4, 3, 4, true),
        (2, 2, 2, true),
        (8, 1, 3, false),
        (8, 2, 3, false),
    ] {
        cases.push((torus(k, n), "dim_order", vcs, false, free));
    }
    for (k, n, xr, name, vcs, free) in [
        (4, 2, 2, "ran_min", 1, true),
        (3, 3, 1, "ran_min", 3, true),
        (4, 2, 2, "xyyx", 4, true),
        (4, 2, 2, "xyyx", 3, false),
        (4, 2, 1, "adaptive_xyyx", 2, true),
        (4, 2, 2, "valiant", 4, true),
        (8, 1, 2, "valiant", 4, true),
        (8, 1, 2, "valiant", 3, false),
        (4, 2, 2, "ugal", 4, true),
        (3, 3, 2, "ugal", 2, true),
    ] {
        cases.push((flatfly(k, n, xr), name, vcs, false, free));
    }
    cases.push((BookSimNetwork::FatTree { k: 4, n: 3 }, "nca", 4, false, true));
    cases.push((BookSimNetwork::FatTree { k: 2, n: 4 }, "anca", 1, false, true));
    cases.push((BookSimNetwork::Dragonfly { p: 2 }, "min", 2, false, true));
    cases.push((BookSimNetwork::Dragonfly { p: 3 }, "min", 4, false, true));
    cases.push((BookSimNetwork::Dragonfly { p: 2 }, "ugal", 3, false, false));
    for name in ["min", "val", "ugallnew", "ugalgnew"] {
        cases.push((petersen(), name, 4, false, false));
        cases.push((petersen(), name, 4, true, true));
        cases.push((complete(), name, 5, true, true));
    }
    // complete graph: a shortest path has one link, so no packet waits for another
    cases.push((complete(), "min", 2, false, true));
    cases.push((complete(), "val", 2, false, false));
    cases
}

#[test]
fn packets_arrive_by_steps_that_the_proof_knows() {
    for (network, name, vcs, hops, free) in cases() {
        let bench = TestNetwork::new(network, name, vcs, hops);
        let verdict = bench.proof();
        let case = format!("{:?} {name} {vcs} {hops}", bench.network);
        assert_eq!(verdict.holds(), free, "{case}: {verdict:?}");
        let mut place = BTreeMap::new();
        if let Verdict::Holds(order) = &verdict {
            for (i, c) in order.channels.iter().enumerate() {
                assert!(place.insert((c.router, c.port, c.lane), i).is_none(), "{case}");
            }
        }
        bench.walks(|a, b, path| {
            let places: Vec<_> = path.iter().map(|hop| place.get(hop)).collect();
            if free {
                assert!(places.iter().all(Option::is_some), "{case}: {path:?}");
                assert!(places.is_sorted(), "{case}: {a} to {b}: {path:?}");
            }
        });
    }
}

#[test]
fn cycles_close() {
    for (network, name, vcs, hops, free) in cases() {
        let bench = TestNetwork::new(network, name, vcs, hops);
        let Verdict::Fails(cycle) = bench.proof() else { continue };
        assert!(!free);
        let DeadlockCounterexample::Waits(waits) = &cycle else { panic!("{cycle}") };
        for (i, c) in waits.iter().enumerate() {
            let CableEnd::Router { router, .. } =
                bench.wiring.ports(c.router)[usize::from(c.port)].end
            else {
                panic!("{cycle}")
            };
            assert_eq!(router, waits[(i + 1) % waits.len()].router, "{cycle}");
            assert!(c.lane < vcs);
        }
    }
}

#[test]
fn minimal_functions_take_shortest_paths() {
    for (network, name, vcs, hops, _) in cases() {
        let minimal = [
            "dor",
            "dim_order",
            "dim_order_ni",
            "xy_yx",
            "adaptive_xy_yx",
            "min_adapt",
            "ran_min",
            "xyyx",
            "adaptive_xyyx",
            "nca",
            "anca",
            "min",
        ];
        let detour = matches!(name, "val" | "ugallnew" | "ugalgnew");
        let bench = TestNetwork::new(network, name, vcs, hops);
        let far: Vec<Vec<u32>> = (0..bench.wiring.routers()).map(|r| bench.distances(r)).collect();
        let most = far.iter().flatten().max().unwrap();
        let mut over = 0;
        bench.walks(|a, b, path| {
            let least = far[bench.router(a) as usize][bench.router(b) as usize];
            // over a third group two global links can be shorter than local, global, local
            if minimal.contains(&name) && !matches!(bench.network, BookSimNetwork::Dragonfly { .. })
            {
                assert_eq!(path.len() as u32, least, "{name}: {path:?}");
            } else {
                assert!(path.len() as u32 <= 2 * most, "{name}: {path:?}");
                over += u32::from(path.len() as u32 > least);
            }
        });
        assert!(!detour || over > 0, "{name} never goes over another router");
    }
}

#[test]
fn escapes_are_not_left() {
    let bench = TestNetwork::new(MESH, "min_adapt", 4, false);
    bench.walks(|_, _, path| {
        assert!(path.windows(2).all(|pair| pair[0].2 != 0 || pair[1].2 == 0), "{path:?}");
        assert!(path.windows(2).all(|pair| pair[0].1 / 2 <= pair[1].1 / 2), "x first: {path:?}");
    });
    assert!(bench.guide.has_choices());
}

#[test]
fn hops_are_the_channels_of_links() {
    for name in ["min", "val", "ugallnew", "ugalgnew"] {
        let bench = TestNetwork::new(petersen(), name, 6, true);
        bench.walks(|_, _, path| {
            for (i, hop) in path.iter().enumerate() {
                assert_eq!(usize::from(hop.2), i.min(3));
            }
        });
    }
}

/// Where a packet from endpoint 0 wants to go, and the note that it has then.
fn first_want(
    bench: &TestNetwork,
    target: u32,
    used: impl Fn(u32, u16) -> u32,
    seed: u64,
) -> (OutputRequest, u32) {
    let mut flit = bench.layout.packet(target, 0, 0) | HEAD;
    let at = bench.wiring.endpoints()[0];
    let sight = FilledBuffers { here: at.router, of: used };
    let mut random = FastRandomStream::new(seed, "test", 0);
    let (router, in_port) = (at.router, at.port);
    let mut here = PacketPosition { router, in_port, lane: 0, sight: &sight, random: &mut random };
    let mut packet = PacketHeader::new(&mut flit, &bench.layout);
    let want = bench.guide.want(&mut here, &mut packet);
    (want, packet.note())
}

#[test]
fn ugal_of_flattened_butterflies_has_a_bias_of_two() {
    // one dimension: the short path has 1 link, the long one 2; short <= 2 * 0 + 2 is minimal
    let bench = TestNetwork::new(flatfly(8, 1, 2), "ugal", 4, false);
    let to = 5; // endpoint 5 is on router 2
    assert_eq!(bench.router(to), 2);
    let port = bench.wiring.port_to(0, 2).unwrap();
    let at = |load: u32| move |_: u32, p: u16| if p == port { load } else { 0 };
    for seed in 0..100 {
        assert_eq!(
            first_want(&bench, to, at(2), seed).0,
            OutputRequest::new(port, 2, 3),
            "upper half"
        );
    }
    let other = (0..100).map(|seed| first_want(&bench, to, at(3), seed).0);
    let wants: Vec<OutputRequest> = other.collect();
    assert!(wants.iter().any(|w| w.port != port && w.lanes == 0b11), "lower half: {wants:?}");
    // drawn routers are all 8: the source and the last one make it minimal
    assert!(wants.iter().any(|w| *w == OutputRequest::new(port, 2, 3)));
}

#[test]
fn ugal_of_dragonflies_has_a_bias_of_thirty() {
    let bench = TestNetwork::new(BookSimNetwork::Dragonfly { p: 2 }, "ugal", 3, false);
    // group 0 to group 1: global port 0 of router 0; other groups are on other ports
    let target = 8;
    let global = 2 + 3;
    let at = |load: u32| move |_: u32, p: u16| if p == global { load } else { 0 };
    for seed in 0..100 {
        let (want, note) = first_want(&bench, target, at(30), seed);
        assert_eq!((want, note), (OutputRequest::new(global, 2, 2), 2), "after the global link");
    }
    let wants: Vec<_> = (0..100).map(|seed| first_want(&bench, target, at(31), seed)).collect();
    assert!(wants.iter().any(|(want, note)| want.port != global && *note == 0 && want.lanes == 1));
    // there is only one path between routers of the same group
    let (want, note) = first_want(&bench, 3, |_, _| 1000, 1);
    assert_eq!((want, note), (OutputRequest::new(2, 2, 2), 2));
}

#[test]
fn ugal_of_the_variant_weighs_hops_or_adds_queues() {
    // Petersen, router 0 to 1: linked, so the short path costs one queue
    let local = TestNetwork::new(petersen(), "ugallnew", 4, true);
    let port = local.wiring.port_to(0, 1).unwrap();
    let loads = |own: u32, other: u32| move |_: u32, p: u16| if p == port { own } else { other };
    for seed in 0..50 {
        // any path over a third router has at least 3 links there: 3 * 1 >= 3 is minimal
        assert_eq!(first_want(&local, 2, loads(3, 1), seed).0.port, port, "{seed}");
        assert_eq!(first_want(&local, 2, loads(0, 0), seed).0.port, port, "equal is minimal");
    }
    let away = |s: u64| first_want(&local, 2, loads(50, 1), s).0.port != port;
    assert!((0..50).filter(|s| away(*s)).count() > 40, "one of four leads elsewhere");
    // UGAL-G sees the queues of routers farther on: full ones there keep packets on the short path
    let global = TestNetwork::new(petersen(), "ugalgnew", 4, true);
    let far = |router: u32, p: u16| if router == 0 { u32::from(p == port) * 10 } else { 10 };
    let near = |router: u32, p: u16| if router == 0 { u32::from(p == port) * 10 } else { 1 };
    for seed in 0..50 {
        assert_eq!(first_want(&global, 2, far, seed).0.port, port, "{seed}");
    }
    let away = |s: u64| first_want(&global, 2, near, s).0.port != port;
    assert!((0..50).filter(|s| away(*s)).count() > 40);
    assert!(global.guide.sees_far() && !local.guide.sees_far());
}

#[test]
fn shortest_paths_by_latency_take_the_nearest_predecessor() {
    // 0 - 1 - 3 and 0 - 2 - 3 have 4 cycles each; 2 is nearer to 0 and is settled first
    let neighbours = vec![
        vec![(1, 3), (2, 1)],
        vec![(0, 1), (3, 1)],
        vec![(0, 1), (3, 3)],
        vec![(1, 1), (2, 1)],
    ];
    let endpoints = (0..4).map(|e| vec![e]).collect();
    let network = BookSimNetwork::Anynet { neighbours, endpoints };
    let bench = TestNetwork::new(network, "min", 1, false);
    let next = |from: u32, to: u32| {
        let at = RoutingSearchPosition { router: from, in_port: None, lanes: 1, note: 2, goal: to };
        let mut found = Vec::new();
        bench.guide.steps(&at, &mut found);
        match bench.wiring.ports(from)[usize::from(found[0].want.port)].end {
            CableEnd::Router { router, .. } => router,
            _ => panic!("a link"),
        }
    };
    assert_eq!((next(0, 3), next(0, 1), next(3, 0), next(1, 2)), (2, 1, 1, 0));
    // the lowest of equally near routers: two steps lead from 0 to 4, over 1, 2 or 3
    let square = anynet(&[(0, 3), (0, 2), (0, 1), (1, 4), (2, 4), (3, 4)], 5, 1);
    let bench = TestNetwork::new(square, "min", 1, false);
    let mut random = FastRandomStream::new(1, "test", 0);
    let path = bench.walk(0, 4, &mut random, |_, _| 0);
    assert_eq!(path.iter().map(|hop| hop.0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_a_function_cannot_have_is_refused() {
    let refused = |network: &BookSimNetwork, name: &str, vcs: u8, hops: bool| {
        let wiring = network.wiring().unwrap();
        guide(network, &wiring, name, vcs, hops).err().map(|r| r.to_string()).unwrap_or_default()
    };
    assert!(refused(&MESH, "dorr", 4, false).contains("did you mean dor?"));
    assert!(refused(&MESH, "dim_order_ni", 15, false).contains("at least 16"));
    assert!(refused(&MESH, "dor", 4, true).contains("vc_policy"));
    assert!(refused(&MESH, "dor", 33, false).contains("from 1 to 32"));
    assert!(refused(&torus(4, 2), "dim_order", 1, false).contains("at least 2"));
    assert!(refused(&torus(4, 2), "valiant", 4, false).contains("no valiant"));
    assert!(refused(&BookSimNetwork::Dragonfly { p: 2 }, "ugal", 4, false).contains("exactly 3"));
    assert!(refused(&petersen(), "min", 3, true).contains("at least 4"));
    let pair = anynet(&[(0, 1)], 2, 1);
    assert!(refused(&pair, "val", 4, false).contains("three routers"));
    let long = anynet(&[(0, 1), (1, 2), (2, 3)], 4, 1);
    assert!(refused(&long, "ugalgnew", 4, false).contains("diameter 2"));
    assert!(refused(&long, "ugallnew", 4, false).is_empty());
}
