//! Edge lists, `GraphML` and JSON against networkx's files and against themselves.

use base::{LinkId, SwitchId};
use fabric::network::Topology;
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NetworkRecipe, Switch, TopologyBuilder,
};
use formats::graph_file::{dot, edge_list, graphml, json, read_any};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};

const PETERSEN: &str = include_str!("data/nx_petersen.graphml");
const MULTI: &str = include_str!("data/nx_multi.graphml");
const DIRECTED: &str = include_str!("data/nx_directed.graphml");
const EDGES: &str = include_str!("data/nx_petersen.edges");

/// Number of working links between each pair of switches, by name.
fn pairs(t: &Topology) -> BTreeMap<(String, String), u32> {
    let mut pairs = BTreeMap::new();
    for (i, l) in t.links().iter().enumerate() {
        if t.link_is_up(LinkId::from(i)) {
            let name = |p: CablePlug| t.switches()[p.switch.ix()].name.clone();
            let (a, b) = (name(l.a), name(l.b));
            *pairs.entry((a.clone().min(b.clone()), a.max(b))).or_default() += 1;
        }
    }
    pairs
}

fn counts(t: &Topology) -> Vec<(String, usize)> {
    let on = |i: usize| t.terminals_on(SwitchId::from(i)).len();
    t.switches().iter().enumerate().map(|(i, s)| (s.name.clone(), on(i))).collect()
}

/// The Petersen graph: 3-regular on 10 vertices, adjacent ones share no neighbour, others one.
fn is_petersen(t: &Topology) -> bool {
    let mut adjacent = [[0_u8; 10]; 10];
    for l in t.links() {
        let (a, b) = (l.a.switch.ix(), l.b.switch.ix());
        (adjacent[a][b], adjacent[b][a]) = (1, 1);
    }
    let common = |a: usize, b: usize| (0..10).map(|c| adjacent[a][c] * adjacent[b][c]).sum::<u8>();
    (0..10).all(|a| common(a, a) == 3)
        && (0..10).all(|a| (0..a).all(|b| common(a, b) == 1 - adjacent[a][b]))
}

fn assert_equal(a: &Topology, b: &Topology) {
    assert_eq!(a.recipe(), b.recipe());
    assert_eq!(a.switches(), b.switches());
    assert_eq!(a.links(), b.links());
    assert_eq!(a.endpoints(), b.endpoints());
    assert_eq!(a.terminals(), b.terminals());
    assert_eq!(a.graph(), b.graph());
}

fn built(inline: &str) -> Topology {
    let recipe = fabric::network::parse_inline(inline).expect("well formed");
    let family = families::family(&recipe.family).expect("a family");
    family.build(&recipe.params).expect("a member")
}

/// The message of the reader about `text` with a fault in it, unless it is the expected one: a
/// refusal that names the file, begins with what stands before `~` and continues with what stands
/// after it.
fn unexpected_message(
    text: &str,
    (old, new): (&str, &str),
    name: &str,
    expected: &str,
) -> Option<String> {
    assert!(text.contains(old), "{old}");
    let message = read_any(&text.replacen(old, new, 1), name, None);
    let message = message.map_or_else(|r| r.to_string(), |_| "accepted".to_owned());
    let (start, rest) = expected.split_once('~').unwrap_or((expected, ""));
    let good = message.starts_with(start) && message[start.len()..].contains(rest);
    (!good).then(|| format!("{new}: {message}"))
}

