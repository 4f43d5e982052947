//! Digraphs of ORCS: routes as its program follows them, round trips, and faults.

use base::{QuietWatch, TerminalId};
use engines::engine;
use fabric::network::parse_inline;
use fabric::tables::{NO_ROUTE, Routing};
use families::family;
use formats::graph_file::{orcs, read_any};
use proptest::prelude::*;
use serde_json::Map;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use verify::{RouteLimits, verify};

fn routed(inline: &str, name: &str) -> Routing {
    let recipe = parse_inline(inline).expect("an inline form");
    let network = family(&recipe.family).expect("a family").build(&recipe.params).expect("built");
    let engine = engine(name).expect("an engine");
    engine.route(&Map::new(), &Arc::new(network), 1, &QuietWatch).expect("routed")
}

/// The nodes from host to host: at each node the first edge whose comment has the destination.
fn followed(text: &str, from: &str, to: &str) -> Vec<String> {
    let mut edges: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for line in text.lines() {
        let Some((tail, rest)) = line.split_once(" -> ") else { continue };
        let (head, rest) = rest.split_once(' ').expect("attributes");
        let comment = rest.split("comment=\"").nth(1).expect("a comment");
        let comment = comment.split('"').next().expect("its end");
        edges.entry(tail.trim()).or_default().push((head, comment));
    }
    let mut nodes = vec![from.to_owned()];
    while nodes.last().expect("a start") != to {
        assert!(nodes.len() < 100, "a loop: {nodes:?}");
        let out = &edges[nodes.last().expect("a start").as_str()];
        let fits = |comment: &str| comment.split(", ").any(|word| word == to || word == "*");
        let (head, _) = out.iter().find(|(_, comment)| fits(comment)).expect("an edge");
        nodes.push((*head).to_owned());
    }
    nodes
}

const CASES: [(&str, &str); 5] = [
    ("slim_fly:q=3,p=2", "dfsssp"),
    ("torus:shape=3x4,p=2", "dor"),
    ("fat_tree:leaves=4,spines=2,parallel=2,p=3", "ftree"),
    ("hyperx:shape=3x3,k=2x1,p=1", "sssp"),
    ("torus:shape=5,p=1", "min_hop"),
];

#[test]
fn the_routes_are_those_that_the_edges_spell() {
    for (inline, name) in CASES {
        let routing = routed(inline, name);
        let text = orcs::write(&routing).expect("one layer");
        let back = orcs::read_tables(&text, "f.dot").expect("our own file");
        let on = routing.topology();
        for (a, b) in (0..on.terminals().len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (ta, tb) = (TerminalId::from(a), TerminalId::from(b));
            let from = on.terminals()[ta.ix()].plug.switch;
            let mut wanted = vec![format!("H{}", a + 1), format!("S{}", from.0 + 1)];
            wanted.extend(routing.walk(0, tb, from).map(|hop| format!("S{}", hop.to.0 + 1)));
            wanted.push(format!("H{}", b + 1));
            assert_eq!(followed(&text, &wanted[0], &format!("H{}", b + 1)), wanted);
        }
        assert_eq!(back.next(), routing.next(), "{inline}");
        assert_eq!(back.topology().links().len(), on.links().len());
        let names = |r: &Routing| -> Vec<String> {
            let switches = r.topology().switches().iter().map(|s| s.name.clone());
            switches.chain(r.topology().endpoints().iter().map(|e| e.name.clone())).collect()
        };
        assert_eq!(names(&back), names(&routing));
        assert_eq!(orcs::write(&back).expect("one layer"), text);
        assert!(
            verify(&back, RouteLimits::NONE.hops(64), &QuietWatch)
                .expect("not stopped")
                .complete
                .holds()
        );
        let cabling = read_any(&text, "f.dot", None).expect("a network too");
        assert_eq!(cabling.links(), back.topology().links());
    }
}

