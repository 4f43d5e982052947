//! Compares candidates with all paths, enumerated one by one, and their proof with the cycles of
//! these.

use base::{ChannelId, LinkId, QuietWatch, SwitchId};
use engines::engine;
use fabric::network::{Topology, parse_inline};
use fabric::tables::Routing;
use fabric::tables::candidates::{
    CandidateHop, CandidateScheme, ForwardingTableScheme, LaneClasses, MinimalAdaptiveRouting,
    PacketRoutingState, RouteLegScheme, UpDownAdaptiveRouting, ValiantDetourRouting,
};
use families::family;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use verify::checker::recheck_scheme;
use verify::deadlock::ChannelNumbering;
use verify::scheme::{SchemeDeadlockFreedomProof, SchemeFlaw, prove};
use verify::{RouteLimits, Verdict, VerifiedRouting, verify};

pub(crate) fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("a member"))
}

/// A network in which every `every`-th link has failed, from link `first` on.
pub(crate) fn damaged(inline: &str, first: usize, every: usize) -> Arc<Topology> {
    let on = network(inline);
    let links: Vec<LinkId> = (first..on.links().len()).step_by(every).map(LinkId::from).collect();
    Arc::new(on.with_failures(&links, &[]).expect("links that exist"))
}

/// A path as its channels.
type ChannelPath = Vec<ChannelId>;
/// A virtual channel: a channel and a lane of it.
pub(crate) type VirtualChannel = (u32, u8);
/// All pairs of a virtual channel that packets hold and one that they then want.
pub(crate) type TurnPairs = BTreeSet<(VirtualChannel, VirtualChannel)>;
/// The lanes of a hop, by leg (0 for paths of one leg) and number of hops before.
type LanesOfHop<'a> = &'a dyn Fn(u8, usize) -> Range<u8>;

/// All paths between switches that carry endpoints, by an independent slow search.
struct ReferencePaths {
    out: Vec<Vec<(ChannelId, usize)>>,
    paths: BTreeMap<(usize, usize), Vec<ChannelPath>>,
}

impl ReferencePaths {
    /// The shortest paths among those for which `may` allows every next hop after the hops before.
    fn new(on: &Topology, may: impl Fn(&[(usize, usize)]) -> bool) -> Self {
        let mut out = vec![Vec::new(); on.switches().len()];
        for l in (0..on.links().len()).map(LinkId::from).filter(|&l| on.link_is_up(l)) {
            for c in [l.forth(), l.back()] {
                out[on.tail(c).switch.ix()].push((c, on.head(c).switch.ix()));
            }
        }
        let mut plain = Self { out, paths: BTreeMap::new() };
        let edge: Vec<usize> = on.edge_switches().iter().map(|&s| s as usize).collect();
        let plane = |s: usize| on.switches()[s].plane;
        for &s in &edge {
            for &d in edge.iter().filter(|&&d| d != s && plane(d) == plane(s)) {
                let paths = (1..edge.len() * 2).map(|hops| plain.of_length(s, d, hops, &may));
                let shortest = paths.into_iter().find(|paths| !paths.is_empty());
                plain.paths.insert((s, d), shortest.expect("a path"));
            }
        }
        plain
    }

