//! Repair of tables of every engine after random failures: proofs, and brute-force cycle searches.

use base::ComputationError;
use base::seed::RandomStream;
use base::{LinkId, QuietWatch, SwitchId, TerminalId};
use engines::ENGINES;
use engines::repair::{RepairedTables, TableChangeSafety, TableEntryChange, repair};
use fabric::network::Topology;
use fabric::network::parse_inline;
use fabric::tables::{NO_ROUTE, Routing, Sl2VlMapping};
use families::family;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use verify::{RouteLimits, verify};

const NETWORKS: [&str; 9] = [
    "slim_fly:q=4,p=1",
    "torus:shape=4x3,p=2",
    "torus:shape=3x3x2,p=1",
    "mesh:shape=4x4,p=1",
    "dragonfly:h=2",
    "fat_tree:leaves=5,spines=3,parallel=2,p=2",
    "fat_tree:levels=3,k=4",
    "jellyfish:n=14,k=4,p=1,seed=2",
    "torus:shape=6,p=1",
];

fn network(inline: &str) -> Arc<Topology> {
    let recipe = parse_inline(inline).expect("an inline form");
    Arc::new(family(&recipe.family).expect("a family").build(&recipe.params).expect("a member"))
}

/// A virtual channel: a channel and a lane of it.
type VirtualChannel = (u32, u8);
/// All pairs of a virtual channel that packets hold and one that they then want.
type TurnPairs = BTreeSet<(VirtualChannel, VirtualChannel)>;
/// A layer, and a destination terminal in it.
type Destination = (u32, TerminalId);

/// The table of one destination while its entries change: at `step`, each switch has the port that
/// it has after that number of changes.
struct ForwardingTableDuringRepair<'a> {
    old: &'a [u16],
    changed: BTreeMap<SwitchId, (usize, u16)>,
    steps: usize,
    /// Whether packets may be in the network that crossed a cable before it failed.
    just_failed: bool,
}

impl ForwardingTableDuringRepair<'_> {
    /// The port of a switch after `step` changes, and the next step at which it is another.
    fn port(&self, at: SwitchId, step: usize) -> (u16, Option<usize>) {
        match self.changed.get(&at) {
            Some(&(when, port)) if step >= when => (port, None),
            Some(&(when, _)) => (self.old[at.ix()], Some(when)),
            None => (self.old[at.ix()], None),
        }
    }
}

/// A state of a packet: switch, in-port, virtual channel that it holds, service level, and the
/// earliest step.
type PacketState = (SwitchId, u16, Option<VirtualChannel>, u8, usize);

/// Finds all turns between channels that work in `damaged` that packets can take to one destination
/// while its entries change: a packet that waits at a switch meets the entry of that moment or of
/// any later one. Packets that crossed a cable before it failed met old entries only. Returns false
/// when a packet meets a loop.
fn turns_to(
    routing: &Routing,
    (layer, to): Destination,
    tables: &ForwardingTableDuringRepair,
    damaged: &Topology,
    found: &mut TurnPairs,
) -> bool {
    let on = routing.topology();
    let mut seen: BTreeSet<PacketState> = BTreeSet::new();
    let mut open: Vec<PacketState> = Vec::new();
    for from in (0..on.terminals().len()).map(TerminalId::from).filter(|f| *f != to) {
        if on.plane_of(from) == on.plane_of(to) && on.terminal_is_up(from) {
            let plug = on.terminals()[from.ix()].plug;
            let sl = routing.service_level(from, layer, to);
            open.push((plug.switch, plug.port, None, sl, 0));
        }
    }
    while let Some(state) = open.pop() {
        if !seen.insert(state) {
            continue;
        }
        let (at, input, held, sl, step) = state;
        let (port, later) = tables.port(at, step);
        if let Some(later) = later {
            open.push((at, input, held, sl, later));
        }
        let Some((channel, next)) = on.hop(at, port) else { continue };
        let works = damaged.link_is_up(channel.link());
        let was_working = works || tables.just_failed && step == 0;
        if !was_working {
            continue;
        }
        let lane = routing.lanes().sl2vl().lane(at, input, port, sl);
        let wanted = works.then_some((channel.0, lane));
        if let (Some(held), Some(wanted)) = (held, wanted) {
            found.insert((held, wanted));
        }
        open.push((next, on.head(channel).port, wanted, sl, step));
    }
    (0..=tables.steps).all(|step| {
        (0..on.switches().len()).all(|s| {
            let mut at = SwitchId::from(s);
            for _ in 0..on.switches().len() {
                match on.hop(at, tables.port(at, step).0) {
                    Some((channel, next)) if damaged.link_is_up(channel.link()) => at = next,
                    _ => return true,
                }
            }
            false
        })
    })
}

