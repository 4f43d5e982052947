//! Repair of tables of every engine after random failures: proofs, and brute-force cycle searches.

use base::seed::Stream;
use base::{LinkId, Quiet, SwitchId, TerminalId};
use net::network::Topology;
use net::repair::{Change, Repaired, Safety, repair};
use net::routing::{ENGINES, RouteError, Routing, Sl2Vl};
use net::topology::{family, parse_inline};
use net::verify::verify;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

/// A channel and a lane.
type Held = (u32, u8);
type Turns = BTreeSet<(Held, Held)>;

/// The turns between channels that work in `damaged` that packets of all paths over `tables` make,
/// with the lanes of `routing`; false when a path is endless. Packets that met a cable before it
/// died are under way with `old` tables alone.
fn turns(
    routing: &Routing,
    tables: &[u16],
    damaged: &Topology,
    old: bool,
    found: &mut Turns,
) -> bool {
    let on = routing.topology();
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    for (layer, to) in routing.destinations() {
        let tree = &tables[(layer as usize * terminals + to.ix()) * switches..][..switches];
        for from in (0..terminals).map(TerminalId::from).filter(|f| *f != to) {
            let sl = routing.service_level(from, layer, to);
            let plug = on.terminals()[from.ix()].plug;
            let (mut at, mut input, mut held, mut hops) = (plug.switch, plug.port, None, 0);
            if on.plane_of(from) != on.plane_of(to) || !on.terminal_is_up(from) {
                continue;
            }
            while let Some((channel, next)) = on.hop(at, tree[at.ix()]) {
                let lane = routing.lanes().sl2vl().lane(at, input, tree[at.ix()], sl);
                let works = damaged.link_is_up(channel.link());
                if !works && !old {
                    break;
                }
                if let (Some(held), true) = (held, works) {
                    found.insert((held, (channel.0, lane)));
                }
                held = works.then_some((channel.0, lane));
                (at, input, hops) = (next, on.head(channel).port, hops + 1);
                if hops > switches {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether turns close no circle: whoever waits for nobody is taken away until none is left.
fn is_free(turns: &Turns) -> bool {
    let mut before: BTreeMap<Held, Vec<Held>> = BTreeMap::new();
    let mut waits: BTreeMap<Held, usize> = BTreeMap::new();
    for &(a, b) in turns {
        before.entry(b).or_default().push(a);
        *waits.entry(a).or_insert(0) += 1;
        waits.entry(b).or_insert(0);
    }
    let mut free: Vec<Held> = waits.iter().filter(|(_, n)| **n == 0).map(|(v, _)| *v).collect();
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

/// What a repair promises about the tables while they change.
fn the_way_is_safe(old: &Routing, done: &Repaired, draw: &mut Stream, case: &str) {
    let damaged = done.routing.topology();
    let mut held = Turns::new();
    turns(old, old.next(), damaged, true, &mut held);
    let free_before = is_free(&held);
    let mut order: Vec<Change> = done.changes.clone();
    match done.safety {
        Safety::Unknown => return,
        Safety::AnyOrder => draw.shuffle(&mut order),
        Safety::InOrder => {}
        Safety::Draining(_) => order.clear(),
    }
    assert!(free_before, "{case}");
    let mut tables = old.next().to_vec();
    let on = old.topology();
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    let rare = 1 + draw.below(1 + order.len() as u64 / 8);
    for (i, change) in (1..).zip(&order) {
        let row = change.to.0 as usize * terminals + change.to.1.ix();
        let entry = &mut tables[row * switches + change.switch.ix()];
        assert_eq!((*entry, change.port.0 == change.port.1), (change.port.0, false), "{case}");
        *entry = change.port.1;
        if i == order.len() || draw.below(rare) == 0 {
            assert!(
                turns(&done.routing, &tables, damaged, false, &mut held),
                "{case}: a loop on the way"
            );
        }
    }
    if matches!(done.safety, Safety::Draining(_)) {
        held.clear();
        assert!(
            turns(&done.routing, done.routing.next(), damaged, false, &mut held),
            "{case}: a loop"
        );
    } else {
        assert_eq!(tables, done.routing.next(), "{case}");
        assert_eq!(done.relevelled, 0, "{case}");
    }
    assert!(is_free(&held), "{case}: a circle, {:?}", done.safety);
}

#[test]
fn repaired_tables_hold_and_the_way_there_is_as_safe_as_told() {
    let mut outcomes = [0_u32; 4];
    for (n, name) in NETWORKS.iter().enumerate() {
        let on = network(name);
        for (e, entry) in ENGINES.iter().enumerate() {
            for (o, options) in entry.examples().iter().enumerate() {
                let layers = 1 + (n + e + o) as u32 % 2;
                let Ok(old) = entry.route(options, &on, layers, &Quiet) else { continue };
                for failures in 1..=4_u64 {
                    let index = ((n * 100 + e) * 100 + o) as u64 * 10 + failures;
                    let mut draw = Stream::new(9, "failures", index);
                    let mut any = |n: usize| draw.below(n as u64) as usize;
                    let links: Vec<LinkId> =
                        (0..failures).map(|_| LinkId::from(any(on.links().len()))).collect();
                    let lost = (failures == 3).then(|| SwitchId::from(any(on.switches().len())));
                    let lost: Vec<SwitchId> = lost.into_iter().collect();
                    let damaged = Arc::new(on.with_failures(&links, &lost).expect("known ids"));
                    let case = format!("{name} {} {options:?} {links:?} {lost:?}", entry.name);
                    let done = match repair(&old, &damaged, &Quiet) {
                        Ok(done) => done,
                        Err(RouteError::Refused(r)) if r.to_string().contains("disconnected") => {
                            continue;
                        }
                        Err(refused) => {
                            let lanes = old.lanes().sl2vl();
                            assert!(matches!(lanes, Sl2Vl::PerPort(_)), "{case}: {refused}");
                            continue;
                        }
                    };
                    let proof = verify(&done.routing, 64, &Quiet).expect("not interrupted");
                    assert!(proof.complete.holds(), "{case}: {:?}", proof.complete);
                    assert!(proof.holds() || done.safety == Safety::Unknown, "{case}");
                    assert!(done.least <= done.changes.len() as u64, "{case}");
                    the_way_is_safe(&old, &done, &mut draw, &case);
                    outcomes[match done.safety {
                        Safety::AnyOrder => 0,
                        Safety::InOrder => 1,
                        Safety::Draining(why) if why.contains("new routes:") => 3,
                        Safety::Draining(_) => 2,
                        Safety::Unknown => continue,
                    }] += 1;
                }
            }
        }
    }
    assert!(outcomes.iter().all(|n| *n > 0), "{outcomes:?}");
}
