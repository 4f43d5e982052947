//! Compares fabric files with facts known without our reader: those of the generator, of the tools,
//! and of a second, line-by-line reading of the same text.

use base::{LinkId, SwitchId};
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NetworkRecipe, Switch, TopologyBuilder,
};
use formats::ib::fabric_file::{read, write_netlist};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const SF: &str = include_str!("data/sf_q5.net");
const FT: &str = include_str!("data/ft_6x12x3.net");
const BASE: &str = include_str!("data/ibnetdiscover_base.txt");
const DEGRADED: &str = include_str!("data/ibnetdiscover_degraded.txt");
const UNLINK: &str = include_str!("data/ibnetdiscover_unlink.txt");
const DIFF: &str = include_str!("data/ibnetdiscover_diff_unlink.txt");

/// An end of a cable: the name of a switch, and a port.
type CableEnd = (String, u16);

/// Switch-to-switch cables by name and port, the lesser end first.
fn links(t: &Topology) -> BTreeMap<(CableEnd, CableEnd), (u8, InfinibandLaneSpeed)> {
    let end = |p: CablePlug| (t.switches()[p.switch.ix()].name.clone(), p.port);
    let up = |i: &usize| t.link_is_up(LinkId::from(*i));
    let of = |i: usize| {
        let l = &t.links()[i];
        let (a, b) = (end(l.a), end(l.b));
        ((a.clone().min(b.clone()), a.max(b)), (l.cable.width, l.cable.speed))
    };
    (0..t.links().len()).filter(up).map(of).collect()
}

/// Adapter ports by name, rail, switch, port, LID, port GUID and width of the working ones.
fn rails(t: &Topology) -> BTreeSet<(String, u16, String, u16, Option<u64>, u8)> {
    let of = |x: &fabric::network::Terminal| {
        let name = t.endpoints()[x.endpoint.ix()].name.clone();
        let switch = t.switches()[x.plug.switch.ix()].name.clone();
        (name, x.rail, switch, x.plug.port, x.port_guid, x.cable.width)
    };
    t.terminals().iter().map(of).collect()
}

/// A second reading: every port line of a switch, word by word, as (switch id, port, peer, port).
fn port_lines(text: &str) -> Vec<(&str, u16, &str, u16)> {
    let mut node = "";
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("Switch") {
            node = line.split('"').nth(1).expect("an id");
        } else if line.starts_with("Ca") {
            node = "";
        } else if line.starts_with('[') && !node.is_empty() {
            let number =
                |s: &str| s.split(']').next().and_then(|d| d.parse().ok()).expect("a port");
            let parts: Vec<&str> = line.split('"').collect();
            found.push((node, number(&line[1..]), parts[1], number(&parts[2][1..])));
        }
    }
    found
}

fn built(inline: &str) -> Topology {
    let recipe = fabric::network::parse_inline(inline).expect("well formed");
    let family = families::family(&recipe.family).expect("a family");
    family.build(&recipe.params).expect("a member")
}

#[test]
fn every_cable_of_the_samples_is_where_the_text_says() {
    for (text, switches, hosts, cables) in
        [(SF, 50, 200, 175), (BASE, 50, 200, 175), (UNLINK, 50, 200, 174), (FT, 18, 216, 216)]
    {
        let t = read(text, "f").expect("a good file");
        assert_eq!(
            (t.switches().len(), t.endpoints().len(), t.links().len()),
            (switches, hosts, cables)
        );
        assert_eq!(t.terminals().len(), hosts);
        let id = |s: SwitchId| format!("S-{:016x}", t.switches()[s.ix()].guid.expect("a GUID"));
        let mut ours = BTreeSet::new();
        for l in t.links() {
            ours.insert((id(l.a.switch), l.a.port, id(l.b.switch), l.b.port));
            ours.insert((id(l.b.switch), l.b.port, id(l.a.switch), l.a.port));
        }
        for x in t.terminals() {
            let guid = t.endpoints()[x.endpoint.ix()].guid.expect("a GUID");
            ours.insert((id(x.plug.switch), x.plug.port, format!("H-{guid:016x}"), x.rail + 1));
        }
        let theirs: BTreeSet<_> = port_lines(text)
            .into_iter()
            .map(|(a, p, b, q)| (a.to_owned(), p, b.to_owned(), q))
            .collect();
        assert_eq!(ours, theirs);
    }
}

