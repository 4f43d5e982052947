//! Tests of the files of mappings.

use super::*;
use fabric::Topology;
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder, parse_inline};
use proptest::prelude::*;

fn network() -> Topology {
    let recipe = parse_inline("slim_fly:q=5,p=4").expect("a recipe");
    families::family(&recipe.family).expect("one").build(&recipe.params).expect("built")
}

/// Four endpoints named as fabrics name adapters.
fn fabric_names(names: [&str; 4]) -> Topology {
    let mut b = TopologyBuilder::new();
    let s = b.switch(Switch::new("s"));
    for (i, name) in names.into_iter().enumerate() {
        let e = b.endpoint(name, None);
        b.attach(e, s, i as u16 + 1, fabric::network::Cable::default());
    }
    b.finish(NetworkRecipe { family: "test".into(), params: serde_json::Map::new() })
        .expect("built")
}

#[test]
fn every_format_is_read_as_it_was_written() {
    let on = network();
    let slots: Vec<u32> = (0..200).flat_map(|e| [e, e]).collect();
    let places: Vec<u32> = (0..400).map(|rank| (rank * 77 + 5) % 400 / 2).collect();
    for (name, format, _) in FORMATS {
        let text = write(&on, &places, &slots, format).expect(name);
        assert_eq!(read(&on, &text, &slots, None).expect(name), places, "{name}");
        assert_eq!(read(&on, &text, &slots, Some(format)).expect(name), places, "{name}");
    }
    let text = write(&on, &[3, 3, 1], &slots, MappingFormat::Rankfile).expect("a text");
    let name = |e: usize| &on.endpoints()[e].name;
    let expect =
        format!("rank 0={0} slot=0\nrank 1={0} slot=1\nrank 2={1} slot=0\n", name(3), name(1));
    assert_eq!(text, expect);
    // two ranks on endpoints 1 and 0 of one slot each: the slot of 0 has rank 1
    let text = write(&on, &[1, 0], &[0, 1], MappingFormat::Cray).expect("an order");
    assert!(text.ends_with("\n1,0\n"), "{text}");
    assert!(write(&on, &[1, 2], &[0, 1, 2], MappingFormat::Cray).is_err(), "slot 0 stays empty");
}

#[test]
fn hosts_are_found_by_name_word_range_and_number() {
    let on = fabric_names(["n01 HCA-1", "n02 HCA-1", "n03 HCA-1", "n10 HCA-1"]);
    assert_eq!(hosts(&on, "n[01-02],n10").expect("hosts"), [0, 1, 3]);
    let several = "n03 HCA-1\nn01:4 # and again\nn01\n2\nn10 slots=2 max_slots=8\n";
    assert_eq!(hosts(&on, several).expect("hosts"), [2, 0, 0, 0, 0, 0, 2, 3, 3]);
    assert_eq!(hosts(&on, "n03 HCA-1 slots=2, n[01-02] slots=1").expect_err("two").param, "line 1");
    assert_eq!(hosts(&on, "n[01-02]:2\nn03 HCA-1 slots=2").expect("hosts"), [0, 0, 1, 1, 2, 2]);
    assert_eq!(pins(&on, "# root\n0 n10\n7 n03 HCA-1\n").expect("pins"), [(0, 3), (7, 2)]);
    for (text, says) in [
        ("n01\nn04\n", "line 2"),
        ("n[01-", "no ]"),
        ("n[1-x]", "no range"),
        ("n[1-99999999999]", "too many"),
        ("# none\n", "no host"),
        ("n01\nn02 slots=0\n", "line 2"),
        ("n01:70000", "no number of slots"),
        ("n01 slots=x", "no number of slots"),
        ("n01\nslots=3", "line 2: slots of no host"),
    ] {
        let said = hosts(&on, text).expect_err(text).to_string();
        assert!(said.contains(says), "{text}: {said}");
    }
    let twins = fabric_names(["a x", "a y", "b", "c"]);
    assert!(hosts(&twins, "a").expect_err("two").to_string().contains("several"));
    assert!(write(&twins, &[0, 1], &[], MappingFormat::Slurm).is_err());
    let said =
        write(&twins, &[0, 2], &[], MappingFormat::Slurm).expect_err("read as no one").to_string();
    assert!(said.contains("the name of another"), "{said}");
    assert!(pins(&on, "x n01").expect_err("no rank").to_string().contains("line 1"));
}

