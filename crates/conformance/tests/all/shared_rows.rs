//! Compares results for tables whose rows terminals share with a plain walk over whole tables.

use base::{ChannelId, QuietWatch, SwitchId, TerminalId};
use engines::engine;
use engines::lanes::{LaneAssignmentMethod, LaneAssignmentRules, spread};
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::tables::{LaneAssignment, NO_ROUTE, Routing, ServiceLevels, Sl2VlMapping};
use families::family;
use measure::load::edge_load::edge_load;
use proptest::prelude::*;
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verify::complete::TableDestination;
use verify::{RouteLimits, Verdict, verify};

fn build(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    let family = family(&recipe.family).expect("a family");
    Arc::new(family.build(&recipe.params).expect("a member"))
}

const NETWORKS: [&str; 6] = [
    "slim_fly:q=4,p=3",
    "torus:shape=4x3,p=3",
    "fat_tree:levels=3,k=4",
    "multi_plane:planes=2,of=ring:n=5,p=2",
    "dragonfly:a=3,p=2,h=1",
    "hyperx:shape=3x3,p=1",
];

/// A virtual channel: a channel and a lane of it.
type VirtualChannel = (ChannelId, u8);

/// The result of a plain walk over whole tables, path by path.
#[derive(Default)]
struct ReferenceWalkResult {
    /// The first destination that some source does not reach, and that source.
    broken: Option<(u32, TerminalId, SwitchId)>,
    routes: u64,
    histogram: BTreeMap<usize, u64>,
    loads: Vec<u64>,
    turns: BTreeSet<(VirtualChannel, VirtualChannel)>,
}

impl ReferenceWalkResult {
    fn of(routing: &Routing, next: &[u16]) -> Self {
        let on = routing.topology();
        let (s, t) = (on.switches().len(), on.terminals().len());
        let mut plain = Self { loads: vec![0; on.links().len() * 2], ..Self::default() };
        for (layer, to) in routing.destinations() {
            let row = &next[(layer as usize * t + to.ix()) * s..][..s];
            let home = on.terminals()[to.ix()].plug;
            let delivers = row[home.switch.ix()] == home.port;
            if !delivers && plain.broken.is_none() {
                plain.broken = Some((layer, to, home.switch));
            }
            for v in (0..s).map(SwitchId::from) {
                let here = on.terminals_on(v).iter().filter(|&&x| on.terminal_is_up(x));
                let from: Vec<TerminalId> = here.copied().collect();
                if from.is_empty() || on.plane_of(from[0]) != on.plane_of(to) {
                    continue;
                }
                let (mut at, mut path) = (v, Vec::new());
                while let Some((channel, then)) =
                    on.hop(at, row[at.ix()]).filter(|_| path.len() < s)
                {
                    plain.loads[channel.0 as usize] += from.len() as u64;
                    path.push(channel);
                    at = then;
                }
                let arrives = delivers && at == home.switch && path.len() < s;
                if !arrives && plain.broken.is_none() {
                    plain.broken = Some((layer, to, v));
                }
                plain.routes += 1;
                if v != home.switch {
                    *plain.histogram.entry(path.len()).or_default() += 1;
                }
                for source in from {
                    plain.turn(routing, source, (layer, to), &path);
                }
            }
        }
        plain
    }

    fn turn(
        &mut self,
        routing: &Routing,
        from: TerminalId,
        to: (u32, TerminalId),
        path: &[ChannelId],
    ) {
        let on = routing.topology();
        let sl = routing.service_level(from, to.0, to.1);
        let mut input = on.terminals()[from.ix()].plug.port;
        let mut held = None;
        for &channel in path {
            let tail = on.tail(channel);
            let lane = routing.lanes().sl2vl().lane(tail.switch, input, tail.port, sl);
            if let Some(held) = held {
                self.turns.insert((held, (channel, lane)));
            }
            held = Some((channel, lane));
            input = on.head(channel).port;
        }
    }

