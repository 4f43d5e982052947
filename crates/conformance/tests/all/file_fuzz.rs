//! Damaged files: no reader panics, and every refusal names the file.

use crate::mutations::{self, FileMutation};
use base::QuietWatch;
use engines::engine;
use fabric::addresses::PortAddresses;
use fabric::network::Topology;
use formats::graph_file::{edge_list, graphml, json, orcs, read_any};
use formats::ib::fabric_file::{read, write_netlist};
use proptest::prelude::*;
use serde_json::Map;
use std::sync::{Arc, OnceLock};

fn good_files() -> &'static [String] {
    static FILES: OnceLock<Vec<String>> = OnceLock::new();
    FILES.get_or_init(|| {
        let recipe = fabric::network::parse_inline("slim_fly:q=3,p=1").expect("well formed");
        let family = families::family(&recipe.family).expect("a family");
        let t: Topology = family.build(&recipe.params).expect("a member");
        let a = PortAddresses::assign(&t, 1).expect("few enough");
        let netlist = write_netlist(&t, &a, None).expect("can be written");
        let full = netlist.replace("4xHDR", "4xHDR s=4 w=2 v=3 e=4").replace("# \"", "#\"");
        let mask = netlist.replace(" 4xHDR", "").replace("\"[1]", "\"[1] w=3 s=7 e=1");
        let own = json::write(&t);
        let min_hop = engine("min_hop").expect("an engine");
        let routing = min_hop.route(&Map::new(), &Arc::new(t.clone()), 1, &QuietWatch);
        let digraph = orcs::write(&routing.expect("connected")).expect("one layer");
        vec![netlist, full, mask, edge_list::write(&t), graphml::write(&t), own, digraph]
    })
}

fn damage() -> impl Strategy<Value = FileMutation> {
    prop_oneof![
        any::<u8>().prop_map(FileMutation::Byte),
        any::<u32>().prop_map(|n| FileMutation::Number(n.to_string())),
        any::<u8>().prop_map(FileMutation::Digit),
        Just(FileMutation::DropLine),
        Just(FileMutation::DoubleLine),
        Just(FileMutation::SwapLines),
        Just(FileMutation::EmptyLine),
        (1_u8..40).prop_map(FileMutation::DropBytes),
        (1_u8..40).prop_map(FileMutation::DoubleBytes),
        Just(FileMutation::Largest),
        Just(FileMutation::Cut),
        "[\\[\\]\"#<>={}(),: 0-9a-zA-Z\n-]{0,12}".prop_map(FileMutation::Insert),
    ]
}

/// Applies a mutation to a text.
fn apply(text: &str, damage: &FileMutation, at: usize) -> String {
    String::from_utf8_lossy(&mutations::apply(text.as_bytes(), damage, at)).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn damaged_files_never_panic_and_refusals_name_the_file(
        which in 0_usize..7,
        steps in proptest::collection::vec((damage(), any::<u32>()), 1..4),
        p in proptest::option::of(0_u32..3),
    ) {
        let mut text = good_files()[which].clone();
        for (damage, at) in &steps {
            text = apply(&text, damage, *at as usize);
        }
        if let Err(r) = orcs::read_tables(&text, "f.net") {
            prop_assert!(r.to_string().starts_with("f.net: "), "{}", r);
        }
        match read_any(&text, "f.net", p) {
            Ok(t) => prop_assert!(json::read(&json::write(&t), "j").is_ok()),
            Err(r) => prop_assert!(r.to_string().starts_with("f.net: "), "{}", r),
        }
    }
}

#[test]
fn the_undamaged_files_are_good() {
    for file in good_files() {
        let t = read_any(file, "f", None).expect("a good file");
        assert_eq!((t.switches().len(), t.endpoints().len()), (18, 18));
    }
}

#[test]
fn a_port_line_lost_from_a_small_fabric_is_always_noticed() {
    let lines: Vec<&str> = good_files()[0].lines().collect();
    let matter = |l: &str| ["[", "Switch", "Ca"].iter().any(|w| l.starts_with(w));
    for (i, line) in lines.iter().enumerate().filter(|(_, l)| matter(l)) {
        let rest = [&lines[..i], &lines[i + 1..]].concat().join("\n");
        let refusal = read_any(&rest, "f", None).expect_err(line).to_string();
        assert!(refusal.starts_with("f: line "), "{refusal}");
    }
}

/// Asserts that a refusal names the line, or says that the file is empty, and what was expected.
fn is_helpful(refusal: &base::Refusal) {
    let message = refusal.to_string();
    let line = refusal.param.strip_prefix("f: line ").is_some_and(|n| n.parse::<u32>().is_ok());
    let empty = refusal.param == "f" && refusal.why == "there is no node in it";
    assert!(line || empty, "{message}");
    assert!(!refusal.why.is_empty() && !refusal.help.is_empty(), "{message}");
}