#[test]
fn files_of_networkx_are_read() {
    let t = read_any(PETERSEN, "p.graphml", None).expect("a good file");
    assert!(is_petersen(&t));
    let expected: Vec<_> = (0..10).map(|v| (format!("sw{v}"), v % 3)).collect();
    assert_eq!(counts(&t), expected);
    assert!(t.switches().iter().enumerate().all(|(v, s)| s.group == v as u32 / 5));
    let t = read_any(EDGES, "p.edges", Some(2)).expect("a good file");
    assert!(is_petersen(&t));
    assert_eq!(counts(&t), (0..10).map(|v| (v.to_string(), 2)).collect::<Vec<_>>());
    let t = read_any(MULTI, "m.graphml", None).expect("a good file");
    assert_eq!(t.links().len(), 3);
    assert_eq!(pairs(&t), BTreeMap::from([(("a".into(), "b".into()), 2)]));
    let cable = Cable { speed: InfinibandLaneSpeed::EDR, width: 1, length_m: Some(2.5), up: true };
    assert_eq!((t.links()[0].cable, t.links()[1].cable), (cable, Cable::default()));
    assert!(!t.links()[2].cable.up && t.switches()[2].name == "c & d");
    let t = read_any(DIRECTED, "d.graphml", None).expect("a good file");
    assert_eq!((t.switches().len(), t.links().len(), t.endpoints().len()), (4, 4, 0));
    assert_eq!(t.recipe().to_string(), "file:path=d.graphml,format=graphml");
}

#[test]
fn edge_lists_mean_what_they_say() {
    let t = read_any("# x\n10 9 # y\n9\t10\n  9 2\n7\n", "e.edges", None).expect("a good list");
    let names: Vec<&str> = t.switches().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["2", "7", "9", "10"], "in order of the numbers");
    assert_eq!(pairs(&t)[&("10".into(), "9".into())], 2);
    let t = read_any("b a\nendpoints a 3\na c\n", "e", None).expect("a good list");
    assert_eq!(counts(&t), [("b".into(), 0), ("a".into(), 3), ("c".into(), 0)]);
    // remarks as other programs write them; below our own head names may begin so
    let text = "% three nodes\na b\n// of one circle\nb c\n %x\nc a\n";
    let (mut same, t) = (text.to_owned(), read_any(text, "e.edges", None).expect("a good list"));
    assert_eq!((t.switches().len(), t.links().len()), (3, 3));
    same.insert_str(0, "# edge list\n");
    let refused = read_any(&same, "e", None).expect_err("no remark").to_string();
    assert!(refused.starts_with("e: line 2: '% three nodes' is not understood"), "{refused}");
    let t = read_any("# edge list\n% //b\n//b c\nc %\n", "e", None).expect("a good list");
    assert_eq!((t.switches().len(), t.links().len()), (3, 3));
    for (text, p, expected) in [
        ("a b\nb b\n", None, "e: line 2: a link joins b to itself"),
        ("a b c\n", None, "e: line 1: 'a b c' is not understood"),
        ("0 1 {'weight': 2}\n", None, "data=False"),
        ("graph g {\n a -- b;\n}\n", None, "networks are read from ibnetdiscover"),
        ("a b\nendpoints a x\n", None, "e: line 2: 'x' is no number of endpoints; expected 0 to "),
        ("a b\nendpoints a 1\nendpoints a 1\n", None, "e: line 3: the endpoints of a come twice"),
        ("a b\nb c\nc b\nb a\n", None, "e: line 4: every link of the list comes in both"),
        ("a b\nendpoints a 4000000000\n", None, "e: 4000000000 endpoints on one switch"),
        ("a b\nendpoints a 1\n", Some(4), "e: p: the file has its own endpoints"),
        ("  \n# only remarks\n", None, "e: there is no network in it"),
        ("", None, "e: there is no network in it"),
    ] {
        let refusal = read_any(text, "e", p).expect_err(expected).to_string();
        assert!(refusal.contains(expected) && refusal.starts_with("e: "), "{refusal}");
    }
}

