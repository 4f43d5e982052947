//! Tests of selections: packets take only hops that the proved scheme offers, and arrive.

use crate::common::built;
use base::seed::FastRandomStream;
use base::{ChannelId, QuietWatch, SwitchId, TerminalId};
use fabric::Topology;
use fabric::geometry::PlaneStructure;
use fabric::tables::candidates::{
    CandidateHop, CandidateScheme, GroupMinimalRouting, LaneClasses, MinimalAdaptiveRouting,
    PacketRoutingState, ProgressiveAdaptiveRouting, RouteLegScheme, UpDownAdaptiveRouting,
    ValiantDetourRouting,
};
use paths::guide::{PacketPosition, QueueView, RoutingGuide};
use paths::select::{
    CommonAncestorGuide, DetourGuide, PathSelection, PathSelectionParameters,
    PortChoicesByDestination,
};
use paths::wiring::{CableEnd, Port, RouterWiring};
use paths::word::{FlitLayout, HOP, PacketHeader};
use std::collections::BTreeSet;
use std::sync::Arc;
use verify::VerifiedRouting;

pub(crate) const NETS: [&str; 6] = [
    "slim_fly:q=5,p=2",
    "dragonfly:h=2",
    "torus:shape=4x3,p=2",
    "jellyfish:n=20,k=4,p=2,seed=3",
    "hyperx:shape=3x4,p=1",
    "fat_tree:levels=3,k=4",
];

/// A view of queues of different lengths.
pub(crate) struct UnequalQueues;

impl QueueView for UnequalQueues {
    fn used(&self, port: u16) -> u32 {
        u32::from(port) * 7 % 13
    }

    fn used_at(&self, router: u32, port: u16) -> u32 {
        (router * 5 + u32::from(port) * 3) % 11
    }
}

/// A view of empty queues.
struct EmptyQueues;

impl QueueView for EmptyQueues {
    fn used(&self, _: u16) -> u32 {
        0
    }

    fn used_at(&self, _: u32, _: u16) -> u32 {
        0
    }
}

/// The channel by which a port of the wiring leaves.
fn channel(on: &Topology, at: u32, port: u16) -> ChannelId {
    let seat = RouterWiring::seats(on, SwitchId(at))[usize::from(port)];
    on.hop(SwitchId(at), seat).expect("a cable to a switch").0
}

/// Follows packets from every endpoint to some others; returns the most hops of a packet, and the
/// sum of all hops.
pub(crate) fn follow<C: CandidateScheme>(
    on: &Topology,
    scheme: &C,
    guide: &impl RoutingGuide,
    sight: &dyn QueueView,
) -> (u32, u32) {
    let wiring = RouterWiring::of(on, |_| 1).expect("one rail each");
    let ends = wiring.endpoints();
    let layout = FlitLayout::new(ends.len() as u32, 1, guide.vias(), 0, 1000).expect("it is small");
    let mut random = FastRandomStream::new(5, "walks", 0);
    let (mut most, mut total) = (0, 0);
    for (source, walk) in (0..ends.len()).flat_map(|s| (0..20).map(move |w| (s, w))) {
        let target = random.below(ends.len() as u32);
        let mut flit = layout.packet(target, 0, 0);
        let (mut at, mut in_port) = (ends[source].router, ends[source].port);
        let home = ends[target as usize].router;
        // all states of the scheme in which the packet can be, after the hops that it has taken
        let (mut may, mut hops) = (None, 0);
        loop {
            let random = &mut random;
            let mut here = PacketPosition { router: at, in_port, lane: 0, sight, random };
            let want = guide.want(&mut here, &mut PacketHeader::new(&mut flit, &layout));
            let end = wiring.ports(at)[usize::from(want.port)].end;
            let CableEnd::Router { router, port } = end else {
                assert_eq!(end, CableEnd::Endpoint(target), "walk {walk}");
                break;
            };
            may = Some(taken(scheme, may, (at, home), channel(on, at, want.port), want.lanes));
            (at, in_port) = (router, port);
            flit += HOP;
            hops += 1;
            assert!(hops < 64, "it goes round");
        }
        most = most.max(hops);
        total += hops;
    }
    (most, total)
}