#[test]
fn the_slim_fly_of_the_file_is_the_hoffman_singleton_graph() {
    // The only strongly regular graph (50, 7, 0, 1): Hoffman & Singleton 1960.
    let t = read(SF, "sf_q5.net").expect("a good file");
    let mut adjacent = vec![vec![false; 50]; 50];
    for l in t.links() {
        let (a, b) = (l.a.switch.ix(), l.b.switch.ix());
        assert!(!adjacent[a][b], "no parallel links");
        (adjacent[a][b], adjacent[b][a]) = (true, true);
    }
    for a in 0..50 {
        assert_eq!(adjacent[a].iter().filter(|x| **x).count(), 7);
        for b in 0..a {
            let common = (0..50).filter(|&c| adjacent[a][c] && adjacent[b][c]).count();
            assert_eq!(common, usize::from(!adjacent[a][b]));
        }
    }
    assert_eq!(t.recipe().to_string(), "file:path=sf_q5.net,format=ibnetdiscover");
}

#[test]
fn our_slim_fly_is_cabled_like_the_deployed_one() {
    let (file, ours) = (read(SF, "f").expect("a good file"), built("slim_fly:q=5,p=4"));
    let names = |t: &Topology| -> BTreeSet<(String, String)> {
        links(t).into_keys().map(|((a, _), (b, _))| (a, b)).collect()
    };
    assert_eq!(names(&ours), names(&file));
    let hosts = |t: &Topology| -> BTreeSet<(String, String)> {
        rails(t).into_iter().map(|r| (r.0, r.2)).collect()
    };
    assert_eq!(hosts(&ours), hosts(&file));
}

#[test]
fn the_fat_tree_has_three_links_a_pair() {
    let t = read(FT, "ft").expect("a good file");
    let mut pairs: BTreeMap<(String, String), u32> = BTreeMap::new();
    for ((a, b), cable) in links(&t) {
        assert_eq!(cable, (4, InfinibandLaneSpeed::HDR));
        *pairs.entry((a.0, b.0)).or_default() += 1;
    }
    assert_eq!(pairs.len(), 12 * 6);
    assert!(
        pairs.iter().all(|((a, b), n)| a.starts_with("core") && b.starts_with("leaf") && *n == 3)
    );
}

#[test]
fn discovery_differs_from_discovery_by_what_was_done_to_the_fabric() {
    let base = read(BASE, "base").expect("a good file");
    let unlink = read(UNLINK, "unlink").expect("a good file");
    let mut expected = links(&base);
    // as ibnetdiscover --diff tells it: port 5 of sf-0-0-1 to port 5 of sf-0-0-0
    let cable = (("sf-0-0-0".to_owned(), 5), ("sf-0-0-1".to_owned(), 5));
    expected.remove(&cable).expect("in the healthy fabric");
    assert_eq!(links(&unlink), expected);
    let degraded = read(DEGRADED, "degraded").expect("a good file");
    expected.insert(cable, (1, InfinibandLaneSpeed::HDR));
    assert_eq!(links(&degraded), expected);
    assert_eq!(rails(&degraded), rails(&base));
    // the same fabric, before a subnet manager gave out LIDs
    assert_eq!(links(&read(SF, "sf").expect("a good file")), links(&base));
}

