//! Attributes that mean something else to others, GML, node-link JSON, trees of Slurm and htsim,
//! dragonflies of CODES, and endpoints given to files that have none.

use base::SwitchId;
use fabric::network::{InfinibandLaneSpeed, Topology};
use formats::graph_file::{codes, read_any};
use std::fmt::Write as _;

fn read(text: &str) -> Topology {
    read_any(text, "f", None).unwrap_or_else(|refused| panic!("{refused}"))
}

fn refused(text: &str) -> String {
    read_any(text, "f", None).expect_err(text).to_string()
}

fn names(t: &Topology) -> Vec<&str> {
    t.switches().iter().map(|s| s.name.as_str()).collect()
}

/// A triangle as `GraphML`: a key each for nodes and for edges, and its values.
fn triangle(of_nodes: (&str, [&str; 3]), of_edges: (&str, [&str; 3])) -> String {
    let data = |key: &str, value: &str| {
        if value.is_empty() { String::new() } else { format!("<data key=\"{key}\">{value}</data>") }
    };
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE graphml SYSTEM \"http://a.example/g.dtd\">\n<graphml>\n\
         <key id=\"n\" for=\"node\" attr.name=\"{}\" attr.type=\"string\"/>\n\
         <key id=\"e\" for=\"edge\" attr.name=\"{}\" attr.type=\"int\"/>\n\
         <graph edgedefault=\"undirected\">\n",
        of_nodes.0, of_edges.0
    );
    for (id, value) in ["a", "b", "c"].iter().zip(of_nodes.1) {
        let _ = writeln!(text, "<node id=\"{id}\">{}</node>", data("n", value));
    }
    for ((x, y), value) in [("a", "b"), ("b", "c"), ("c", "a")].iter().zip(of_edges.1) {
        let _ = writeln!(text, "<edge source=\"{x}\" target=\"{y}\">{}</edge>", data("e", value));
    }
    text + "</graph>\n</graphml>\n"
}

#[test]
fn what_others_mean_by_an_attribute_is_left_out_with_a_remark() {
    let none = ("x", ["", "", ""]);
    let t = read(&triangle(none, none));
    assert_eq!((names(&t), t.links().len()), (vec!["a", "b", "c"], 3));
    assert!(t.aside().remarks.is_empty());
    for key in ["group", "level", "plane"] {
        let t = read(&triangle((key, ["1", "rack-b", "2"]), none));
        let all = t.switches().iter();
        assert!(all.into_iter().all(|s| (s.group, s.level, s.plane) == (0, 0, 0)), "{key}");
        let expect = format!("{key} 'rack-b' is no whole number (1 such): left out of all");
        assert_eq!(t.aside().remarks, [expect]);
    }
    let t = read(&triangle(none, ("speed", ["100", "100", "HDR"])));
    assert!(t.links().iter().all(|link| link.cable.speed == InfinibandLaneSpeed::HDR));
    assert_eq!(
        t.aside().remarks,
        ["speed '100' is no speed of InfiniBand (2 such): left out of all"]
    );
    let t = read(&triangle(none, ("width", ["2.5", "4", ""])));
    assert!(t.links().iter().all(|link| link.cable.width == 4));
    assert_eq!(t.aside().remarks.len(), 1);
    // a wrong value of an attribute of ours is refused as a mistake
    assert!(refused(&triangle(none, ("speed", ["HDRR", "", ""]))).contains("f: line 10: speed"));
    assert!(
        refused(&triangle(("endpoints", ["x", "", ""]), none)).contains("f: line 7: endpoints")
    );
}

#[test]
fn labels_are_names_where_they_differ() {
    let none = ("x", ["", "", ""]);
    let t = read(&triangle(("label", ["Switch a", "Switch b", ""]), none));
    assert_eq!(names(&t), ["Switch a", "Switch b", "c"]);
    for same in [["s", "s", "t"], ["c", "", ""], ["a\u{7}", "b", "c"]] {
        if same[0].contains('\u{7}') {
            continue; // XML cannot write it
        }
        let t = read(&triangle(("label", same), none));
        assert_eq!(names(&t), ["a", "b", "c"], "{same:?}");
        assert_eq!(t.aside().remarks.len(), 1);
    }
}