    /// Whether the turns have no cycle: channels that no turn leads to are removed until none is
    /// left or none can be removed.
    fn is_free(&self) -> bool {
        let mut left = self.turns.clone();
        loop {
            let entered: BTreeSet<VirtualChannel> = left.iter().map(|(_, to)| *to).collect();
            let before = left.len();
            left.retain(|(from, _)| entered.contains(from));
            if left.len() == before {
                return left.is_empty();
            }
        }
    }
}

fn agree(routing: &Routing) -> Result<(), TestCaseError> {
    let next = routing.next();
    let plain = ReferenceWalkResult::of(routing, &next);
    let found = verify(routing, RouteLimits::NONE, &QuietWatch).expect("quiet");
    prop_assert_eq!(&edge_load(routing, &QuietWatch).expect("quiet").routes, &plain.loads);
    match (&found.complete, plain.broken) {
        (Verdict::Fails(found), Some((layer, to, from))) => {
            prop_assert_eq!(found.to, TableDestination::Terminal(layer, to));
            prop_assert_eq!(&found.path[0], &routing.topology().switches()[from.ix()].name);
        }
        (Verdict::Holds(reach), None) => {
            let histogram = reach.histogram.iter().copied().enumerate().filter(|(_, n)| *n > 0);
            prop_assert_eq!(histogram.collect::<BTreeMap<_, _>>(), plain.histogram.clone());
            prop_assert_eq!(reach.routes, plain.routes);
            match found.deadlock.as_ref().expect("routes arrive") {
                Verdict::Holds(numbering) => {
                    prop_assert!(plain.is_free());
                    prop_assert_eq!(numbering.dependencies, plain.turns.len() as u64);
                    prop_assert_eq!(&found.rechecked, &Some(Ok(())));
                    let rises = |(from, to): &(VirtualChannel, VirtualChannel)| {
                        let lanes = usize::from(numbering.lanes);
                        let of = |(c, lane): VirtualChannel| {
                            numbering.number[c.0 as usize * lanes + usize::from(lane)]
                        };
                        of(*from) < of(*to)
                    };
                    prop_assert!(plain.turns.iter().all(rises));
                }
                Verdict::Fails(_) => prop_assert!(!plain.is_free()),
            }
        }
        (found, plain) => prop_assert!(false, "{found:?}, plainly {plain:?}"),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn shared_rows_are_judged_as_whole_ones(
        network in 0..NETWORKS.len(),
        name in prop::sample::select(vec!["min_hop", "sssp", "ecmp", "lash"]),
        layers in 1_u32..3,
        changes in prop_oneof![
            2 => Just(Vec::new()), 1 => prop::collection::vec((any::<u32>(), any::<u16>()), 1..4)
        ],
        levels in prop::option::of(prop::collection::vec(0_u8..3, 7)),
        by_hops in any::<bool>(),
    ) {
        let on = build(NETWORKS[network]);
        let entry = engine(name).expect("an engine");
        let Ok(routed) = entry.route(&Map::new(), &on, layers, &QuietWatch) else { return Ok(()) };
        let mut next = routed.next();
        let s = on.switches().len();
        for (at, port) in changes {
            let at = at as usize % next.len();
            let ports = on.switches()[at % s].ports + 2;
            next[at] = Some(port % ports).filter(|p| *p < ports - 1).unwrap_or(NO_ROUTE);
        }
        let to_switch = routed.to_switch().to_vec();
        let mut routing = Routing::new(on.clone(), layers, next.clone(), to_switch);
        prop_assert_eq!(routing.next(), next);
        if let Some(levels) = levels {
            let of = (0..routing.entries()).map(|i| levels[i * i % 7]).collect();
            let lanes = LaneAssignment::new(ServiceLevels::BySwitch(of), Sl2VlMapping::modulo(3));
            routing = routing.with_lanes(lanes);
        } else if by_hops {
            let method = LaneAssignmentMethod::Hops;
            let how = LaneAssignmentRules { method, max_lanes: 8, balance: false, seed: 0 };
            // lanes exist only for tables without routing loops
            if let Ok(done) = spread(routing.clone(), &how, &QuietWatch) {
                routing = done;
            }
        }
        agree(&routing)?;
    }
}