#[test]
fn addresses_of_a_fabric_are_those_in_the_file() {
    let t = read(BASE, "base").expect("a good file");
    let a = PortAddresses::from_fabric(&t).expect("OpenSM gave all of them LIDs");
    let host = t.endpoints().iter().position(|e| e.name == "host-0192").expect("there");
    let rail = t.terminals().iter().position(|x| x.endpoint.ix() == host).expect("one");
    assert_eq!((a.lid[rail], a.port_guid[rail]), (193, 0x0002_c903_0000_0c11));
    assert_eq!(a.node_guid[host], 0x0002_c903_0000_0c10);
    let switch = t.switches().iter().position(|s| s.name == "sf-1-4-3").expect("there");
    assert_eq!((a.switch_lid[switch], a.switch_guid[switch]), (249, 0x0002_c902_0000_0310));
    assert_eq!((a.lmc, a.highest_lid()), (0, 250));
    let refusal = PortAddresses::from_fabric(&read(SF, "sf").expect("a good file"));
    assert!(refusal.expect_err("no LIDs yet").to_string().contains("has no LID"));
    // with LMC 2 every port has a multiple of 4
    let mut text = String::new();
    for line in BASE.lines() {
        let at = line.find("# lid ").filter(|_| line.contains(" lmc 0 \""));
        match at {
            None => text.push_str(line),
            Some(at) => {
                let lid: u32 =
                    line[at + 6..].split(' ').next().expect("a LID").parse().expect("one");
                let (old, new) =
                    (format!("# lid {lid} lmc 0"), format!("# lid {} lmc 2", 4 * lid + 300));
                text.push_str(&line.replace(&old, &new));
            }
        }
        text.push('\n');
    }
    let t = read(&text, "base").expect("a good file");
    assert_eq!(t.recipe().params["lmc"], 2);
    let a = PortAddresses::from_fabric(&t).expect("aligned");
    assert_eq!((a.lmc, a.lid[rail], a.highest_lid()), (2, 4 * 193 + 300, 4 * 200 + 300 + 3));
}

/// `ibnetdiscover -g` adds headings, remarks and outer port numbers; `-f` adds options.
#[test]
fn grouped_and_full_output_read_alike() {
    let plain = read(BASE, "f").expect("a good file");
    let mut grouped =
        String::from("\nChassis 1 (guid 0x2c9000100)\n\n# Spine Nodes\nNon-Chassis Nodes\n");
    for line in BASE.lines() {
        let mut line = line.to_owned();
        if line.starts_with("switchguid") {
            line.push_str("\t# Spine slot 1");
        } else if line.starts_with("sysimgguid") {
            line.push_str("\t\t# Chassis 1");
        } else if line.starts_with('[') {
            line = line.replacen("]\t\"", "][ext 7]\t\"", 1) + " s=4 w=2 v=3 e=4";
        }
        grouped.push_str(&line);
        grouped.push_str("\r\n");
    }
    let t = read(&grouped, "f").expect("the same fabric");
    assert_eq!((t.switches(), t.links()), (plain.switches(), plain.links()));
    assert_eq!((t.endpoints(), t.terminals()), (plain.endpoints(), plain.terminals()));
}

const SMALL: &str = "width=3\nspeed=7\nvendid=0x2c9\nswitchguid=0x10(10)\n\
    Switch 4 \"left\" # \"same\" base port 0 lid 3 lmc 0\n\
    [1] \"H1\"[1](21) # \"h\" lid 8 4xEDR\n[2] \"H1\"[2](22) # \"h\" lid 12 2xHDR\n\
    [4] \"right\" w=1\n\n\
    switchguid+0x20\nSwitch 1 \"right\" # \"same\"\n[1] \"left\"[4] s=3\n\n\
    caguid=0x20\nHca 2 \"H1\" # \"a \"quoted\" host\"\n\
    [2](22) \"left\"[2] # lid 12 lmc 2 \"same\" lid 3 2xHDR\n\
    # a remark\n[1](21) \"left\"[1] # lid 8 lmc 2 \"same\" lid 3 4xEDR\n\n\
    rtguid=0x50\nRt 1 \"R1\" # \"\"\n";