/// A digraph with `hosts` hosts on each switch of a random multigraph, and random comments.
fn random_text(edges: &[(u8, u8)], hosts: &[u8], lists: &[Vec<u8>]) -> String {
    let mut text = String::from("strict digraph \"a b\" { /* x */ node [shape=box]; rankdir=LR\n");
    for (h, s) in hosts.iter().enumerate() {
        let _ = writeln!(text, "H{h} -> S{s} [comment=\"*\"]; S{s} -> H{h} [comment=\"H{h}\"]");
    }
    for ((a, b), list) in edges.iter().zip(lists.iter().cycle()) {
        let words: Vec<String> =
            list.iter().map(|h| format!("H{}", usize::from(*h) % hosts.len())).collect();
        let _ = writeln!(text, "\"S{a}\"->S{b} [weight = 1, comment=\"{}\"] // y", words.join(","));
    }
    text + "}\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_digraph_reads_as_its_edges_say_and_survives_a_round_trip(
        edges in proptest::collection::vec((0_u8..5, 0_u8..5), 1..20),
        hosts in proptest::collection::vec(0_u8..5, 1..8),
        lists in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..5), 1..9),
    ) {
        let edges: Vec<(u8, u8)> = edges.into_iter().filter(|(a, b)| a != b).collect();
        let text = random_text(&edges, &hosts, &lists);
        let routing = orcs::read_tables(&text, "f").expect("well formed");
        let on = routing.topology();
        prop_assert_eq!(on.endpoints().len(), hosts.len());
        // the first edge of a switch that lists a host is its entry, by its place in the file
        let place = |name: &str| on.switches().iter().position(|s| s.name == name);
        for (s, name) in (0_u8..5).filter_map(|s| Some((s, place(&format!("S{s}"))?))) {
            let of_hosts = hosts.iter().enumerate().filter(|(_, home)| **home == s);
            let mut out: Vec<Vec<usize>> = of_hosts.map(|(h, _)| vec![h]).collect();
            for ((a, _), list) in edges.iter().zip(lists.iter().cycle()) {
                if *a == s {
                    out.push(list.iter().map(|h| usize::from(*h) % hosts.len()).collect());
                }
            }
            for h in 0..hosts.len() {
                let wanted = out.iter().position(|list| list.contains(&h));
                let wanted = wanted.map_or(NO_ROUTE, |i| i as u16 + 1);
                prop_assert_eq!(routing.tree(0, TerminalId::from(h))[name], wanted);
            }
        }
        let written = orcs::write(&routing).expect("one layer");
        let back = orcs::read_tables(&written, "f").expect("our own file");
        prop_assert_eq!(back.next(), routing.next());
        prop_assert_eq!(orcs::write(&back).expect("one layer"), written);
    }
}

#[test]
fn faults_name_file_line_and_field() {
    let cases = [
        (
            "digraph {\nH1 -> S1 [comment=\"*\"]\nH1 -> S2 [comment=\"*\"]\n}",
            "line 3: a second cable",
        ),
        ("digraph {\nS1; H1 -> H2\n}", "line 2: H1 -> H2 joins two hosts"),
        ("digraph {\nS1 -> S1\n}", "line 2: S1 is joined to itself"),
        ("digraph {\nH1 S1 -> S2\n}", "H1 has no cable"),
        ("digraph {\nH1 }", "there is no switch"),
        ("digraph {\nS1 -> S2 [comment=\"H9\"]\n}", "line 2: comment: 'H9' is no host"),
        ("digraph {\nS1 -> S2\n}", "line 2: comment: there is none"),
        (
            "digraph {\nH1 -> S1 [comment=\"*\"]\nH2 -> S1 [comment=\"H2\"]\n}",
            "line 3: comment: a host's only cable",
        ),
        ("digraph {\nsubgraph x { S1 }\n}", "line 2: subgraphs"),
        ("digraph {\nS1 -> S2", "line 2: the file ends too early"),
        ("digraph {\nS1 -- S2\n}", "line 2: '-' is not understood"),
        ("digraph {\nS1 -> \"S2\n}", "line 2: a quoted text has no end"),
        ("digraph {\n}\nS1", "line 3: there is more after"),
        ("digraph {\nS1 -> ]\n}", "line 2: ']' where a name must stand"),
    ];
    for (text, wanted) in cases {
        let refusal = orcs::read_tables(text, "f.dot").expect_err(wanted).to_string();
        assert!(refusal.starts_with("f.dot: ") && refusal.contains(wanted), "{refusal}");
    }
}

#[test]
fn what_orcs_has_no_word_for_is_refused() {
    let recipe = parse_inline("torus:shape=4,p=1").expect("an inline form");
    let network = family("torus").expect("a family").build(&recipe.params).expect("built");
    let sssp = engine("sssp").expect("an engine");
    let layered = sssp.route(&Map::new(), &Arc::new(network), 2, &QuietWatch).expect("routed");
    assert!(orcs::write(&layered).expect_err("two layers").to_string().contains("layers 1"));
}