/// The states of the scheme after a hop, of which there must be at least one.
fn taken<C: CandidateScheme>(
    scheme: &C,
    may: Option<Vec<PacketRoutingState>>,
    (at, home): (u32, u32),
    channel: ChannelId,
    lanes: u32,
) -> Vec<PacketRoutingState> {
    let before = may.unwrap_or_else(|| {
        let (mut found, mut goals) = (Vec::new(), Vec::new());
        let terminals = scheme.topology().terminals().len();
        (0..terminals).for_each(|t| scheme.goals(TerminalId::from(t), &mut goals));
        for goal in goals.into_iter().filter(|goal| *goal != at) {
            let mut states = Vec::new();
            scheme.starts(SwitchId(at), goal, &mut states);
            let fits = |state: &u32| goal == home || !scheme.ends(*state);
            found.extend(
                states.into_iter().filter(fits).map(|state| PacketRoutingState { goal, state }),
            );
        }
        found
    });
    let mut after = Vec::new();
    for heading in before {
        let mut now = vec![heading];
        if heading.goal == at {
            now.clear();
            if !scheme.ends(heading.state) && home != at {
                let mut states = Vec::new();
                scheme.onward(SwitchId(at), heading.state, home, &mut states);
                now.extend(
                    states.into_iter().map(|state| PacketRoutingState { goal: home, state }),
                );
            }
        }
        for heading in now {
            let mut offered = Vec::new();
            scheme.next(SwitchId(at), heading, &mut offered);
            let lanes_of = |c: &CandidateHop| c.lanes().fold(0_u32, |m, v| m | 1 << v);
            let fits = offered.iter().filter(|c| c.channel == channel && lanes_of(c) == lanes);
            after.extend(fits.map(|c| PacketRoutingState { goal: heading.goal, state: c.state }));
        }
    }
    after.sort_unstable();
    after.dedup();
    assert!(!after.is_empty(), "nothing offers {channel:?} on lanes {lanes:b} at {at}");
    after
}

#[test]
fn minimal_and_detours_follow_their_scheme() {
    for net in NETS {
        let on = built(net);
        let wiring = Arc::new(RouterWiring::of(&on, |_| 1).expect("one rail each"));
        let classes = LaneClasses { classes: 12, width: 2 };
        let minimal =
            MinimalAdaptiveRouting::new(on.clone(), classes, &QuietWatch).expect("it is small");
        let proved = VerifiedRouting::scheme(minimal.clone(), &QuietWatch).expect("nobody stops");
        let proved = proved.expect("lanes rise");
        let guide = DetourGuide::minimal(&proved, &wiring, &QuietWatch).expect("few lists");
        let (least, _) = follow(&on, &minimal, &guide, &UnequalQueues);
        let via =
            VerifiedRouting::scheme(ValiantDetourRouting::by_hop(minimal.clone()), &QuietWatch)
                .expect("nobody stops");
        let via = via.expect("lanes rise");
        for selection in [PathSelection::Valiant, PathSelection::UgalL, PathSelection::UgalG] {
            let choosing = PathSelectionParameters::usual(selection);
            let guide =
                DetourGuide::via(&via, selection, choosing, &wiring, &QuietWatch).expect("few");
            let (most, _) = follow(&on, &*via, &guide, &UnequalQueues);
            let detours = selection == PathSelection::Valiant;
            assert!(!detours || most > least, "{net}: nobody makes a detour");
        }
    }
}

/// Hops between all switches, by breadth-first search.
fn hops_between(wiring: &RouterWiring) -> Vec<Vec<u32>> {
    let from = |start: u32| {
        let mut hops = vec![u32::MAX; wiring.routers() as usize];
        hops[start as usize] = 0;
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&at) = queue.get(next) {
            next += 1;
            for to in wiring.ports(at).iter().filter_map(Port::leads_to) {
                if hops[to as usize] == u32::MAX {
                    hops[to as usize] = hops[at as usize] + 1;
                    queue.push(to);
                }
            }
        }
        hops
    };
    (0..wiring.routers()).map(from).collect()
}