#[test]
fn entities_are_never_expanded() {
    let entity =
        "<!DOCTYPE g [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n<graphml>&b;</graphml>";
    assert!(refused(entity).starts_with("f: line 1: it declares entities"));
    let mut bomb = "<!DOCTYPE g [\n<!ENTITY l0 \"ha\">\n".to_owned();
    for i in 1..40 {
        let _ = writeln!(bomb, "<!ENTITY l{i} \"{}\">", format!("&l{};", i - 1).repeat(10));
    }
    bomb += "]>\n<graphml><graph><node id=\"&l39;\"/></graph></graphml>";
    assert!(refused(&bomb).starts_with("f: line 2: it declares entities"));
}

const GML: &str = "Creator \"networkx\"\nVersion 1\n# a remark\ngraph [\n  directed 0\n  \
    node [\n id 0\n    label \"a &#38; b\"\n    endpoints 2\n    \
    graphics [ x 1.0 fill [ c \"#fff\" ] ]\n  ]\n  node [\n    id 1\n    label \"c\"\n    \
    endpoints 0\n  ]\n  edge [\n    source 0\n    target 1\n    speed \"EDR\"\n    \
    width 1\n  ]\n  edge [ source 1 target 0 ]\n]\n";
const NODE_LINK: &str = "{\"directed\": false, \"multigraph\": true, \"graph\": {}, \"nodes\": \
    [{\"id\": 0, \"label\": \"a & b\", \"endpoints\": 2, \"at\": [1, 2]}, {\"id\": 1, \"label\": \
    \"c\", \"endpoints\": 0}], \"links\": [{\"source\": 0, \"target\": 1, \"speed\": \"EDR\", \
    \"width\": 1, \"key\": 0}, {\"source\": 1, \"target\": 0, \"key\": 1}]}";

#[test]
fn gml_and_node_link_say_the_same() {
    let newer = NODE_LINK.replace("links", "edges");
    let by_place = NODE_LINK
        .replace("\"id\": 0, \"label\"", "\"name\"")
        .replace("\"id\": 1, \"label\"", "\"name\"");
    for text in [GML, NODE_LINK, &newer, &by_place] {
        let t = read(text);
        assert_eq!(names(&t), ["a & b", "c"], "{text}");
        assert_eq!((t.links().len(), t.endpoints().len()), (2, 2));
        assert_eq!(t.terminals_on(SwitchId(0)).len(), 2);
        let cable = t.links()[0].cable;
        assert_eq!((cable.speed, cable.width), (InfinibandLaneSpeed::EDR, 1));
    }
    for (from, to, says) in [
        ("id 1", "id 0", "f: line 12: id '0' comes twice"),
        ("target 1", "target 7", "f: line 17: the target '7'"),
        ("    id 1\n", "", "f: line 12: a node without id"),
        ("graph [\n", "graph [\n [", "f: line 5: a value without a key"),
        ("label \"c\"", "label \"c", "f: line 20: a text does not end"),
        ("target 0 ]\n]", "target 0 ]\n", "within graph"),
        ("directed 0", "directed 1", "f: line 23: the two directions"),
    ] {
        let text = GML.replace(from, to);
        assert_ne!(text, GML);
        let said = refused(&text);
        assert!(said.contains(says), "{to}: {said}");
    }
    for (from, to, says) in [
        ("\"target\": 1, ", "", "f: links[0]: it has no target"),
        ("\"source\": 1", "\"source\": 9", "f: links[1]: the source '9'"),
        ("\"id\": 1, ", "", "f: nodes[1]: it has no id"),
        ("\"endpoints\": 0", "\"endpoints\": \"x\"", "f: nodes[1]: endpoints is 'x'"),
        ("\"multigraph\": true", "\"multigraph\" true", "f: line 1"),
    ] {
        let said = refused(&NODE_LINK.replace(from, to));
        assert!(said.contains(says), "{to}: {said}");
    }
    let twice = format!("{GML}\n{GML}");
    let second = twice.lines().enumerate().filter(|(_, line)| line.starts_with("graph [")).nth(1);
    let says = format!("line {}: a second graph", second.expect("there are two").0 + 1);
    assert!(refused(&twice).contains(&says), "{}", refused(&twice));
    let deep = format!("graph [ node {}", "[ a ".repeat(100_000));
    assert!(refused(&deep).contains("within"));
}

