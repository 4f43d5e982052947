//! Every engine keeps its promise on every example of every family, with one route and with three.

use crate::page_engine;
use base::QuietWatch;
use base::distance::distances_among;
use engines::{ENGINES, EngineEntry};
use fabric::Topology;
use fabric::tables::Routing;
use std::sync::Arc;
use verify::RouteLimits;

/// Whether every route between endpoints has as many hops as the switches are apart.
fn is_minimal(routing: &Routing) -> bool {
    let on = routing.topology();
    let proof = verify::verify(routing, RouteLimits::NONE, &QuietWatch).expect("quiet");
    let verify::Verdict::Holds(reach) = proof.complete else { return false };
    let routed: u64 = reach.histogram.iter().zip(0_u64..).map(|(n, hops)| n * hops).sum();
    // no route is shorter than the distance, so it suffices to compare sums
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

/// Every example of every family that is small and connected, with its name.
fn networks() -> Vec<(String, Arc<Topology>)> {
    let recipes =
        families::FAMILIES.iter().flat_map(|f| f.examples().into_iter().map(move |r| (f, r)));
    let mut found = Vec::new();
    for (family, recipe) in recipes {
        let t = Arc::new(family.build(&recipe.params).expect("an example"));
        let apart = distances_among(t.graph(), &t.edge_switches(), &QuietWatch).expect("quiet");
        if t.switches().len() <= 130 && (apart.unreachable == 0 || t.planes() > 1) {
            found.push((recipe.to_string(), t));
        }
    }
    found
}

/// The parts of its promise that an engine does not keep, and the number of the networks that it
/// routes.
fn broken(entry: &EngineEntry, networks: &[(String, Arc<Topology>)]) -> (Vec<String>, u32) {
    let (mut broken, mut routed) = (Vec::new(), 0);
    for (name, t) in networks {
        for (layers, options) in [1, 3].into_iter().zip(entry.examples()) {
            let Ok(routing) = entry.route(&options, t, layers, &QuietWatch) else { continue };
            let place = format!("{} {options:?} of {name}, {layers} layers", entry.part.name);
            if entry.promise.minimal && !is_minimal(&routing) {
                broken.push(format!("not minimal: {place}"));
            }
            if entry.promise.deadlock_free {
                let proof =
                    verify::verify(&routing, RouteLimits::NONE, &QuietWatch).expect("quiet");
                if !proof.holds() {
                    broken.push(format!("can deadlock: {place}"));
                }
            }
            routed += 1;
        }
    }
    (broken, routed)
}

#[test]
fn every_engine_keeps_its_promise() {
    let networks = networks();
    for entry in ENGINES.iter().chain([&page_engine::ENTRY]) {
        let (broken, routed) = broken(entry, &networks);
        assert_eq!(broken, Vec::<String>::new());
        assert!(routed > 3, "{} routes nothing", entry.part.name);
    }
}

/// The draft in docs/adding-an-engine.md, and the fault that its test shows.
#[test]
fn a_promise_that_is_not_kept_is_caught() {
    let mut draft = page_engine::ENTRY;
    draft.promise.deadlock_free = true;
    let mut networks = networks();
    networks.retain(|(name, _)| name.starts_with("torus:"));
    let (broken, _) = broken(&draft, &networks);
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/adding-an-engine.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, after) = page.split_once("```text\n").expect("a block of text");
    let (said, _) = after.split_once("\n```").expect("its end");
    assert!(!broken.is_empty());
    assert!(broken.iter().all(|sentence| sentence.starts_with(said)), "{broken:?}");
}