/// The port and intermediate switch that UGAL-L chooses at a packet's first switch, by definition.
/// It compares hops times the queue at the first port, takes the first detour of least cost, and
/// stays on the minimal path if that is not worse, or if the queue for it is short.
fn chosen(
    wiring: &RouterWiring,
    hops: &[Vec<u32>],
    (at, home, candidates, shortest): (u32, u32, u32, u32),
    random: &mut FastRandomStream,
) -> (u16, Option<u32>) {
    let far = |a: u32, b: u32| hops[a as usize][b as usize];
    let port = |goal: u32, random: &mut FastRandomStream| -> u16 {
        let ports = (0..).zip(wiring.ports(at));
        let nearer =
            ports.filter(|(_, p)| p.leads_to().is_some_and(|n| far(n, goal) < far(at, goal)));
        let good: Vec<u16> = nearer.map(|(port, _)| port).collect();
        if good.len() == 1 { good[0] } else { good[random.below(good.len() as u32) as usize] }
    };
    let direct = port(home, random);
    let mut ends: Vec<u32> = wiring.endpoints().iter().map(|e| e.router).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.retain(|&s| s != at && s != home);
    let mut best: Option<(u32, u16, u32)> = None;
    for _ in 0..candidates {
        let via = ends[random.below(ends.len() as u32) as usize];
        let first = port(via, random);
        let cost = (far(at, via) + far(via, home)) * UnequalQueues.used(first);
        if best.is_none_or(|(least, ..)| cost < least) {
            best = Some((cost, first, via));
        }
    }
    match best {
        Some((least, first, via))
            if UnequalQueues.used(direct) > shortest
                && far(at, home) * UnequalQueues.used(direct) > least =>
        {
            (first, Some(via))
        }
        _ => (direct, None),
    }
}

/// A network whose switches have more different lists of ports than fit in 16 bits.
const IRREGULAR: &str = "jellyfish:n=400,k=16,p=1,seed=1";

#[test]
fn any_number_of_choices_is_that_of_shortest_paths() {
    let on = built(IRREGULAR);
    let wiring = RouterWiring::of(&on, |_| 1).expect("one rail each");
    let minimal =
        MinimalAdaptiveRouting::new(on, LaneClasses::any(1), &QuietWatch).expect("it is small");
    let choices =
        PortChoicesByDestination::of(&minimal, 0, &wiring, &QuietWatch).expect("nobody stops");
    let (hops, mut different) = (hops_between(&wiring), BTreeSet::new());
    for (at, goal) in (0..400).flat_map(|at| (0..400).map(move |goal| (at, goal))) {
        let far = |s: u32| hops[s as usize][goal as usize];
        let nearer = |p: &Port| p.leads_to().is_some_and(|to| far(to) < far(at));
        let ports = (0..).zip(wiring.ports(at)).filter(|(_, p)| nearer(p)).map(|(n, _)| n);
        let expected: Vec<u16> = ports.collect();
        let mut found = choices.ports(at, goal).to_vec();
        found.sort_unstable();
        assert_eq!(found, expected, "{at} to {goal}");
        different.insert(expected);
    }
    assert!(different.len() > 1 << 15, "{} lists", different.len());
}

#[test]
fn ugal_l_chooses_by_hops_and_the_first_queue() {
    for net in NETS.into_iter().chain([IRREGULAR]) {
        let on = built(net);
        let wiring = Arc::new(RouterWiring::of(&on, |_| 1).expect("one rail each"));
        let classes = LaneClasses { classes: 12, width: 2 };
        let minimal =
            MinimalAdaptiveRouting::new(on.clone(), classes, &QuietWatch).expect("it is small");
        let via = VerifiedRouting::scheme(ValiantDetourRouting::by_hop(minimal), &QuietWatch)
            .expect("nobody stops");
        let via = via.expect("lanes rise");
        let (ends, hops) = (wiring.endpoints(), hops_between(&wiring));
        let mut detours = 0;
        for (candidates, least) in [(1, 0), (4, 0), (64, 0), (4, 3)] {
            let choosing =
                PathSelectionParameters { candidates, threshold: None, least_queue: Some(least) };
            let guide =
                DetourGuide::via(&via, PathSelection::UgalL, choosing, &wiring, &QuietWatch);
            let guide = guide.expect("few");
            let layout =
                FlitLayout::new(ends.len() as u32, 1, guide.vias(), 0, 1000).expect("small");
            let mut random = FastRandomStream::new(6, "choices", 0);
            for (source, target) in (0..2000).map(|k: usize| (k * 7 % ends.len(), k % ends.len())) {
                let (at, home) = (ends[source].router, ends[target].router);
                if at == home {
                    continue;
                }
                let mut own = random;
                let expected = chosen(&wiring, &hops, (at, home, candidates, least), &mut own);
                let mut flit = layout.packet(target as u32, 0, 0);
                let (in_port, random) = (ends[source].port, &mut random);
                let mut here =
                    PacketPosition { router: at, in_port, lane: 0, sight: &UnequalQueues, random };
                let mut packet = PacketHeader::new(&mut flit, &layout);
                let port = guide.want(&mut here, &mut packet).port;
                let over = (packet.note() != 0).then(|| packet.via());
                assert_eq!((port, over), expected, "{net}: {at} to {home}");
                assert_eq!(*random, own, "{net}: as many draws");
                detours += u32::from(over.is_some());
            }
        }
        assert!(detours > 100, "{net}: {detours}");
    }
}