/// Finds the turns to all destinations by `tables`, while some of their entries change in order.
/// Each change is a destination, a switch and the new port.
fn turns(
    tables: &[u16],
    changes: &[(Destination, SwitchId, u16)],
    levels: &Routing,
    (damaged, just_failed): (&Topology, bool),
    found: &mut TurnPairs,
) -> bool {
    let on = levels.topology();
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let mut of: BTreeMap<Destination, Vec<(SwitchId, u16)>> = BTreeMap::new();
    for &(to, switch, port) in changes {
        of.entry(to).or_default().push((switch, port));
    }
    levels.destinations().all(|to| {
        let own = of.remove(&to).unwrap_or_default();
        let row = to.0 as usize * terminals + to.1.ix();
        let changed = (1..).zip(&own).map(|(i, c)| (c.0, (i, c.1))).collect();
        let old = &tables[row * switches..][..switches];
        let tables = ForwardingTableDuringRepair { old, changed, steps: own.len(), just_failed };
        turns_to(levels, to, &tables, damaged, found)
    })
}

/// The tables after these changes.
fn after(tables: &[u16], changes: &[(Destination, SwitchId, u16)], on: &Topology) -> Vec<u16> {
    let mut tables = tables.to_vec();
    for &(to, switch, port) in changes {
        let row = to.0 as usize * on.terminals().len() + to.1.ix();
        tables[row * on.switches().len() + switch.ix()] = port;
    }
    tables
}

/// Whether turns have no cycle: channels that wait for nothing are removed until none is left or
/// none can be removed.
fn is_free(turns: &TurnPairs) -> bool {
    let mut before: BTreeMap<VirtualChannel, Vec<VirtualChannel>> = BTreeMap::new();
    let mut waits: BTreeMap<VirtualChannel, usize> = BTreeMap::new();
    for &(a, b) in turns {
        before.entry(b).or_default().push(a);
        *waits.entry(a).or_insert(0) += 1;
        waits.entry(b).or_insert(0);
    }
    let mut free: Vec<VirtualChannel> =
        waits.iter().filter(|(_, n)| **n == 0).map(|(v, _)| *v).collect();
    let mut taken = 0;
    while let Some(v) = free.pop() {
        taken += 1;
        for a in before.get(&v).into_iter().flatten() {
            let n = waits.get_mut(a).expect("every turn was counted");
            *n -= 1;
            if *n == 0 {
                free.push(*a);
            }
        }
    }
    taken == waits.len()
}

/// Checks what a repair promises about the tables while they change: in each of its steps all turns
/// that packets can take have no cycle, and no packet meets a loop.
fn transition_is_safe(old: &Routing, done: &RepairedTables, draw: &mut RandomStream, case: &str) {
    let new = &done.routing;
    let (on, damaged) = (old.topology(), new.topology());
    for (i, change) in done.changes.iter().enumerate() {
        let was = old.tree(change.to.0, change.to.1)[change.switch.ix()];
        assert_eq!((was, change.port.0 == change.port.1), (change.port.0, false), "{case}");
        let again =
            |other: &TableEntryChange| (other.to, other.switch) == (change.to, change.switch);
        assert!(!done.changes[..i].iter().any(again), "{case}");
    }
    let mut entries: Vec<_> = done.changes.iter().map(|c| (c.to, c.switch, c.port.1)).collect();
    assert_eq!(after(&old.next(), &entries, on), new.next(), "{case}");
    let holds = |held: TurnPairs, step: &str| assert!(is_free(&held), "{case}: a cycle {step}");
    let free = |tables: &[u16], entries: &[_], levels: &[&Routing], step: &str| {
        let just_failed =
            !["levels", "stopped packets may"].iter().any(|later| step.contains(later));
        let mut held = TurnPairs::new();
        for levels in levels {
            let when = (&**damaged, just_failed);
            assert!(turns(tables, entries, levels, when, &mut held), "{case}: a loop {step}");
        }
        holds(held, step);
    };
    match done.safety {
        TableChangeSafety::Unknown => return,
        TableChangeSafety::AnyOrder => {
            draw.shuffle(&mut entries);
            free(&old.next(), &entries, &[old], "in any order");
        }
        TableChangeSafety::InOrder => free(&old.next(), &entries, &[old], "in order"),
        TableChangeSafety::Draining(_) => free(&new.next(), &[], &[new], "after draining"),
        TableChangeSafety::InSteps => {
            let stops: Vec<_> = done.stops.iter().map(|&(to, s)| (to, s, NO_ROUTE)).collect();
            let stopped = after(&old.next(), &stops, on);
            free(&old.next(), &stops, &[old], "while packets are stopped");
            free(&stopped, &[], &[old, new], "while levels change");
            free(&stopped, &entries, &[new], "while stopped packets may go on");
            let relevelled = done.levels.iter().map(|c| (c.to, c.source));
            let works = |(to, s): (Destination, SwitchId)| {
                arrives(&old.tree(to.0, to.1).to_vec(), to, s, damaged)
            };
            let works = done.stops.iter().copied().chain(relevelled).any(works);
            assert!(!works, "{case}: a working route stands still");
        }
    }
    if done.safety != TableChangeSafety::InSteps {
        assert!(done.stops.is_empty(), "{case}");
        assert!(
            done.levels.is_empty() || matches!(done.safety, TableChangeSafety::Draining(_)),
            "{case}"
        );
    }
}

