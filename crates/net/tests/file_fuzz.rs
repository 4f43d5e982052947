//! Damaged files: no reader panics, and every refusal names the file.

use net::graph_file::{edge_list, graphml, json, read_any};
use net::ib::fabric_file::write_netlist;
use net::ib::names::Addresses;
use net::{Topology, topology};
use proptest::prelude::*;
use std::sync::OnceLock;

fn good_files() -> &'static [String] {
    static FILES: OnceLock<Vec<String>> = OnceLock::new();
    FILES.get_or_init(|| {
        let recipe = topology::parse_inline("slim_fly:q=3,p=1").expect("well formed");
        let family = topology::family(&recipe.family).expect("a family");
        let t: Topology = family.build(&recipe.params).expect("a member");
        let a = Addresses::assign(&t, 1).expect("few enough");
        let netlist = write_netlist(&t, &a, None).expect("can be written");
        let full = netlist.replace("4xHDR", "4xHDR s=4 w=2 v=3 e=4").replace("# \"", "#\"");
        let mask = netlist.replace(" 4xHDR", "").replace("\"[1]", "\"[1] w=3 s=7 e=1");
        let own = json::write(&t);
        vec![netlist, full, mask, edge_list::write(&t), graphml::write(&t), own]
    })
}

#[derive(Debug, Clone)]
enum Damage {
    Byte(u8),
    Digit,
    DropLine,
    DoubleLine,
    SwapLines,
    DropBytes(u8),
    Cut,
    Insert(String),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<u8>().prop_map(Damage::Byte),
        Just(Damage::Digit),
        Just(Damage::DropLine),
        Just(Damage::DoubleLine),
        Just(Damage::SwapLines),
        (1_u8..40).prop_map(Damage::DropBytes),
        Just(Damage::Cut),
        "[\\[\\]\"#<>={}(),: 0-9a-zA-Z\n-]{0,12}".prop_map(Damage::Insert),
    ]
}

fn apply(text: &str, damage: &Damage, at: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut lines: Vec<&str> = text.lines().collect();
    if bytes.is_empty() {
        return String::new();
    }
    let (here, line) = (at % bytes.len(), at % lines.len().max(1));
    match damage {
        Damage::Byte(b) => bytes[here] = *b,
        Damage::Digit => {
            let digit = (0..bytes.len()).map(|i| (here + i) % bytes.len());
            if let Some(i) = digit.into_iter().find(|&i| bytes[i].is_ascii_digit()) {
                bytes.splice(i..=i, at.to_string().into_bytes());
            }
        }
        Damage::DropBytes(n) => {
            bytes.drain(here..(here + usize::from(*n)).min(text.len()));
        }
        Damage::Cut => bytes.truncate(here),
        Damage::Insert(s) => {
            bytes.splice(here..here, s.bytes());
        }
        Damage::DropLine => {
            lines.remove(line);
            return lines.join("\n");
        }
        Damage::DoubleLine => {
            lines.insert(line, lines[line]);
            return lines.join("\n");
        }
        Damage::SwapLines => {
            let other = (at / 7) % lines.len();
            lines.swap(line, other);
            return lines.join("\n");
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn damaged_files_never_panic_and_refusals_name_the_file(
        which in 0_usize..6,
        steps in proptest::collection::vec((damage(), any::<u32>()), 1..4),
        p in proptest::option::of(0_u32..3),
    ) {
        let mut text = good_files()[which].clone();
        for (damage, at) in &steps {
            text = apply(&text, damage, *at as usize);
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