fn cables(t: &Topology) -> (Vec<fabric::network::Link>, Vec<fabric::network::CablePlug>) {
    (t.links().to_vec(), t.terminals().iter().map(|x| x.plug).collect())
}

#[test]
fn a_discovery_cut_off_anywhere_is_refused_with_its_line() {
    for file in &good_files()[..3] {
        let whole = cables(&read(file, "f").expect("a good file"));
        let last = file.trim_end().lines().last().expect("a line").len();
        // at every line, at every byte of the last ones, and at some places between
        let bytes = file.as_bytes();
        let all = (0..file.len()).filter(|&cut| file.is_char_boundary(cut));
        let some = |&cut: &usize| cut % 11 == 0 || bytes[cut] == b'\n' || cut + 300 > file.len();
        for cut in all.filter(some) {
            match read(&file[..cut], "f") {
                // a first node without its cables is a network; otherwise only the end of the last
                // line can be cut without a refusal
                Ok(t) if t.terminals().is_empty() => {
                    assert_eq!(t.endpoints().len() + t.switches().len(), 1, "{cut}");
                }
                Ok(t) => {
                    assert!(cut + last + 1 >= file.trim_end().len(), "{cut} of {}", file.len());
                    assert_eq!(cables(&t), whole);
                }
                Err(refusal) => is_helpful(&refusal),
            }
        }
    }
}

/// Texts that other tools and people write, and that a terminal or an editor adds.
const FOREIGN: [&str; 16] = [
    "",
    "\n\n\n",
    "# only remarks\n",
    "\u{feff}",
    "\0\0\0\0",
    "{\"switches\": []}",
    "<html><body>404</body></html>",
    "a,b,c\n1,2,3\n",
    "Ca\t : 0x0002c90300000c40 ports 1 devid 0x101b vendid 0x2c9 \"host\"\n",
    "CA: host HCA-1:\n      0x0002c903 1  1[  ] ==( 4X 50 Gbps Active/  LinkUp)==>\n",
    "Unicast lids [0x0-0xfe] of switch Lid 201 guid 0x0002c90200000010 (sf-0-0-0):\n",
    "Switch\t99999999999999999999 \"S-1\"\n",
    "Switch\t4 \"S-1\n",
    "Switch\t4 \"S-1\" # \"name\" port 0 lid 99999999 lmc 0\n",
    "switchguid=0xfffffffffffffffff\n",
    "Switch\t4 \"S-1\"\n[4294967296] \"S-2\"[1]\n",
];

#[test]
fn foreign_files_are_refused_with_line_and_reason() {
    for text in FOREIGN {
        is_helpful(&read(text, "f").expect_err(text));
    }
    // a good file with anything of it at its end, and in its middle
    let good = &good_files()[0];
    let middle = good.find("\nSwitch").expect("a switch");
    for text in &FOREIGN[5..] {
        let end = read(&format!("{good}{text}"), "f");
        is_helpful(&end.expect_err(text));
        let (head, tail) = good.split_at(middle);
        let inside = read(&format!("{head}\n{text}\n{tail}"), "f");
        is_helpful(&inside.expect_err(text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Lines are lost, doubled, exchanged, cut and changed, any number of them.
    #[test]
    fn a_damaged_discovery_is_refused_with_line_and_reason(
        which in 0_usize..3,
        steps in proptest::collection::vec((damage(), any::<u32>()), 1..30),
    ) {
        let mut text = good_files()[which].clone();
        for (damage, at) in &steps {
            text = apply(&text, damage, *at as usize);
        }
        if let Err(refusal) = read(&text, "f") {
            is_helpful(&refusal);
        }
    }

    /// Text that has the words of a discovery and no sense.
    #[test]
    fn nonsense_is_refused_with_line_and_reason(
        words in proptest::collection::vec(
            prop_oneof![
                Just("Switch\t4 \"S-1\"\n"), Just("Switch\t254 \"S-2\" # \"b\" lid 3\n"),
                Just("Ca\t2 \"H-1\" # \"a\"\n"), Just("[1] \"S-2\"[3] # \"x\" lid 1 4xHDR\n"),
                Just("[3] \"S-1\"[1]\n"), Just("[2](7) \"S-2\"[254]\n"), Just("caguid=0x7\n"),
                Just("[254] \"H-1\"[2](7)\n"), Just("switchguid=0x7(7)\n"),
                Just("[0] \"S-1\"[0]\n"),
                Just("switchguid+0xffffffffffffffff\n"), Just("width=4\n"), Just("speed=7\n"),
            ],
            0..12,
        ),
    ) {
        if let Err(refusal) = read(&words.concat(), "f") {
            is_helpful(&refusal);
        }
    }
}