#[test]
fn netlist_extras_are_read() {
    let t = read(SMALL, "small").expect("a good netlist");
    let names: Vec<&str> = t.switches().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["left", "right"], "ids in place of a name borne twice");
    let hosts: Vec<&str> = t.endpoints().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(hosts, ["a \"quoted\" host"], "the router is no host");
    assert_eq!(t.switches()[1].guid, Some(0x30), "counted from the base by +");
    let rails: Vec<_> =
        t.terminals().iter().map(|x| (x.rail, x.lid, x.cable.speed, x.cable.width)).collect();
    assert_eq!(
        rails,
        [(0, Some(8), InfinibandLaneSpeed::EDR, 4), (1, Some(12), InfinibandLaneSpeed::HDR, 2)]
    );
    // enabled: 1x by option at one end, 1x and 4x by default at the other; SDR, DDR and QDR at one,
    // SDR and DDR at the other
    let cable = t.links()[0].cable;
    assert_eq!((cable.width, cable.speed), (1, InfinibandLaneSpeed::DDR));
    assert_eq!(t.recipe().params["lmc"], 2);
}

#[test]
#[allow(clippy::too_many_lines)] // a list of faults
fn what_is_wrong_is_named_with_its_line() {
    let cases = [
        (
            "[4] \"right\" w=1",
            "[5] \"right\" w=1",
            "line 8: port 5 of \"left\" does not exist; it has ports 1 to 4",
        ),
        (
            "[1] \"left\"[4]",
            "[1] \"left\"[3]",
            "line 8: the other end leads to \"left\"[3] instead; \
             expected [1] \"left\"[4] in line 12",
        ),
        (
            "[1] \"left\"[4]",
            "[1] \"left\"[9]",
            "line 8: the other end leads to \"left\"[9] instead",
        ),
        (
            "[4] \"right\" w=1\n",
            "",
            "line 11: the other end does not tell of this cable: no [4] \"right\"[1]; \
             expected it after line 5",
        ),
        (
            "[4] \"right\"",
            "[4] \"up\"",
            "line 8: the cable leads to \"up\", which is not in the file",
        ),
        (
            "[4] \"right\" w",
            "[4] \"right\"[2] w",
            "line 8: port 2 of \"right\" does not exist; it has ports 1 to 1 (line 11)",
        ),
        ("[4] \"right\"", "[1] \"right\"", "line 8: port 1 of \"left\" is already in line 6"),
        ("\"right\" #", "\"left\" #", "line 11: node \"left\" is already in line 5"),
        ("0x20\nHca", "0x30\nHca", "line 15: GUID 0x0000000000000030 is already in line 11"),
        (
            "[1](21) \"left\"[1]",
            "[1](22) \"left\"[1]",
            "line 16: GUID 0x0000000000000022 is already in line 18",
        ),
        ("(21) # \"h\"", "(29) # \"h\"", "line 6: the port GUID is not the one in line 18"),
        ("lid 12 2xHDR", "lid 12 3xHDR", "line 7: '3xHDR' is no width and speed; expected 1x, 2x"),
        ("lid 12 2xHDR", "lid 70000 2xHDR", "line 7: '70000' is no lid"),
        ("lid 12 lmc 2", "lid 12 lmc 1", "line 16: LMC 1, but LMC 2 in line 18"),
        ("lid 12 lmc 2", "lid 12 lmc 9", "line 16: 9 is no LMC"),
        ("Switch 4", "Switch 255", "line 5: '255' is no number of ports; expected 1 to 254"),
        (
            "vendid=0x2c9",
            "vendid=2xyz\ninclude \"x\"",
            "line 4: 'include' belongs to the simulator",
        ),
        ("width=3", "do unlink \"left\"[4]", "line 1: 'do' belongs to the simulator"),
        ("width=3", "[1] \"left\"[4]", "line 1: a port outside of a node"),
        ("width=3", "hello", "line 1: 'hello' is not understood"),
        ("\"H1\"[1](21)", "\"H1[1](21)", "line 6: the id"),
    ];
    let mut missed = Vec::new();
    for (old, new, expected) in cases {
        assert!(SMALL.contains(old), "{old}");
        let refusal = read(&SMALL.replacen(old, new, 1), "small").map(|_| "accepted".to_owned());
        let message = refusal.unwrap_or_else(|r| r.to_string());
        if !message.starts_with(&format!("small: {expected}")) {
            missed.push(format!("{new}: {message}"));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
    let refusal = read(DIFF, "d").expect_err("differences").to_string();
    assert!(refusal.starts_with("d: line 7: a line of ibnetdiscover --diff"), "{refusal}");
    let list = "Ca\t : 0x0002c90300000c40 ports 1 devid 0x101b vendid 0x2c9 \"host-0195\"\n";
    assert!(read(list, "l").expect_err("a list").to_string().contains("without -l"));
    assert!(
        read("# nothing\n", "e").expect_err("empty").to_string().starts_with("e: there is no node")
    );
}

#[test]
fn no_line_of_a_fabric_can_be_missing() {
    // without any node line or port line, the other ends give it away
    let lines: Vec<&str> = BASE.lines().collect();
    let step = 13;
    for (i, line) in lines.iter().enumerate().skip(5).step_by(step) {
        if !line.starts_with('[') && !line.starts_with("Switch") && !line.starts_with("Ca") {
            continue;
        }
        let rest: Vec<&str> = [&lines[..i], &lines[i + 1..]].concat();
        let refusal = read(&rest.join("\n"), "b").expect_err("a line is missing").to_string();
        assert!(refusal.starts_with("b: line "), "{line}: {refusal}");
    }
    for cut in (2000..BASE.len() - 200).step_by(4999) {
        let refusal = read(&BASE[..cut], "b").expect_err("cut off").to_string();
        assert!(refusal.starts_with("b: line "), "{cut}: {refusal}");
    }
}

#[test]
fn a_lossy_discovery_is_refused() {
    // as seen when half the answers were lost: one end unknown, the others without their opposite
    let cable = "[5]\t\"S-0002c90200000020\"[5]\t\t# \"sf-0-0-1\" lid 202 4xHDR";
    assert_eq!(BASE.matches(cable).count(), 1);
    let unknown = cable.replace("4xHDR", "?????");
    let t = read(&BASE.replace(cable, &unknown), "b").expect("the other end knows");
    assert_eq!(links(&t), links(&read(BASE, "b").expect("a good file")));
    let refusal = read(&BASE.replace(&format!("{cable}\n"), ""), "b")
        .expect_err("one direction only")
        .to_string();
    assert!(
        refusal.contains("does not tell of this cable: no [5] \"S-0002c90200000020\"[5]"),
        "{refusal}"
    );
}

/// Addresses without LIDs: the generator of the samples left all LIDs to the subnet manager.
fn without_lids(t: &Topology) -> PortAddresses {
    let mut a = PortAddresses::assign(t, 0).expect("few enough");
    a.lid.fill(0);
    a.switch_lid.fill(0);
    a
}

#[test]
fn netlists_are_written_as_the_other_generator_writes_them() {
    for text in [SF, FT] {
        let t = read(text, "f").expect("a good file");
        let ours = write_netlist(&t, &without_lids(&t), None).expect("can be written");
        // the same nodes, ours with the switches first
        let nodes = |text: &str| -> Vec<String> {
            let body: Vec<&str> = text.trim_end().lines().skip(1).collect();
            let blocks = body.split(|line| line.is_empty()).filter(|block| !block.is_empty());
            blocks.map(|block| block.join("\n")).collect()
        };
        let (mut ours, mut theirs) = (nodes(&ours), nodes(text));
        let is_switch = |node: &String| node.contains("Switch");
        assert!(ours.is_sorted_by_key(|node| !is_switch(node)), "switches first");
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
    }
}

/// A network that uses every field: planes, two rails, odd names, degraded and failed cables.
fn odd() -> Topology {
    let mut b = TopologyBuilder::new();
    for (i, name) in ["a=b", "a#b", "", "é\"x", &"long".repeat(20)].iter().enumerate() {
        b.switch(Switch { plane: u16::from(i > 2), ports: 9, ..Switch::new(*name) });
    }
    let plug = |s: u32, port: u16| CablePlug { switch: SwitchId(s), port };
    let cable = |speed, width| Cable { speed, width, ..Cable::default() };
    b.link_at(plug(0, 9), plug(1, 1), cable(InfinibandLaneSpeed::FDR10, 12));
    b.link_at(plug(1, 3), plug(0, 2), cable(InfinibandLaneSpeed::SDR, 1));
    b.link_at(plug(1, 5), plug(2, 2), cable(InfinibandLaneSpeed::EDR, 2));
    b.link_at(plug(3, 5), plug(4, 2), Cable::default());
    for i in 0..4 {
        let e = b.endpoint(format!("host {i}"), (i == 2).then_some(0xabc0));
        b.attach(e, SwitchId(i % 3), 0, cable(InfinibandLaneSpeed::QDR, 8));
        b.attach(e, SwitchId(3 + i % 2), 0, Cable::default());
    }
    let recipe = NetworkRecipe { family: "odd\n#".into(), params: serde_json::Map::new() };
    b.finish(recipe).expect("a valid network")
}

#[test]
fn planes_are_written_one_by_one() {
    let t = odd();
    let a = PortAddresses::assign(&t, 1).expect("few enough");
    let refusal = write_netlist(&t, &a, None).expect_err("two planes").to_string();
    assert!(refusal.contains("plane: the network has 2 planes"), "{refusal}");
    assert!(write_netlist(&t, &a, Some(2)).is_err());
    let first = read(&write_netlist(&t, &a, Some(0)).expect("plane 0"), "p0").expect("readable");
    assert_eq!((first.switches().len(), first.links().len(), first.terminals().len()), (3, 3, 4));
    let names: Vec<&str> = first.switches().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["a_b", "S-02f1000000020000", "S-02f1000000030000"]);
    let speeds: BTreeSet<_> =
        first.links().iter().map(|l| (l.cable.width, l.cable.speed)).collect();
    assert_eq!(
        speeds,
        BTreeSet::from([
            (12, InfinibandLaneSpeed::FDR10),
            (1, InfinibandLaneSpeed::SDR),
            (2, InfinibandLaneSpeed::EDR)
        ])
    );
    let second = read(&write_netlist(&t, &a, Some(1)).expect("plane 1"), "p1").expect("readable");
    assert!(second.terminals().iter().all(|x| x.rail == 1));
    assert_eq!(second.switches()[0].name, "__x");
    assert_eq!(second.switches()[1].name.len(), 63);
    assert_eq!(second.endpoints()[2].guid, Some(0xabc0));
    let b = PortAddresses::from_fabric(&second).expect("LIDs are written");
    assert_eq!(b.switch_lid, a.switch_lid[3..]);
    assert_eq!(b.lmc, 1);
    let rail_1: Vec<u16> = a.lid.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(b.lid, rail_1);
}

#[test]
fn what_a_simulator_cannot_hold_is_refused() {
    let make = |ports, cable| {
        let mut b = TopologyBuilder::new();
        b.switch(Switch { ports, ..Switch::new("x") });
        b.switch(Switch::new("y"));
        let at = |switch: u32| CablePlug { switch: SwitchId(switch), port: 0 };
        b.link_at(at(0), at(1), cable);
        let recipe = NetworkRecipe { family: "test".into(), params: serde_json::Map::new() };
        let t = b.finish(recipe).expect("a valid network");
        let a = PortAddresses::assign(&t, 0).expect("few enough");
        write_netlist(&t, &a, None).map_err(|r| r.to_string())
    };
    assert!(make(254, Cable::default()).is_ok());
    let refusal = make(255, Cable::default()).expect_err("too many ports");
    assert_eq!(refusal, "switch x: it has 255 ports; at most 254 in InfiniBand");
    let ndr = Cable { speed: InfinibandLaneSpeed::NDR, ..Cable::default() };
    let remark = "# HDR stands for cables of speeds that ibsim 0.10 does not know: 1 NDR\n";
    let slowed = make(4, ndr).expect("as HDR");
    let plain = make(4, Cable::default()).expect("as it is");
    assert_eq!(slowed.replace(remark, ""), plain);
    assert!(slowed.contains(remark) && !plain.contains(remark));
    let t = odd();
    let other = PortAddresses::assign(&built("slim_fly:q=3"), 0).expect("few enough");
    assert!(
        write_netlist(&t, &other, Some(0)).expect_err("mixed up").to_string().contains("another")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn netlists_read_back_as_the_working_network(
        q in proptest::sample::select(vec![3_u32, 4, 5, 7]),
        p in 0_u32..4,
        lmc in 0_u8..4,
        dead in proptest::collection::vec(0_u32..1000, 0..6),
        dead_switch in proptest::option::of(0_u32..1000),
    ) {
        let whole = built(&format!("slim_fly:q={q},p={p}"));
        let count = whole.links().len() as u32;
        let dead: Vec<LinkId> = dead.iter().map(|l| LinkId(l % count)).collect();
        let dead_switch: Vec<SwitchId> =
            dead_switch.into_iter().map(|s| SwitchId(s % whole.switches().len() as u32)).collect();
        let t = whole.with_failures(&dead, &dead_switch).expect("they exist");
        let a = PortAddresses::assign(&t, lmc).expect("few enough");
        let text = write_netlist(&t, &a, None).expect("can be written");
        let back = read(&text, "back").expect("can be read");
        prop_assert_eq!(links(&back), links(&t));
        prop_assert_eq!(back.switches().len(), t.switches().len() - dead_switch.len());
        let up = |r: &(String, u16, String, u16, Option<u64>, u8)| {
            dead_switch.iter().all(|s| t.switches()[s.ix()].name != r.2)
        };
        let known = |r: (String, u16, String, u16, Option<u64>, u8)| (r.0, r.1, r.2, r.3, r.5);
        let ours: BTreeSet<_> = rails(&t).into_iter().filter(up).map(known).collect();
        prop_assert_eq!(rails(&back).into_iter().map(known).collect::<BTreeSet<_>>(), ours);
        let b = PortAddresses::from_fabric(&back).expect("LIDs are written");
        let lids = |t: &Topology, a: &PortAddresses| -> BTreeMap<String, (u64, u16)> {
            let switches = t.switches().iter().zip(a.switch_guid.iter().zip(&a.switch_lid));
            switches.map(|(s, (g, l))| (s.name.clone(), (*g, *l))).collect()
        };
        let (ours, theirs) = (lids(&t, &a), lids(&back, &b));
        prop_assert!(theirs.iter().all(|(name, x)| ours[name] == *x));
        let again = write_netlist(&back, &b, None).expect("can be written");
        prop_assert!(again.lines().skip(1).eq(text.lines().skip(1)));
    }
}

#[test]
fn a_large_fabric_is_read() {
    let t = built("slim_fly:q=19,p=15");
    let text =
        write_netlist(&t, &PortAddresses::assign(&t, 2).expect("fits"), None).expect("written");
    let back = read(&text, "q19").expect("readable");
    assert_eq!((back.switches().len(), back.endpoints().len()), (722, 10_830));
    assert_eq!(links(&back), links(&t));
}