#[test]
fn bad_graphml_is_refused_with_its_line() {
    let mut missed = Vec::new();
    let first_node = "<node id=\"a\" />";
    for (old, new, expected) in [
        ("</graph>", "", "m: line 21: not well-formed XML"),
        (first_node, "<node id=\"b\" />", "m: line 9: id 'b' comes twice"),
        (first_node, "<node />", "m: line 8: a <node> without id"),
        (first_node, "", "m: line 11: the source 'a' of an edge is not a node"),
        (first_node, "<node id=\"a\"><graph/></node>", "m: line 8: a graph inside a node"),
        (first_node, "<node id=\"a\" /><hyperedge/>", "m: line 8: a hyperedge"),
        ("target=\"b\" id=\"1\"", "target=\"a\"", "m: line 16: an edge joins a node to itself"),
        ("<data key=\"d0\">1", "<data key=\"d0\">3", "m: line 11: width is 3"),
        ("EDR", "FAST", "m: line 11: speed is 'FAST'"),
        ("2.5", "-2", "m: line 11: length_m is '-2'"),
        ("undirected", "directed", "m: line 11: a directed edge without its opposite"),
        ("graphml ", "x:graphml xmlns:x=\"y\" ", "m: line ~not well-formed XML"),
    ] {
        missed.extend(unexpected_message(MULTI, (old, new), "m", expected));
    }
    assert_eq!(missed, Vec::<String>::new());
    let refusal = read_any("<!DOCTYPE html>\n<html></html>", "m", None).expect_err("HTML");
    assert!(refusal.to_string().starts_with("m: "), "{refusal}");
    let deep = "<graphml>".to_owned() + &"<a>".repeat(200_000);
    assert!(read_any(&deep, "m", None).is_err());
}

/// A network that uses every field, with terminals that are not grouped by endpoint.
fn odd() -> Topology {
    let mut b = TopologyBuilder::new();
    for i in 0..4_u32 {
        b.switch(Switch {
            guid: (i > 1).then_some(u64::MAX - u64::from(i)),
            lid: (i > 2).then_some(77),
            ports: 11,
            plane: (i / 2) as u16,
            level: i as u8,
            up: i != 3,
            ..Switch::new(format!("a \"b\" <{i}> é\\")).at(i * 3, vec![i, 0])
        });
    }
    let plug = |s: u32, port: u16| CablePlug { switch: SwitchId(s), port };
    let cable = Cable { speed: InfinibandLaneSpeed::NDR, width: 2, length_m: Some(0.1), up: false };
    b.link_at(plug(0, 9), plug(1, 1), cable);
    b.link_at(plug(1, 0), plug(0, 0), Cable::default());
    b.link_at(plug(2, 0), plug(3, 0), Cable { length_m: Some(3.0), ..Cable::default() });
    let ends: Vec<_> =
        (0..3).map(|i| b.endpoint(format!("h{i}"), Some(i).filter(|i| *i > 0))).collect();
    for plane in 0..2_u16 {
        for (i, e) in ends.iter().enumerate() {
            let id = b.attach(*e, SwitchId(u32::from(plane) * 2 + i as u32 % 2), 0, cable);
            let terminal = b.terminal_mut(id);
            terminal.rail = plane;
            terminal.lid = Some(id.0 as u16 + 9);
            terminal.port_guid = Some(1 << 63 | u64::from(id.0));
        }
    }
    let mut params = serde_json::Map::new();
    params.insert("x".into(), 0.1.into());
    params.insert("y".into(), serde_json::json!([1, {"z": 5e-324}]));
    b.finish(NetworkRecipe { family: "odd".into(), params }).expect("a valid network")
}

#[test]
fn json_tells_everything() {
    let whole = odd();
    assert_equal(&read_any(&json::write(&whole), "j", None).expect("readable"), &whole);
    let t = built("slim_fly:q=5,p=4");
    let t = t.with_failures(&[LinkId(3)], &[SwitchId(7)]).expect("they exist");
    assert_equal(&read_any(&json::write(&t), "j", None).expect("readable"), &t);
    let fabric = read_any(include_str!("data/ibnetdiscover_base.txt"), "b", None).expect("good");
    assert_equal(&json::read(&json::write(&fabric), "j").expect("readable"), &fabric);
    let value: serde_json::Value = serde_json::from_str(&json::write(&t)).expect("JSON");
    assert_eq!(value["links"][3][4]["up"], false);
    assert_eq!(value["switches"][7]["up"], false);
}