/// Whether a switch reaches a destination over cables that work.
fn arrives(tree: &[u16], to: Destination, from: SwitchId, on: &Topology) -> bool {
    let (home, mut at) = (on.terminals()[to.1.ix()].plug.switch, from);
    for _ in 0..on.switches().len() {
        match on.hop(at, tree[at.ix()]) {
            _ if at == home => return true,
            Some((channel, next)) if on.link_is_up(channel.link()) => at = next,
            _ => return false,
        }
    }
    at == home
}

#[test]
fn campaign_repaired_tables_hold_and_the_transition_is_as_safe_as_promised() {
    let rounds = if std::env::var_os("FLYLOOM_CAMPAIGN").is_some() { 100 } else { 3 };
    let mut outcomes = [0_u32; 4];
    (0..rounds).for_each(|round| round_of_repairs(round, &mut outcomes));
    let all: u32 = outcomes.iter().sum();
    println!("any order, in order, in steps, drained: {outcomes:?} of {all}");
    assert!(outcomes.iter().all(|n| *n > 0), "{outcomes:?}");
    assert!(outcomes[3] * 10 <= all, "fewer than 90 % have an order: {outcomes:?}");
}

/// Repairs after one to four failures of the tables of every engine on every network.
fn round_of_repairs(round: u64, outcomes: &mut [u32; 4]) {
    for (n, name) in NETWORKS.iter().enumerate() {
        let on = network(name);
        for (e, entry) in ENGINES.iter().enumerate() {
            for (o, options) in entry.examples().iter().enumerate() {
                let layers = 1 + (n + e + o) as u32 % 2;
                let Ok(old) = entry.route(options, &on, layers, &QuietWatch) else { continue };
                for failures in 1..=4_u64 {
                    let index = ((n * 100 + e) * 100 + o) as u64 * 10 + failures;
                    let mut draw = RandomStream::new(9 + round, "failures", index);
                    let mut any = |n: usize| draw.below(n as u64) as usize;
                    let links: Vec<LinkId> =
                        (0..failures).map(|_| LinkId::from(any(on.links().len()))).collect();
                    let lost = (failures == 3).then(|| SwitchId::from(any(on.switches().len())));
                    let lost: Vec<SwitchId> = lost.into_iter().collect();
                    let damaged = Arc::new(on.with_failures(&links, &lost).expect("known ids"));
                    let case = format!("{name} {} {options:?} {links:?} {lost:?}", entry.part.name);
                    let done = match repair(&old, &damaged, &QuietWatch) {
                        Ok(done) => done,
                        Err(ComputationError::Refused(r))
                            if r.to_string().contains("disconnected") =>
                        {
                            continue;
                        }
                        Err(refused) => {
                            let lanes = old.lanes().sl2vl();
                            assert!(matches!(lanes, Sl2VlMapping::PerPort(_)), "{case}: {refused}");
                            continue;
                        }
                    };
                    let proof = verify(&done.routing, RouteLimits::NONE.hops(64), &QuietWatch)
                        .expect("not interrupted");
                    assert!(proof.complete.holds(), "{case}: {:?}", proof.complete);
                    assert!(proof.holds() || done.safety == TableChangeSafety::Unknown, "{case}");
                    assert!(done.least <= done.changes.len() as u64, "{case}");
                    transition_is_safe(&old, &done, &mut draw, &case);
                    outcomes[match done.safety {
                        TableChangeSafety::AnyOrder => 0,
                        TableChangeSafety::InOrder => 1,
                        TableChangeSafety::InSteps => 2,
                        TableChangeSafety::Draining(_) => 3,
                        TableChangeSafety::Unknown => continue,
                    }] += 1;
                }
            }
        }
    }
}