#[test]
fn nearest_ancestors_follow_their_scheme() {
    for net in ["fat_tree:levels=3,k=4", "fat_tree:levels=2,k=6", "k_ary_n_tree:k=2,n=3"] {
        let on = built(net);
        assert_eq!(on.geometry().form, PlaneStructure::Levels);
        let wiring = Arc::new(RouterWiring::of(&on, |_| 1).expect("one rail each"));
        let top = on.switches().iter().map(|s| s.level).max().unwrap_or(0);
        let rank: Vec<u32> = on.switches().iter().map(|s| u32::from(top - s.level)).collect();
        let scheme = UpDownAdaptiveRouting::new(on.clone(), rank.clone(), 4, &QuietWatch)
            .expect("it is small");
        let proved =
            VerifiedRouting::scheme(scheme, &QuietWatch).expect("nobody stops").expect("no cycle");
        let choosing = PathSelectionParameters::usual(PathSelection::Anca);
        let guide =
            CommonAncestorGuide::new(&proved, rank, choosing, &wiring, &QuietWatch).expect("few");
        let (most, _) = follow(&on, &*proved, &guide, &UnequalQueues);
        assert_eq!(most, 2 * u32::from(top), "{net}");
    }
}

/// Packets of every selection over these legs take only hops that their schemes offer.
fn legs_are_followed<B: RouteLegScheme + Clone>(
    net: &str,
    on: &Arc<Topology>,
    via: ValiantDetourRouting<B>,
) {
    let wiring = Arc::new(RouterWiring::of(on, |_| 1).expect("one rail each"));
    let edge: Vec<SwitchId> = on.edge_switches().into_iter().map(SwitchId).collect();
    let pairs = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b)));
    let reach = pairs.filter_map(|(a, b)| via.beneath().hops(a, b)).max().expect("some path");
    let choosing = PathSelectionParameters::usual(PathSelection::Par);
    let mut calm = 0;
    for far in [1, reach] {
        let par = ProgressiveAdaptiveRouting::new(via.clone(), reach, far);
        let par = VerifiedRouting::scheme(par, &QuietWatch).expect("no stop").expect("lanes rise");
        let guide =
            DetourGuide::progressive(&par, choosing, &wiring, &QuietWatch).expect("few lists");
        let (most, _) = follow(on, &*par, &guide, &UnequalQueues);
        assert!(most > reach.into() && most <= 2 * u32::from(reach) + 1, "{net}: {most} hops");
        let (most, least) = follow(on, &*par, &guide, &EmptyQueues);
        assert!(most <= reach.into(), "{net}: nobody turns where nothing is queued");
        calm = least;
    }
    let via = VerifiedRouting::scheme(via, &QuietWatch).expect("no stop").expect("lanes rise");
    let guide =
        DetourGuide::via(&via, PathSelection::UgalL, choosing, &wiring, &QuietWatch).expect("few");
    let (most, detours) = follow(on, &*via, &guide, &UnequalQueues);
    assert!(most <= 2 * u32::from(reach) && detours > calm, "{net}: {detours}, {calm} hops");
}

#[test]
fn packets_that_turn_follow_their_scheme() {
    for net in NETS {
        let on = built(net);
        let classes = LaneClasses { classes: 13, width: 1 };
        let leg =
            MinimalAdaptiveRouting::new(on.clone(), classes, &QuietWatch).expect("it is small");
        legs_are_followed(net, &on, ValiantDetourRouting::by_hop(leg));
    }
    for net in ["dragonfly:h=2", "dragonfly:h=2,g=4", "megafly:leaves=3"] {
        let on = built(net);
        let classes = LaneClasses { classes: 5, width: 2 };
        let leg = GroupMinimalRouting::new(on.clone(), classes, &QuietWatch).expect("groups");
        legs_are_followed(net, &on, ValiantDetourRouting::by_group(leg));
    }
}