#[test]
fn the_adapters_of_a_host_are_one_host_to_launchers() {
    let on = fabric_names(["b mlx5_0", "a mlx5_1", "b mlx5_1", "a mlx5_0"]);
    let slots = [0, 1, 2, 3];
    // host a has endpoints 3 and 1 in this order, host b 0 and 2
    assert_eq!(hosts(&on, "a\nb\na\nb:3").expect("in turn"), [3, 0, 1, 2, 0, 2]);
    assert_eq!(hosts(&on, "a mlx5_1, b slots=2").expect_err("no name").param, "line 1");
    assert_eq!(hosts(&on, "a mlx5_1\na").expect("whole names"), [1, 3]);
    assert_eq!(pins(&on, "0 a\n1 a").expect("in turn"), [(0, 3), (1, 1)]);
    for places in [[0, 1, 2, 3], [2, 2, 1, 3], [1, 1, 2, 0]] {
        let text = write(&on, &places, &slots, MappingFormat::Rankfile).expect("a file");
        assert_eq!(read(&on, &text, &slots, None).expect("read"), places, "{text}");
        let mut lines: Vec<&str> =
            text.lines().filter_map(|l| l.split_once('=')).map(|l| l.1).collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 4, "a slot of a host is of one rank: {text}");
    }
    for format in [MappingFormat::Hydra, MappingFormat::Slurm, MappingFormat::Pbs] {
        let text = write(&on, &[2, 1, 0, 3], &slots, format).expect("a file");
        assert_eq!(text, "b\na\nb\na\n");
        assert_eq!(read(&on, &text, &slots, Some(format)).expect("in turn"), [0, 3, 2, 1]);
    }
}

#[test]
fn names_that_a_launcher_reads_otherwise_are_refused() {
    let launchers =
        [MappingFormat::Rankfile, MappingFormat::Hydra, MappingFormat::Slurm, MappingFormat::Pbs];
    for bad in ["a:4", "#c", "n[1-3]", "a,b", "-w", "+n0", "a=b", "a#b", "a*2", "\u{e9}", ".", "a]"]
    {
        let on = fabric_names([bad, "b", "c", "d"]);
        for format in launchers {
            let said = write(&on, &[1, 0], &[], format).expect_err(bad).to_string();
            assert!(said.contains(&format!("{bad:?}")) && said.contains("letters"), "{said}");
            assert!(write(&on, &[1, 2], &[], format).is_ok(), "a name that is not written");
        }
        for format in [MappingFormat::List, MappingFormat::Json] {
            let text = write(&on, &[1, 0], &[0, 1], format).expect(bad);
            assert_eq!(read(&on, &text, &[0, 1], None).expect(bad), [1, 0]);
        }
    }
    let on = fabric_names(["a:4", "a", "n[1-3]", "x"]);
    for format in launchers {
        for bad in ["a:4\nx", "x\nn[1-3]", "rank 0=a:4 slot=0"] {
            let said = read(&on, bad, &[0, 1, 2, 3], None).expect_err(bad).to_string();
            assert!(said.contains("its number"), "{said}");
        }
        assert!(hosts(&on, "n[1-3]").is_err() && hosts(&on, "a:4").is_err(), "{format:?}");
    }
    let on = fabric_names(["node-1.cluster_a", "7", "_x", "A9 HCA-1"]);
    for format in launchers {
        let text = write(&on, &[3, 0, 1, 2], &[], format).expect("names");
        assert_eq!(read(&on, &text, &[0, 1, 2, 3], Some(format)).expect("read"), [3, 0, 1, 2]);
    }
}