const JSON: &str = r#"{"flyloom": 1, "recipe": {"family": "file", "params": {}},
"switches": [{"name": "x"},
 {"name": "y", "ports": 3}],
"links": [[0, 0, 1, 3, null]],
"endpoints": [{"name": "h", "rails": [[0, 0, null, null],
 [1, 1]]}]}"#;

#[test]
fn json_by_hand_is_read_and_its_faults_are_named() {
    let t = read_any(JSON, "j", None).expect("a good file");
    assert_eq!((t.links()[0].a.port, t.links()[0].b.port), (2, 3));
    assert_eq!((t.terminals()[1].rail, t.switches()[0].ports, t.switches()[1].ports), (1, 2, 3));
    let mut missed = Vec::new();
    for (old, new, expected) in [
        ("\"ports\": 3", "\"port\": 3", "j: line 3: column ~unknown field `port`"),
        ("\"params\"", "\"u\": 1, \"params\"", "j: line 1: column ~unknown field `u`"),
        ("\"flyloom\": 1", "\"flyloom\": 2", "j: its version is 2; this program reads version 1"),
        ("\"flyloom\": 1,", "", "j: there is no \"flyloom\" field"),
        ("[0, 0, 1, 3, null]", "[0, 0, 2, 3, null]", "j: links[0]: switch 2 does not exist"),
        ("[0, 0, 1, 3, null]", "[0, 0, 1, 4, null]", "j: switch y: port 4 does not exist"),
        ("[0, 0, 1, 3, null]", "[0, 0, 0, 3, null]", "j: links: a cable joins switch x to itself"),
        ("3, null]", "3, {\"width\": 5}]", "j: links[0]: width 5"),
        ("3, null]", "3, {\"speed\": \"FAST\"}]", "j: line 4: column "),
        ("3, null]", "3, {\"length_m\": -1.0}]", "j: links[0]: length_m -1"),
        ("[1, 1]", "[1, 1, null, {\"id\": 0}]", "j: endpoints: a rail has no id"),
        ("[1, 1]", "[1, 3]", "j: switch y: port 3 has two cables"),
        ("[1, 1]", "[1, 70000]", "j: line 6: column "),
        ("\"ports\": 3", "\"guid\": \"12\"", "j: line 3: column ~'12' is no GUID"),
        ("\"ports\": 3", "\"plane\": 65535", "j: switches[1]: plane 65535"),
        ("]]}]}", "]]}]", "j: line 6: column "),
    ] {
        missed.extend(unexpected_message(JSON, (old, new), "j", expected));
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn what_is_written_for_people_reads_back_as_far_as_it_tells() {
    let t = built("slim_fly:q=4,p=2").with_failures(&[LinkId(3)], &[]).expect("it exists");
    for back in [
        read_any(&edge_list::write(&t), "e", None).expect("readable"),
        read_any(&graphml::write(&t), "g", None).expect("readable"),
    ] {
        assert_eq!(pairs(&back), pairs(&t));
        assert_eq!(counts(&back), counts(&t));
    }
    let bare = built("slim_fly:q=4,p=0");
    let back = read_any(&edge_list::write(&bare), "e", Some(3)).expect("readable");
    assert_eq!((back.endpoints().len(), pairs(&back)), (96, pairs(&bare)));
    let whole = odd();
    let back = read_any(&graphml::write(&whole), "g", None).expect("readable");
    assert_eq!(pairs(&back), pairs(&whole));
    let seen: Vec<_> =
        back.switches().iter().map(|s| (&s.name, s.group, s.level, s.plane)).collect();
    let expected: Vec<_> =
        whole.switches()[..3].iter().map(|s| (&s.name, s.group, s.level, s.plane)).collect();
    assert_eq!(seen, expected);
    assert_eq!(back.links()[0].cable, whole.links()[0].cable);
    let back = read_any(&edge_list::write(&whole), "e", None).expect("readable");
    assert_eq!(back.switches()[0].name, "a_\"b\"_<0>_é\\");
    let text = dot::write(&whole);
    assert!(
        text.contains("label=\"a \\\"b\\\" <0> é\\\\") && text.contains("  0 -- 1 [style=dashed];")
    );
}

/// Edge lists as networkx, SNAP, Graph Golf, people and flyloom write them.
#[test]
fn edge_lists_of_other_programs_are_read() {
    let ring = "a b\nb c\nc a\n";
    for (text, name, links) in [
        ("0 1 {}\n1 2 {}\n", "write_edgelist.txt", 2),
        ("0 1\n1 2\n2 0\n", "data_false.txt", 3),
        ("#/tmp/x.py\n# GMT Mon Nov  2 2026\n# \nx y\ny z\nz x\n", "write_adjlist.txt", 3),
        ("# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n0\t2\n", "snap.txt", 3),
        ("0 4\r\n4 7\r\n7 0\r\n", "of_windows", 3),
        ("\u{feff}0 1\n1 2\n0 2", "of_an_editor", 3),
        ("sw-a1:3 sw-b1:4\nsw-a1:3 sw-b1:4\n", "parallel", 2),
        ("  leaf(0,1)   spine/0  # 5 m\nleaf(0,2) spine/0\nleaf(0,1) leaf(0,2)\n", "by_hand", 3),
        (ring, "ring", 3),
        ("hub a\nhub b\n", "star.edges", 2),
        ("hub a\nhub b\n", "star.edgelist", 2),
        ("hub a\nhub b\n", "star.el.gz", 2),
        ("\n # edge list of a star\nhub a\nhub b\nlone\n", "star.txt", 2),
        ("hub a\nhub b\nendpoints a 2\n", "star", 2),
        ("a b\nc d\nendpoints a 0\n", "two_pieces", 2),
    ] {
        let t = read_any(text, name, None).unwrap_or_else(|r| panic!("{name}: {r}"));
        assert_eq!(t.links().len(), links, "{name}");
    }
    let t = read_any("hub a\nhub b\n", "star", Some(3)).expect("p says that it is a network");
    assert_eq!(t.endpoints().len(), 9);
}

/// Texts with lines of one word or two that a machine has, and texts that are nearly an edge list.
#[test]
fn text_of_two_words_a_line_is_no_network() {
    for (text, why) in [
        ("multi on\n", "no cycle"), // /etc/host.conf
        ("import os\n", "no cycle"),
        ("import os\nimport sys\nimport json\n", "no cycle"),
        ("ref: refs/heads/main\n", "no cycle"), // .git/HEAD
        ("nameserver 10.0.0.2\nsearch example.org\n", "2 pieces"), // /etc/resolv.conf
        ("127.0.0.1 localhost\n::1 localhost\n", "no cycle"), // /etc/hosts
        ("@include common-auth\n@include common-account\n", "no cycle"), // /etc/pam.d
        ("-----BEGIN CERTIFICATE-----\nMIIB\nAbC=\n-----END CERTIFICATE-----\n", "3 pieces"),
        ("passwd: files\ngroup: files\nhosts: files\n", "no cycle"), // /etc/nsswitch.conf
        ("CREATE_HOME yes\nUMASK 022\nMAIL_DIR /var/mail\n", "3 pieces"), // /etc/login.defs
        ("Host *\nSendEnv LANG\n", "2 pieces"),
        ("Source: libfoo\nSubmit-As: foo\n", "2 pieces"),
        ("32768 60999\n", "no cycle"), // a range of ports
        ("4096 87380\n16384 4194304\n", "2 pieces"),
        ("application/gzip gz\napplication/zip zip\nimage/png png\n", "3 pieces"),
        ("el_GR el_GR.ISO8859-7\nel el_GR.ISO8859-7\nde de_DE\n", "2 pieces"), // locale.alias
        ("on close\non open\nclose open\nother line\n", "2 pieces"),
        ("endif()\nset(x 1)\nif x\n", "3 pieces"),
        ("alias ll\nalias la\n", "no cycle"),
        ("d41d8cd9 empty.txt\n900150 abc.txt\n", "2 pieces"), // sums of files
        ("a b\nc d\n", "2 pieces"),
    ] {
        let refusal = read_any(text, "some.txt", None).expect_err(text).to_string();
        assert!(refusal.starts_with("some.txt: ") && refusal.contains(why), "{refusal}");
        assert!(refusal.contains("'# edge list' as its first line"), "{refusal}");
    }
}

/// A lone switch whose name starts like a line of ibnetdiscover's is still an edge list's.
#[test]
fn names_that_look_like_a_fabric_are_read_back() {
    for name in ["[", "[1]x", "vendid=0x1", "switchguid"] {
        let mut b = TopologyBuilder::new();
        b.switch(Switch::new(name));
        let recipe = NetworkRecipe { family: "t".into(), params: serde_json::Map::new() };
        let t = b.finish(recipe).expect("a valid network");
        let back = read_any(&edge_list::write(&t), "e", None).map(|t| t.switches().len());
        assert_eq!(back.map_err(|r| r.to_string()), Ok(1), "{name}");
    }
}

/// Names that some format could trip over, and any others.
fn names() -> impl Strategy<Value = Vec<String>> {
    let nasty = proptest::sample::select(vec![
        "",
        " ",
        " a",
        "a ",
        "a",
        "a_b",
        "a b",
        "0",
        "1",
        "switch-0",
        "=1+1",
        "'=1",
        "\"",
        "\\",
        "\\\"",
        "<b>",
        "&amp;",
        "]]>",
        "#x",
        "a#b",
        "endpoints",
        "{}",
        "{",
        "digraph",
        "digraph{",
        "<",
        "< x",
        "[",
        "Unicast lids",
        "Switch",
        "é",
        "e\u{301}",
        "\u{a0}",
        "\u{3000}x",
        "\u{feff}",
        "\u{200f}",
        "\u{10ffff}",
        "a\tb",
        "a\nb",
        "a\rb",
        "\u{1b}[31m",
        "\u{85}",
        "\u{202e}x",
        "\u{2028}",
        "\0",
        "\u{fffe}",
        "\u{9b}",
        "\u{7f}",
        "digraph{",
        "digraph",
        "{",
        "comment",
        "a,b",
        "a;b",
        "S1",
        "H1",
        "-",
        "--",
        "->",
        "/",
        "..",
    ]);
    let name = prop_oneof![3 => nasty.prop_map(str::to_owned), 1 => ".*", 1 => "\\PC{0,300}"];
    proptest::collection::vec(name, 6)
}

/// Characters that no list shows unchanged, repeated here independently: all but tabs among them
/// break lines or move a cursor, or cannot be written as XML 1.0.
fn hidden(name: &str) -> bool {
    name.chars().any(|c| {
        let code = u32::from(c);
        code < 0x20
            || (0x7f..0xa0).contains(&code)
            || (0x2028..=0x202e).contains(&code)
            || (0x2066..=0x2069).contains(&code)
            || (0xfdd0..=0xfdef).contains(&code)
            || code % 0x1_0000 >= 0xfffe
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(campaign(200)))]
    #[test]
    fn campaign_any_network_survives_every_format(
        ends in proptest::collection::vec(
            (0_u32..6, 0_u32..6, 0_usize..8, any::<bool>(), any::<f32>()), 0..20),
        rails in proptest::collection::vec(
            (0_u32..6, 0_u16..5, proptest::option::of(any::<u64>())), 0..12),
        names in names(),
    ) {
        let mut b = TopologyBuilder::new();
        for name in &names {
            b.switch(Switch::new(name.as_str()));
        }
        for (x, y, speed, up, length) in ends.into_iter().filter(|e| e.0 != e.1) {
            let length_m = Some(length.abs()).filter(|l| l.is_finite());
            let cable = Cable { speed: InfinibandLaneSpeed::ALL[speed], width: 1, length_m, up };
            let at = |s| CablePlug { switch: SwitchId(s), port: 0 };
            b.link_at(at(x), at(y), cable);
        }
        let e: Vec<_> = (0..3).map(|i| b.endpoint(names[i].clone(), None)).collect();
        for (i, (s, rail, guid)) in rails.into_iter().enumerate() {
            let id = b.attach(e[i % 3], SwitchId(s), 0, Cable::default());
            b.terminal_mut(id).rail = rail;
            b.terminal_mut(id).port_guid = guid;
        }
        let recipe = NetworkRecipe { family: "t".into(), params: serde_json::Map::new() };
        let t = b.finish(recipe).expect("a valid network");
        let back = json::read(&json::write(&t), "j");
        let refusal = back.as_ref().err().map(ToString::to_string).unwrap_or_default();
        // endpoints have the first three of the names, so they differ where those of switches do
        let twice = names.iter().collect::<BTreeSet<_>>().len() < names.len()
            && refusal.contains("names must differ");
        if let Some(bad) = names.iter().find(|n| hidden(n)) {
            let is_reported = twice || refusal.contains("has the character U+");
            prop_assert!(is_reported, "{bad:?}: {refusal}");
            return Ok(());
        }
        if !twice {
            assert_equal(&back.expect("readable"), &t);
        }
        survives(&t, &names)?;
    }
}

/// A network written as GraphML and as an edge list reads back: links, endpoints and names, except
/// names that are not unique or that an edge list cannot write.
fn survives(t: &Topology, names: &[String]) -> Result<(), TestCaseError> {
    let pairs = |t: &Topology, up: bool| {
        let links = t.links().iter().filter(|l| l.cable.up || !up);
        let mut all: Vec<_> =
            links.map(|l| (l.a.switch.min(l.b.switch), l.a.switch.max(l.b.switch))).collect();
        all.sort_unstable();
        all
    };
    let back =
        read_any(&graphml::write(t), "g", None).map_err(|r| TestCaseError::fail(r.to_string()))?;
    prop_assert_eq!(pairs(&back, false), pairs(t, false));
    prop_assert_eq!(back.endpoints().len(), t.terminals().len());
    for (s, name) in back.switches().iter().zip(names) {
        // a switch without a name is called by its number
        let called =
            |(i, n): (usize, &String)| n == name || n.is_empty() && *name == format!("switch-{i}");
        let first = names.iter().enumerate().filter(|n| called(*n)).count() == 1;
        prop_assert!(s.name == *name || name.is_empty() || !first, "{:?} {:?}", s.name, name);
    }
    match read_any(&edge_list::write(t), "e", None) {
        Err(refusal) => {
            prop_assert!(refusal.to_string().contains("both directions"), "{}", refusal);
        }
        Ok(back) => {
            prop_assert_eq!(pairs(&back, true).len(), pairs(t, true).len());
            prop_assert_eq!(back.switches().len(), t.switches().len());
            let written: HashSet<_> = back.switches().iter().map(|s| s.name.clone()).collect();
            for name in names.iter().filter(|n| n.chars().all(|c| c.is_ascii_alphabetic())) {
                prop_assert!(name.is_empty() || written.contains(name), "{:?} {:?}", name, written);
            }
        }
    }
    Ok(())
}

/// The number of cases of a test: `few`, more in a campaign.
fn campaign(few: u32) -> u32 {
    let asked = std::env::var("FLYLOOM_CAMPAIGN").is_ok_and(|v| !v.is_empty());
    if asked { few * 50 } else { few }
}