#[test]
fn a_tree_of_slurm_is_its_switches_and_nodes() {
    let text = "# topology.conf\nSwitchName=leaf1 Nodes=n[1-2],m07\nswitchname=leaf2 \
        NODES=n[08-10] LinkSpeed=1\nSwitchName=s1 Switches=leaf[1-2]  # both\nSwitchName=s2 \\\n \
        Switches=leaf2,leaf1\n";
    let t = read(text);
    assert_eq!(names(&t), ["leaf1", "leaf2", "s1", "s2"]);
    let nodes: Vec<&str> = t.endpoints().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(nodes, ["n1", "n2", "m07", "n08", "n09", "n10"]);
    let links: Vec<(u32, u32)> = t.links().iter().map(|l| (l.a.switch.0, l.b.switch.0)).collect();
    assert_eq!(links, [(2, 0), (2, 1), (3, 1), (3, 0)]);
    for (said, says) in [
        ("SwitchName=a Nodes=n[1-99999999999]\n", "line 1: 'n[1-99999999999]' is no host list"),
        ("SwitchName=a Nodes=n[0-999][0-999]\n", "is no host list"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", "line 2: switch a comes twice"),
        ("SwitchName=a Switches=b\n", "line 1: there is no switch 'b'"),
        ("SwitchName=a Switches=a\n", "line 1: switch a is below itself"),
        (
            "SwitchName=a Switches=b\nSwitchName=b Switches=c,d\nSwitchName=c Nodes=n\n\
             SwitchName=d Switches=e\nSwitchName=e Switches=b,f\nSwitchName=f Nodes=m\n",
            "is below itself",
        ),
        ("SwitchName=a Node=b\n", "line 1: there is no key Node"),
        ("BlockName=a Nodes=b\n", "line 1: blocks say"),
        ("SwitchName=a Nodes=n[1-2\n", "is no host list"),
    ] {
        let found = refused(said);
        assert!(found.contains(says), "{said}: {found}");
    }
}

const TOPO: &str = "Nodes 16\nTiers 3\nPodsize 4\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\n\
    Radix_Up 2\nDownlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\n\
    Radix_Up 2\nTier 2\nRadix_Down 4\nDownlink_speed_Gbps 400\nDownlink_Latency_ns 50\n";

#[test]
fn a_topo_of_htsim_is_the_fat_tree_of_its_numbers() {
    // the 4-ary fat tree: 4 pods of 2 and 2 switches, 4 on top, 5 k^3/4 = 48 cables
    let t = read(TOPO);
    assert_eq!((t.switches().len(), t.endpoints().len(), t.links().len()), (20, 16, 32));
    let levels: Vec<usize> =
        (0..3).map(|level| t.switches().iter().filter(|s| s.level == level).count()).collect();
    assert_eq!(levels, [8, 8, 4]);
    assert_eq!(t.graph().components().1, 1);
    let rates: Vec<f64> = t.links().iter().map(|l| l.cable.rate_gbps()).collect();
    assert_eq!((rates[0], rates[16]), (200.0, 400.0));
    // 1000 ns and 50 ns at 5 ns/m
    assert_eq!(t.terminals()[0].cable.length_m, Some(200.0));
    assert_eq!(t.links()[31].cable.length_m, Some(10.0));
    // each top switch has one cable to each pod
    for (s, switch) in t.switches().iter().enumerate().filter(|(_, s)| s.level == 2) {
        let below = t.links().iter().filter(|l| l.b.switch.ix() == s);
        let mut pods: Vec<usize> = below.map(|l| (l.a.switch.ix() - 8) / 2).collect();
        pods.sort_unstable();
        assert_eq!(pods, [0, 1, 2, 3], "{}", switch.name);
    }
    // two tiers, four to one oversubscribed, two cables to each of the next
    let two = "Nodes 32\nTiers 2\nPodsize 32\nTier 0\nRadix_Down 8\nRadix_Up 4\nOversubscribed 4\n\
        Switch_Latency_ns 100\nTier 1\nRadix_Down 8\nBundle 2\n";
    let t = read(two);
    assert_eq!((t.switches().len(), t.links().len()), (4 + 2, 4 * 4));
    assert_eq!(t.aside().remarks.len(), 1);
    for (from, to, says) in [
        ("Radix_Down 2", "Radix_Down 3", "a whole number of times"),
        ("Tiers 3", "Tiers 4", "4 tiers"),
        ("Podsize 4", "Podsize 3", "pods"),
        (
            "Tier 2\nRadix_Down 4\nDownlink_speed_Gbps 400\nDownlink_Latency_ns 50\n",
            "",
            "tier 2 of 3",
        ),
        ("Podsize 4", "Pods 4", "line 3: there is no key pods"),
        ("Nodes 16", "Nodes 99999999999", "nodes is 99999999999"),
        ("Nodes 16", "Nodes 900000000", "900000000 nodes"),
        ("Radix_Up 2\nDown", "Radix_Up x\nDown", "line 8: 'x' is no number"),
        ("Gbps 400", "Gbps 401", "line 17: no cable has 401"),
        ("Radix_Down 4", "Radix_Down 5", "Radix_Down of tier 2 is 5, and 4"),
    ] {
        let said = refused(&TOPO.replacen(from, to, 1));
        assert!(said.contains(says), "{to}: {said}");
    }
}

fn records(all: &[&[i32]]) -> Vec<u8> {
    all.iter().flat_map(|record| record.iter()).flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn files_of_codes_are_a_dragonfly() {
    // 3 groups of 2 routers, every router with a link to another group
    let typed = records(&[&[0, 1, 0], &[1, 0, 0]]);
    let plain = records(&[&[0, 1], &[1, 0]]);
    let pairs = [(1, 2), (3, 4), (5, 0)];
    let both: Vec<[i32; 2]> = pairs.iter().flat_map(|&(a, b)| [[a, b], [b, a]]).collect();
    let inter = records(&both.iter().map(<[i32; 2]>::as_slice).collect::<Vec<_>>());
    for intra in [&typed, &plain] {
        let t = codes::read(("intra", intra), ("inter", &inter), Some(2)).expect("a dragonfly");
        assert_eq!((t.switches().len(), t.links().len(), t.endpoints().len()), (6, 6, 12));
        let groups: Vec<u32> = t.switches().iter().map(|s| s.group).collect();
        assert_eq!(groups, [0, 0, 1, 1, 2, 2]);
        assert_eq!(t.graph().components().1, 1);
        assert!((0..6).all(|s| t.graph().degree(s) == 2));
    }
    let big = records(&[&[0, i32::MAX], &[i32::MAX, 0]]);
    for (intra, inter, says) in [
        (&typed[..11], &inter[..], "intra: 11 bytes"),
        (&typed, &inter[..7], "inter: 7 bytes"),
        (&typed, &big, "inter: router 2147483647"),
        (&big, &inter, "intra: router 2147483647"),
        (&typed, &records(&[&[0, 1], &[1, 0]]), "of one group"),
        (&typed, &records(&[&[0, -1]]), "inter: byte 4: a router below 0"),
    ] {
        let said = codes::read(("intra", intra), ("inter", inter), None).expect_err(says);
        assert!(said.to_string().contains(says), "{said}");
    }
}

#[test]
fn endpoints_may_be_given_to_a_file_that_has_none() {
    let json = "{\"flyloom\": 1, \"recipe\": {\"family\": \"file\", \"params\": {}}, \"switches\": \
        [{\"name\": \"a\"}, {\"name\": \"b\"}], \"links\": [[0, 0, 1, 0, null]], \
        \"endpoints\": []}";
    let netlist = "Switch\t4 \"a\"\n[1] \"b\"[1]\n\nSwitch\t4 \"b\"\n[1] \"a\"[1]\n";
    for text in [json, netlist, "# edge list\na b\n"] {
        let t = read_any(text, "f", Some(2)).expect("none of its own");
        assert_eq!((t.endpoints().len(), t.terminals_on(SwitchId(1)).len()), (4, 2), "{text}");
        assert_eq!(read(text).endpoints().len(), 0);
    }
    let full = read_any(netlist, "f", Some(4)).expect_err("3 ports are free").to_string();
    assert!(full.starts_with("f: "), "{full}");
    let one = "\"endpoints\": [{\"name\": \"h\", \"rails\": [[0, 0]]}]";
    let own = json.replace("\"endpoints\": []", one);
    let said = read_any(&own, "f", Some(2)).expect_err("it has").to_string();
    assert!(said.contains("the file has its own endpoints"), "{said}");
}

#[test]
fn ports_without_cables_take_no_gigabytes() {
    let switch = |i: usize| format!("{{\"name\": \"s{i}\", \"ports\": 65535}}");
    let text = |count: usize| {
        let all: Vec<String> = (0..count).map(switch).collect();
        format!(
            "{{\"flyloom\": 1, \"recipe\": {{\"family\": \"file\", \"params\": {{}}}}, \
             \"switches\": [{}], \"links\": [], \"endpoints\": []}}",
            all.join(",")
        )
    };
    assert_eq!(read(&text(16)).switches().len(), 16);
    assert!(refused(&text(1000)).contains("f: switches: 65535000 ports of 1000 switches"));
}