#[test]
fn what_is_wrong_in_a_mapping_is_named() {
    let on = network();
    let slots: Vec<u32> = (0..200).collect();
    for (text, says) in [
        ("0\n1\n200\n", "line 3"),
        ("rank 0=0 slot=0\nrank 2=1 slot=0\n", "rank 1 is missing"),
        ("rank 0=0 slot=0\nrank 0=1 slot=0\n", "rank 0 comes twice"),
        ("rank x=0\n", "no rank"),
        ("{\"mapping\": [0, 200]}", "process 1"),
        ("{\"mapping\": 3}", "no list"),
        ("{\n\"mapping\": [", "line 2"),
        ("# MPICH_RANK_ORDER\n0,0\n", "comes twice"),
        ("# MPICH_RANK_ORDER\n0,5\n", "rank 5 of 2"),
        ("0:4294967295\n", "ranks on one host"),
    ] {
        let said = read(&on, text, &slots, None).expect_err(text).to_string();
        assert!(said.contains(says), "{text}: {said}");
    }
    let dead = on.with_failures(&[], &[base::SwitchId(0)]).expect("a network");
    let said = read(&dead, "7\n0\n", &slots, None).expect_err("switch 0 is down").to_string();
    assert!(said.contains("process 1") && said.contains("no rail that works"), "{said}");
    assert!(format("rankfiles").expect_err("none").to_string().contains("did you mean rankfile"));
}

/// Names of hosts as they are, and as launchers read them otherwise; some with adapters.
fn any_name() -> impl Strategy<Value = String> {
    let word = "[a-c]{1,2}[0-3]?|[a-c]1?[-._:#,=*\\[\\]+@\"'/][0-2a]|[-#:.\\[+][a-c1]|[0-9]";
    (word, prop_oneof!["", " mlx5_[01]", " HCA-1", " x"]).prop_map(|(host, rest)| host + &rest)
}

proptest! {
    #[test]
    fn what_is_written_is_read_alike_by_the_rules_of_launchers(
        names in proptest::collection::vec(any_name(), 4),
        places in proptest::collection::vec(0_u32..4, 1..9),
        which in 0_usize..FORMATS.len(),
    ) {
        let names: [String; 4] = names.try_into().expect("four");
        let on = fabric_names([&names[0], &names[1], &names[2], &names[3]]);
        let (_, format, _) = FORMATS[which];
        let slots: Vec<u32> = (0..4).flat_map(|e| [e; 8]).collect();
        let Ok(text) = write(&on, &places, &slots, format) else { return Ok(()) };
        let back = read(&on, &text, &slots, Some(format)).expect("what was written");
        let host = |e: &u32| names[*e as usize].split(' ').next().expect("a word");
        if [MappingFormat::Hydra, MappingFormat::Slurm, MappingFormat::Pbs].contains(&format) {
            // `host:slots` and `#` of Hydra and PBS; brackets and commas of Slurm's lists
            let marks = [':', '#', ',', '[', ']', ' ', '=', '"', '*'];
            let plain = |line: &str| !line.contains(marks);
            let begins = |line: &str| !line.starts_with(['-', '+', '.']);
            prop_assert!(text.lines().all(|line| plain(line) && begins(line)));
            let said: Vec<&str> = places.iter().map(host).collect();
            prop_assert_eq!(text.lines().collect::<Vec<_>>(), said.clone());
            prop_assert_eq!(back.iter().map(host).collect::<Vec<_>>(), said);
            // the adapters of a host are taken in turn, in the order of their names
            let mut taken = [0; 4];
            for (&place, &found) in places.iter().zip(&back) {
                let mut of_host: Vec<u32> = (0..4).filter(|e| host(e) == host(&place)).collect();
                of_host.sort_by_key(|e| (&names[*e as usize], *e));
                let is_adapter = |e: &u32| {
                    let name = &names[*e as usize];
                    name.contains(" mlx5_") || name.contains(" HCA-1")
                };
                if !of_host.iter().all(is_adapter) {
                    of_host = vec![place];
                }
                let turn = &mut taken[of_host[0] as usize];
                prop_assert_eq!(found, of_host[*turn % of_host.len()]);
                *turn += 1;
            }
        } else {
            prop_assert_eq!(back, places);
        }
    }

    #[test]
    fn no_text_breaks_a_reader(text in "[0-9a-z\\[\\]{}:,=#\" \n-]{0,60}", which in 0_usize..8) {
        let on = fabric_names(["n01 HCA-1", "n02 HCA-1", "n03 HCA-1", "n10 HCA-1"]);
        let format = FORMATS.get(which).map(|row| row.1);
        if let Ok(places) = read(&on, &text, &[0, 1, 2, 3], format) {
            prop_assert!(places.iter().all(|&e| e < 4));
        }
        let _ = (hosts(&on, &text), pins(&on, &text));
    }
}