    fn of_length(
        &self,
        s: usize,
        d: usize,
        hops: usize,
        may: &impl Fn(&[(usize, usize)]) -> bool,
    ) -> Vec<ChannelPath> {
        let mut found = Vec::new();
        let mut open = vec![(s, Vec::<(usize, usize)>::new(), ChannelPath::new())];
        while let Some((at, steps, path)) = open.pop() {
            if path.len() == hops {
                if at == d {
                    found.push(path);
                }
                continue;
            }
            for &(c, to) in &self.out[at] {
                let steps: Vec<(usize, usize)> = [&steps[..], &[(at, to)]].concat();
                if to != s && steps.iter().all(|(v, _)| *v != to) && may(&steps) {
                    open.push((to, steps, [&path[..], &[c]].concat()));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The pairs that packets hold and then want, over one leg, or directly and over two.
    fn pairs(&self, lanes: LanesOfHop<'_>, two_legs: bool) -> TurnPairs {
        let mut all = TurnPairs::new();
        for (&(s, m), paths) in &self.paths {
            let legs = if two_legs { vec![0, 1] } else { vec![0] };
            for (path, leg) in paths.iter().flat_map(|w| legs.iter().map(move |leg| (w, *leg))) {
                insert(&mut all, &on_lanes(path, leg, 0, lanes));
            }
            for (&(_, d), onward) in self.paths.range((m, 0)..(m + 1, 0)).filter(|_| two_legs) {
                assert_ne!(d, m, "paths lead elsewhere, {s} {m}");
                for first in paths {
                    for second in onward {
                        let mut path = on_lanes(first, 0, 0, lanes);
                        path.extend(on_lanes(second, 1, first.len(), lanes));
                        insert(&mut all, &path);
                    }
                }
            }
        }
        all
    }
}

fn on_lanes(
    path: &ChannelPath,
    leg: u8,
    before: usize,
    lanes: LanesOfHop<'_>,
) -> Vec<(u32, Range<u8>)> {
    path.iter().enumerate().map(|(hop, c)| (c.0, lanes(leg, before + hop))).collect()
}

fn insert(all: &mut TurnPairs, path: &[(u32, Range<u8>)]) {
    for pair in path.windows(2) {
        for a in pair[0].1.clone() {
            all.extend(pair[1].1.clone().map(|b| ((pair[0].0, a), (pair[1].0, b))));
        }
    }
}

/// Whether the pairs have a cycle: channels that no packet waits for are removed, again and again.
pub(crate) fn has_cycle(pairs: &TurnPairs) -> bool {
    let mut left = pairs.clone();
    loop {
        let wanted: BTreeSet<VirtualChannel> = left.iter().map(|(_, b)| *b).collect();
        let before = left.len();
        left.retain(|(a, _)| wanted.contains(a));
        if left.len() == before {
            return before > 0;
        }
    }
}

/// Whether the scheme is proved. Its verdict must be that of all its pairs, and its evidence right.
pub(crate) fn agrees(case: &str, scheme: &impl CandidateScheme, pairs: &TurnPairs) -> bool {
    match prove(scheme, &QuietWatch).expect("not interrupted") {
        Verdict::Holds(SchemeDeadlockFreedomProof { numbering, .. }) => {
            assert!(!has_cycle(pairs), "{case}");
            assert_eq!(numbering.dependencies, pairs.len() as u64, "{case}");
            let lanes = usize::from(numbering.lanes);
            let number =
                |held: VirtualChannel| numbering.number[held.0 as usize * lanes + held.1 as usize];
            assert!(pairs.iter().all(|(a, b)| number(*a) < number(*b)), "{case}");
            true
        }
        Verdict::Fails(SchemeFlaw::Deadlock(cycle)) => {
            let held: Vec<VirtualChannel> =
                cycle.waits.iter().map(|w| (w.held.0.0, w.held.1)).collect();
            assert!(held.len() > 1, "{case}");
            for i in 0..held.len() {
                let pair = (held[i], held[(i + 1) % held.len()]);
                assert!(pairs.contains(&pair), "{case}: nobody waits so");
                assert!(cycle.waits[i].route.starts_with("packets to "), "{case}");
            }
            false
        }
        Verdict::Fails(flaw) => panic!("{case}: {flaw}"),
    }
}

/// All paths that the scheme allows from `s` to `goal` in a state, with their lanes.
pub(crate) fn followed(
    scheme: &impl CandidateScheme,
    (s, goal, state): (usize, u32, u32),
) -> Vec<Vec<(u32, Range<u8>)>> {
    let mut found = Vec::new();
    let mut open = vec![(SwitchId::from(s), state, Vec::new())];
    while let Some((at, state, path)) = open.pop() {
        if at == scheme.home(goal) {
            found.push(path);
            continue;
        }
        let mut next = Vec::new();
        scheme.next(at, PacketRoutingState { goal, state }, &mut next);
        for c in next {
            let mut path = path.clone();
            path.push((c.channel.0, c.lanes()));
            open.push((c.to, c.state, path));
        }
    }
    found.sort_unstable_by_key(|path| path.iter().map(|(c, _)| *c).collect::<Vec<u32>>());
    found
}

/// The paths of a scheme whose goals are switches are the plain ones, from `state` on, on `leg`.
fn same_paths(
    case: &str,
    scheme: &impl CandidateScheme,
    plain: &ReferencePaths,
    lanes: LanesOfHop<'_>,
    (leg, state): (u8, u32),
) {
    for (&(s, d), paths) in &plain.paths {
        let wanted: Vec<_> = paths.iter().map(|path| on_lanes(path, leg, 0, lanes)).collect();
        assert_eq!(followed(scheme, (s, d as u32, state)), wanted, "{case}: {s} to {d}");
    }
}

fn minimal(on: &Arc<Topology>, lanes: LaneClasses) -> MinimalAdaptiveRouting {
    MinimalAdaptiveRouting::new(on.clone(), lanes, &QuietWatch).expect("a small network")
}

#[test]
fn minimal_paths_and_their_waits_are_all_that_there_are() {
    for (inline, failed, diameter) in [
        ("slim_fly:q=5,p=1", false, 2),
        ("slim_fly:q=5,p=1", true, 4),
        ("torus:shape=4x3,p=1", false, 3),
        ("hyperx:shape=3x3,p=2", false, 2),
        ("k_ary_n_tree:k=2,n=3", false, 4),
        ("multi_plane:planes=2,of=ring:n=5,p=2", false, 2),
    ] {
        let on = if failed { damaged(inline, 3, 7) } else { network(inline) };
        let plain = ReferencePaths::new(&on, |_| true);
        for (classes, width) in [(diameter, 1), (diameter, 2), (diameter - 1, 1), (1, 2)] {
            let case = format!("{inline}, {classes} classes of {width}");
            let scheme = minimal(&on, LaneClasses { classes, width });
            let lanes = |_: u8, hop: usize| {
                let class = (hop as u8).min(classes - 1);
                class * width..(class + 1) * width
            };
            same_paths(&case, &scheme, &plain, &lanes, (0, 0));
            let free = agrees(&case, &scheme, &plain.pairs(&lanes, false));
            assert!(free || classes < diameter, "{case}: a lane a hop is always enough");
        }
    }
}

#[test]
fn a_lane_too_few_is_found_with_its_cycle() {
    let on = network("slim_fly:q=5,p=1");
    let plain = ReferencePaths::new(&on, |_| true);
    for (classes, free) in [(4, true), (3, false), (2, false), (1, false)] {
        let scheme = ValiantDetourRouting::by_hop(minimal(&on, LaneClasses { classes, width: 1 }));
        let lanes = |_: u8, hop: usize| {
            let class = (hop as u8).min(classes - 1);
            class..class + 1
        };
        let case = format!("over an intermediate switch, {classes} lanes");
        assert_eq!(agrees(&case, &scheme, &plain.pairs(&lanes, true)), free, "{case}");
        for (leg, state) in [(0, 0), (1, u32::from(classes))] {
            same_paths(&case, &scheme, &plain, &lanes, (leg, state));
        }
        if free {
            let Ok(Verdict::Holds(freedom)) = prove(&scheme, &QuietWatch) else { panic!("{case}") };
            assert_eq!(freedom.max_hops, 4, "two legs of two hops");
        }
    }
}

#[test]
fn paths_up_and_down_need_one_lane_and_two_where_they_are_taken_twice() {
    let by_level = |on: &Topology| -> Vec<u32> {
        on.switches().iter().map(|s| u32::from(u8::MAX - s.level)).collect()
    };
    for (inline, on) in [
        ("k_ary_n_tree:k=2,n=3", network("k_ary_n_tree:k=2,n=3")),
        ("jellyfish:n=12,k=3,p=1,seed=2", network("jellyfish:n=12,k=3,p=1,seed=2")),
        ("a damaged hyperx", damaged("hyperx:shape=3x3,p=1", 3, 7)),
    ] {
        let is_tree = inline.starts_with("k_ary");
        let rank = if is_tree { by_level(&on) } else { on.graph().distances_from(2) };
        let plain = ReferencePaths::new(&on, |steps| {
            let up = |(v, w): &(usize, usize)| (rank[*w], *w) < (rank[*v], *v);
            steps.windows(2).all(|pair| up(&pair[0]) || !up(&pair[1]))
        });
        let scheme = |lanes| {
            UpDownAdaptiveRouting::new(on.clone(), rank.clone(), lanes, &QuietWatch).expect("paths")
        };
        for lanes in [1, 2] {
            let all = |_: u8, _: usize| 0..lanes;
            same_paths(inline, &scheme(lanes), &plain, &all, (0, 0));
            assert!(agrees(inline, &scheme(lanes), &plain.pairs(&all, false)), "{inline}");
        }
        let apart = |leg: u8, _: usize| leg..leg + 1;
        let twice = ValiantDetourRouting::by_leg(scheme(1));
        assert!(agrees(inline, &twice, &plain.pairs(&apart, true)), "{inline}");
        let squeezed = ChangedCandidateScheme {
            of: twice,
            how: |_, c: &mut Vec<CandidateHop>| {
                for c in c {
                    c.lane = 0;
                }
            },
        };
        let one = |_: u8, _: usize| 0..1;
        assert!(!agrees(inline, &squeezed, &plain.pairs(&one, true)), "{inline}: down, then up");
    }
}

/// A scheme whose candidates at a switch are changed.
struct ChangedCandidateScheme<C, F> {
    of: C,
    how: F,
}

impl<C: CandidateScheme, F: Fn(SwitchId, &mut Vec<CandidateHop>) + Sync> CandidateScheme
    for ChangedCandidateScheme<C, F>
{
    fn topology(&self) -> &Topology {
        self.of.topology()
    }
    fn lanes(&self) -> u8 {
        self.of.lanes()
    }
    fn states(&self) -> u32 {
        self.of.states()
    }
    fn goals(&self, to: base::TerminalId, found: &mut Vec<u32>) {
        self.of.goals(to, found);
    }
    fn home(&self, goal: u32) -> SwitchId {
        self.of.home(goal)
    }
    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        self.of.starts(source, goal, found);
    }
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let mut own = Vec::new();
        self.of.next(at, heading, &mut own);
        (self.how)(at, &mut own);
        found.extend(own);
    }
    fn ends(&self, state: u32) -> bool {
        self.of.ends(state)
    }
    fn onward(&self, at: SwitchId, state: u32, goal: u32, found: &mut Vec<u32>) {
        self.of.onward(at, state, goal, found);
    }
}

#[test]
fn packets_that_strand_or_wander_are_found() {
    let on = network("slim_fly:q=5,p=1");
    let two = LaneClasses { classes: 2, width: 1 };
    let stranded = ChangedCandidateScheme {
        of: minimal(&on, two),
        how: |at: SwitchId, c: &mut Vec<CandidateHop>| {
            if at == SwitchId(7) {
                c.clear();
            }
        },
    };
    match prove(&stranded, &QuietWatch).expect("not interrupted") {
        Verdict::Fails(SchemeFlaw::Stranded(why)) => {
            assert!(why.ends_with(&on.switches()[7].name), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let graph = on.graph();
    let wanders = ChangedCandidateScheme {
        of: minimal(&on, LaneClasses::any(1)),
        how: |at: SwitchId, c: &mut Vec<CandidateHop>| {
            let all = graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix()));
            let more = all.filter(|(w, _)| [7, 8, 9].contains(*w));
            c.extend(more.map(|(w, channel)| CandidateHop {
                channel: *channel,
                to: SwitchId(*w),
                state: 0,
                lane: 0,
                width: 1,
            }));
        },
    };
    let found = prove(&wanders, &QuietWatch).expect("not interrupted");
    assert!(matches!(found, Verdict::Fails(SchemeFlaw::Wanders(_))), "{found:?}");
}

fn route(on: &Arc<Topology>, name: &str, layers: u32) -> Routing {
    let options = json!({}).as_object().cloned().unwrap_or_default();
    engine(name).expect("an engine").route(&options, on, layers, &QuietWatch).expect("tables")
}

/// The proof of tables and that of what packets may do by them share nothing but the graph.
#[test]
fn tables_are_schemes_too() {
    for (inline, name, layers) in [
        ("slim_fly:q=5,p=2", "dfsssp", 3),
        ("torus:shape=4x4,p=1", "dor", 1),
        ("torus:shape=4x4,p=1", "min_hop", 2),
        ("fat_tree:levels=3,k=4", "ftree", 2),
        ("multi_plane:planes=2,of=ring:n=5,p=2", "up_down", 1),
    ] {
        let (case, routing) =
            (format!("{name} on {inline}"), route(&network(inline), name, layers));
        let known = verify(&routing, RouteLimits::NONE, &QuietWatch).expect("not interrupted");
        let Verdict::Holds(reach) = &known.complete else { panic!("{case}") };
        let scheme = ForwardingTableScheme::new(routing.clone());
        match (prove(&scheme, &QuietWatch).expect("not interrupted"), known.deadlock) {
            (Verdict::Holds(found), Some(Verdict::Holds(numbering))) => {
                assert_eq!(found.numbering.dependencies, numbering.dependencies, "{case}");
                assert_eq!(found.max_hops, reach.max_hops(), "{case}");
                let twice = prove(&ValiantDetourRouting::by_leg(scheme), &QuietWatch)
                    .expect("not interrupted");
                let Verdict::Holds(twice) = twice else { panic!("{case}") };
                assert_eq!(twice.max_hops, reach.max_hops() * 2, "{case}");
            }
            (Verdict::Fails(SchemeFlaw::Deadlock(_)), Some(Verdict::Fails(_))) => {
                assert_eq!(name, "min_hop", "{case}");
            }
            other => panic!("{case}: {other:?}"),
        }
    }
}

#[test]
fn the_checker_refuses_numbers_that_do_not_rise() {
    let on = network("torus:shape=4x3,p=1");
    let plain = ReferencePaths::new(&on, |_| true);
    let scheme = ValiantDetourRouting::by_hop(minimal(&on, LaneClasses { classes: 6, width: 1 }));
    let Ok(Verdict::Holds(freedom)) = prove(&scheme, &QuietWatch) else {
        panic!("six hops, six lanes")
    };
    let numbers = &freedom.numbering;
    let check = |numbering: &ChannelNumbering| {
        recheck_scheme(&scheme, numbering, &QuietWatch).expect("not interrupted")
    };
    assert_eq!(check(numbers), Ok(()));
    let pairs = plain.pairs(&|_, hop| hop as u8..hop as u8 + 1, true);
    let place = |held: VirtualChannel| held.0 as usize * 6 + usize::from(held.1);
    for &(held, wanted) in pairs.iter().step_by(pairs.len() / 50) {
        let mut wrong = numbers.clone();
        wrong.number[place(wanted)] = wrong.number[place(held)];
        assert!(check(&wrong).is_err(), "{held:?} and {wanted:?} have one number");
    }
    let mut short = numbers.clone();
    short.number.truncate(place((0, 3)));
    assert!(check(&short).is_err());
    let few = ChannelNumbering { lanes: 5, ..numbers.clone() };
    assert!(check(&few).is_err());
}

#[test]
fn only_what_holds_is_verified() {
    let on = network("torus:shape=4x4,p=1");
    let proved = |name| {
        VerifiedRouting::routing(route(&on, name, 1), RouteLimits::NONE, &QuietWatch)
            .expect("not interrupted")
    };
    let why = proved("min_hop").expect_err("a cycle");
    assert!(why.complete.holds() && !why.holds());
    assert!(matches!(why.deadlock, Some(Verdict::Fails(_))), "the cycle is reported");
    let dor = proved("dor").expect("free of deadlock");
    assert_eq!(dor.engine(), "dor");
    // FNV-1a, by its definition
    let numbers = dor.numbering().number.iter().flat_map(|n| n.to_le_bytes());
    let digest = std::iter::once(dor.numbering().lanes).chain(numbers);
    let digest = digest.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    assert_eq!(dor.digest(), digest);
    assert_ne!(proved("up_down").expect("free of deadlock").digest(), digest);
    let few = VerifiedRouting::scheme(minimal(&on, LaneClasses::any(3)), &QuietWatch);
    assert!(matches!(few, Ok(Err(SchemeFlaw::Deadlock(_)))));
    let enough = minimal(&on, LaneClasses { classes: 4, width: 1 });
    let enough =
        VerifiedRouting::scheme(enough, &QuietWatch).expect("not interrupted").expect("four hops");
    assert_eq!(enough.hops(SwitchId(0), SwitchId(10)), Some(4), "the scheme is at hand");
}
