//! Every engine keeps its promise on every example of every family, with one route and with three.

use base::Quiet;
use base::distance::distances_among;
use engines::ENGINES;
use fabric::tables::Routing;
use std::sync::Arc;
use verify::Limits;

/// Whether every route between endpoints has as many hops as the switches are apart.
fn is_minimal(routing: &Routing) -> bool {
    let on = routing.topology();
    let proof = verify::verify(routing, Limits::NONE, &Quiet).expect("quiet");
    let verify::Verdict::Holds(reach) = proof.complete else { return false };
    let routed: u64 = reach.histogram.iter().zip(0_u64..).map(|(n, hops)| n * hops).sum();
    // no route is shorter than the distance, so that it is the sums that are compared
    let mut least = 0_u64;
    let edge = on.edge_switches();
    for &source in &edge {
        let from = on.graph().distances_from(source as usize);
        for &to in &edge {
            let terminals = on.terminals_on(base::SwitchId(to));
            let up = terminals.iter().filter(|&&t| on.terminal_is_up(t)).count() as u64;
            let same = on.switches()[to as usize].plane == on.switches()[source as usize].plane;
            if same {
                least += u64::from(from[to as usize]) * up;
            }
        }
    }
    routed == least * u64::from(routing.layers())
}

#[test]
fn every_engine_keeps_its_promise() {
    let mut kept = std::collections::BTreeMap::new();
    for family in families::FAMILIES {
        for recipe in family.examples() {
            let t = Arc::new(family.build(&recipe.params).expect("an example"));
            let small = distances_among(t.graph(), &t.edge_switches(), &Quiet).expect("quiet");
            if t.switches().len() > 130 || small.unreachable > 0 && t.planes() == 1 {
                continue;
            }
            for entry in ENGINES {
                for (layers, options) in [1, 3].into_iter().zip(entry.examples()) {
                    let Ok(routing) = entry.route(&options, &t, layers, &Quiet) else { continue };
                    let place = format!("{} {options:?} of {recipe}, {layers} layers", entry.name);
                    if entry.promise.minimal {
                        assert!(is_minimal(&routing), "not minimal: {place}");
                    }
                    if entry.promise.deadlock_free {
                        let proof = verify::verify(&routing, Limits::NONE, &Quiet).expect("quiet");
                        assert!(proof.holds(), "can deadlock: {place}");
                    }
                    *kept.entry(entry.name).or_insert(0) += 1;
                }
            }
        }
    }
    for entry in ENGINES {
        assert!(kept.get(entry.name).copied().unwrap_or(0) > 3, "{} routes nothing", entry.name);
    }
}
