//! Tests of configurations: as people write them, with faults that are refused, and damaged at
//! random.

#![expect(clippy::float_cmp, reason = "the decimals are those of the text")]

use super::keys::{ConfigValueKind, KEYS};
use super::*;
use proptest::prelude::*;

const MESH: &str = "// mesh_8x8\ncredit_delay = 2;\ninternal_speedup  = 2.0; // twice\n\
    topology = mesh; k = 8; n = 2; routing_function = dor; num_vcs = 4; vc_buf_size = 16;\n\
    use_noc_latency = 0; alloc_iters = 4; packet_size = {1,4};\n\
    traffic = {uniform,transpose}; classes = 2; injection_rate = {0.05,0.1};\n\
    latency_thres = -1.0; sim_type = throughput; warmup_periods = 2; seed = 1;\n";

const SLIM: &str = "topology = anynet;\nrouting_function = val;\nnetwork_file = sf_q5.anynet;\n\
    routing_table_file = rt_pf.tmp; load_routing_file = no; use_size_power_of_two = no;\n\
    rr_permute = no; k = 4; n = 1; // endpoints of a router\nnum_vcs = 4;\n\
    vc_allocator = separable_input_first; traffic = hotspot({{0,9,-1},{4,2,1}});\n\
    injection_process = on_off({0.05,0.05,-1.0}); injection_rate = .1; packet_size = {{1,5}};\n\
    packet_size_rate={{3,1}}; priority = age; internal_speedup = 1.5;\n";

fn file(text: &str) -> SettingsSource<'_> {
    SettingsSource::File { name: "a.cfg", text }
}

fn with(arguments: &[&'static str]) -> Result<BookSimConfig, String> {
    let mut sources = vec![file(MESH)];
    sources.extend(arguments.iter().map(|a| SettingsSource::Argument(a)));
    read(&sources).map_err(|r| r.to_string())
}

fn refused(arguments: &[&'static str]) -> String {
    with(arguments).expect_err(&format!("{arguments:?} is refused"))
}

#[test]
fn a_configuration_has_what_it_says_and_else_the_defaults() {
    let config = read(&[file(MESH)]).unwrap();
    assert_eq!(config.network, BookSimNetwork::Mesh { k: 8, n: 2, wires: false });
    assert_eq!((config.function, config.polarfly), ("dor", false));
    let r = &config.router;
    assert_eq!((r.num_vcs, r.vc_buf_size, r.credit_delay, r.routing_delay), (4, 16, 2, 1));
    assert_eq!((r.output_buffer_size, r.st_final_delay, r.st_prepare_delay), (None, 1, 0));
    assert!(r.spec_check_elig && r.spec_check_cred && !r.speculative);
    assert_eq!(r.vc_allocator, AllocatorKind::Islip { iterations: 1 });
    assert!((r.internal_speedup - 2.0).abs() < 1e-12);
    let [a, b] = &config.classes[..] else { panic!("two classes") };
    assert_eq!((&a.pattern, &b.pattern), (&Pattern::Uniform, &Pattern::Transpose));
    assert_eq!((a.packet_rate, b.packet_rate), (0.05, 0.1));
    assert_eq!((a.mean_flits(), b.mean_flits()), (1.0, 4.0));
    assert_eq!((a.latency_limit, a.stopping_latency), (None, Some(0.05)));
    let run = &config.run;
    assert_eq!((run.simulation, run.warmup_periods), (SimulationKind::Throughput, 2));
    assert_eq!((run.sample_period, run.max_samples, run.seed), (1000, 10, 1));
    let notes: Vec<_> = config.notes.iter().map(|n| (n.place.as_str(), n.key.as_str())).collect();
    assert_eq!(notes, [("a.cfg: line 5", "alloc_iters")]);
}

#[test]
fn a_configuration_of_the_polarfly_variant() {
    let config = read(&[file(SLIM)]).unwrap();
    let network = BookSimNetwork::Anynet { file: "sf_q5.anynet".to_owned(), p: Some(4) };
    assert_eq!((config.network, config.function, config.polarfly), (network, "val", true));
    assert_eq!(config.run.warmup_periods, 0, "its own default");
    let class = &config.classes[0];
    let at = vec![Some(0), Some(9), None];
    assert_eq!(class.pattern, Pattern::Hotspot { at, weights: vec![4, 2, 1] });
    // lengths 1 and 5 with weights 3 and 1: (3 + 5) / 4
    assert_eq!(class.mean_flits(), 2.0);
    // load = r1 alpha / (alpha + beta), so r1 = 0.1 * 2
    let InjectionRule::OnOff { r1, .. } = class.injection else { panic!("bursts") };
    assert!((r1 - 0.2).abs() < 1e-12);
    for one in ["adaptive_threshold=9", "routing_table_file=a", "rr_permute=no"] {
        let plain = "topology=anynet;network_file=a;routing_function=min";
        let sources = [SettingsSource::Argument(plain), SettingsSource::Argument(one)];
        assert!(read(&sources).unwrap().polarfly, "{one}");
        let config = read(&sources[..1]).unwrap();
        assert!(!config.polarfly && config.run.warmup_periods == 3);
    }
}

#[test]
fn the_last_one_wins_but_a_list_wins_over_numbers() {
    assert_eq!(with(&["k=4"]).unwrap().network, BookSimNetwork::Mesh { k: 4, n: 2, wires: false });
    assert_eq!(
        with(&["k=4", "k=16;n=1"]).unwrap().network.clone(),
        BookSimNetwork::Mesh { k: 16, n: 1, wires: false }
    );
    // flit.md, measured: packet_size={{1,5}}, then packet_size=2: still {1,5}
    let config = with(&["packet_size={{1,5}}", "packet_size=2"]).unwrap();
    let flits: Vec<u32> = config.classes[1].lengths.iter().map(|l| l.flits).collect();
    assert_eq!(flits, [1, 5]);
    let note = config.notes.iter().find(|n| n.key == "packet_size").unwrap();
    assert!(note.text.contains("as in BookSim") && note.place.contains("packet_size=2"));
    let config = with(&["injection_rate=0.2"]).unwrap();
    assert_eq!(config.classes[1].packet_rate, 0.1, "the list of the file stays");
}

#[test]
fn loads_are_of_packets_unless_they_are_of_flits() {
    let config = with(&["injection_rate_uses_flits=1"]).unwrap();
    assert_eq!(config.classes[1].packet_rate, 0.1 / 4.0);
    let too_much = refused(&["injection_rate={0.5,1.5}"]);
    assert!(too_much.contains("1.5 packets a cycle"), "{too_much}");
}

#[test]
fn bursts_follow_from_the_load() {
    let of = |process: &'static str| {
        let plain = "topology=mesh;routing_function=dor;injection_rate=0.25";
        read(&[SettingsSource::Argument(plain), SettingsSource::Argument(process)])
            .map_err(|r| r.to_string())
    };
    let bursts = |process| match of(process).unwrap().classes[0].injection {
        InjectionRule::OnOff { alpha, beta, r1 } => {
            assert!((r1 * alpha / (alpha + beta) - 0.25).abs() < 1e-12, "{process}");
            (alpha, beta, r1)
        }
        InjectionRule::Bernoulli => panic!("bursts"),
    };
    assert_eq!(bursts("injection_process=on_off"), (0.5, 0.5, 0.5));
    assert_eq!(bursts("injection_process=on_off({-1,0.1,0.5})").1, 0.1);
    assert_eq!(bursts("injection_process=on_off({0.1,-1,1})").2, 1.0);
    for bad in [
        "on_off({0.1,0.1,0.1})",
        "on_off({-1,-1,0.5})",
        "on_off({-1,0.5,0.2})",
        "on_off(2)",
        "on_off(0.1,0.1,-1.0)",
    ] {
        let text = Box::leak(format!("injection_process={bad}").into_boxed_str());
        let refusal = of(text).expect_err(bad);
        assert!(refusal.contains("injection_process"), "{refusal}");
    }
    let high = of("injection_process=on_off;injection_rate=0.75").unwrap();
    assert!(high.notes[0].text.contains("offered as 0.5"), "{:?}", high.notes);
}

#[test]
fn lists_are_cut_to_the_classes() {
    // config_utils of BookSim: every vector is resized to the number of classes
    let cut = |long: &'static str, short: &'static str| {
        let (long, short) = (with(&[long]).expect(long), with(&[short]).expect(short));
        assert_eq!(long.classes.len(), 2);
        let plain = |config: &BookSimConfig| -> Vec<BookSimTrafficClass> { config.classes.clone() };
        assert_eq!(format!("{:?}", plain(&long)), format!("{:?}", plain(&short)));
        let note = long.notes.iter().find(|note| note.text.contains("the first 2 are taken"));
        assert!(note.is_some(), "{:?}", long.notes);
    };
    for (long, short) in [
        ("packet_size={1,2,3}", "packet_size={1,2}"),
        ("packet_size={1,{2,3},{4,5}}", "packet_size={1,{2,3}}"),
        ("latency_thres={7.0,8.0,9.0,9.0}", "latency_thres={7.0,8.0}"),
        ("warmup_thres={.1,.2,.3}", "warmup_thres={.1,.2}"),
        ("acc_warmup_thres={.1,.2,.3}", "acc_warmup_thres={.1,.2}"),
        ("stopping_thres={.1,.2,.3}", "stopping_thres={.1,.2}"),
        ("acc_stopping_thres={.1,.2,.3}", "acc_stopping_thres={.1,.2}"),
        ("injection_rate={.1,.2,.3}", "injection_rate={.1,.2}"),
        (
            "injection_process={bernoulli,bernoulli,on_off}",
            "injection_process={bernoulli,bernoulli}",
        ),
        ("class_priority={1,2,3}", "class_priority={1,2}"),
        ("measure_stats={1,0,1}", "measure_stats={1,0}"),
        ("traffic={uniform,neighbor,transpose}", "traffic={uniform,neighbor}"),
        ("packet_size_rate={1,2,3}", "packet_size_rate={1,2}"),
    ] {
        // the places of notes and of patterns differ
        let (long, short) = (long, short);
        if long.starts_with("traffic") {
            let patterns = |config: BookSimConfig| -> Vec<String> {
                config.classes.iter().map(|class| format!("{:?}", class.pattern)).collect()
            };
            let (long, short) = (with(&[long]).expect(long), with(&[short]).expect(short));
            assert_eq!(patterns(long), patterns(short));
        } else {
            cut(long, short);
        }
    }
    // the same holds for the weights of the lengths of a class
    let of = |text: &'static str| with(&["packet_size={{1,5},2}", text]).expect(text);
    let (long, short) = (of("packet_size_rate={{3,1,7},1}"), of("packet_size_rate={{3,1},1}"));
    assert_eq!(long.classes[0].lengths, short.classes[0].lengths);
}

#[test]
fn refusals_name_place_key_and_what_is_valid() {
    for (argument, says) in [
        ("k=8.0", "argument k=8.0: k: 8.0 is a decimal; write 8: it takes an integer"),
        ("injection_rate=1", "injection_rate: 1 is an integer; write 1.0"),
        ("internal_speedup=2", "internal_speedup: 2 is an integer; write 2.0"),
        ("latency_thres=-1", "latency_thres: -1 is an integer; write -1.0"),
        ("topology=8", "topology: 8 is an integer; it takes a word"),
        ("limit=3", "limit: there is no such key"),
        ("num_vc=3", "num_vc: there is no such key; did you mean num_vcs?"),
        ("k=99999999999", "k: 99999999999 does not fit"),
        ("k=5.", "after `k = 5` there is `.`"),
        ("topology=tours", "topology: tours is not supported; did you mean torus?"),
        ("routing_function=dorr", "dorr is not supported on mesh; did you mean dor?"),
        ("routing_function=none", "none is not supported on mesh"),
        ("topology=torus;routing_function=valiant", "valiant is not supported on torus"),
        ("vc_allocator=pim", "vc_allocator: pim is not supported"),
        ("sw_allocator=separable_input_first(matrix)", "separable_input_first(matrix)"),
        ("sw_allocator=islip(0)", "sw_allocator: islip(0)"),
        ("buffer_policy=shared", "buffer_policy: shared is not supported; only private"),
        ("router=chaos", "router: chaos is not supported"),
        ("subnets=2", "subnets: 2 is not supported; only 1"),
        ("link_failures=1", "link_failures: 1 is not supported"),
        ("use_read_write=1", "use_read_write: 1 is not supported"),
        ("use_read_write={1,0}", "use_read_write: {1,0} is not supported"),
        ("vc_alloc_delay=2", "vc_alloc_delay: 2 is not supported"),
        ("sim_type=batch", "sim_type: batch is not supported"),
        ("seed=time", "seed: time is not supported"),
        ("priority=local_age", "priority: local_age is not supported"),
        ("traffic=unifrom", "there is no pattern unifrom; did you mean uniform?"),
        ("traffic=tornado(0)", "0 is no k"),
        ("traffic=hotspot({{0,1},{1,2,3}})", "3 weights for 2"),
        ("traffic={hotspot({3},{2}),uniform}", "splits {hotspot({3},{2}),uniform} at commas"),
        ("traffic=hotspot({0,1}", "brackets"),
        ("traffic=uniform(3)", "1 arguments for uniform"),
        ("packet_size={1,x}", "packet_size"),
        ("packet_size={0,1}", "packet_size: 0 has something else"),
        ("speculative=2", "2 is neither yes nor no"),
        ("st_final_delay=0", "st_final_delay: BookSim stops where the crossbar takes 0"),
        (
            "hold_switch_for_packet=1;output_speedup=2;output_buffer_size=4",
            "output_buffer_size: 4 with output_speedup 2 and hold_switch_for_packet",
        ),
        ("buf_size=0", "buf_size: BookSim's buffers take nothing"),
        ("priority=class;class_priority=-1", "class_priority: -1 with priority class"),
        ("priority=class;class_priority={1,-2}", "class_priority: -2 with priority class"),
        ("noq=1", "noq: 1 is not supported; only 0, the default"),
        ("num_vcs=33", "num_vcs: 33; at most 32"),
        ("num_vcs=0", "num_vcs: 0 is too small"),
        ("routing_function=xy_yx;num_vcs=1", "num_vcs: 1 are too few for xy_yx"),
        ("routing_function=dim_order_ni", "4 are too few for dim_order_ni"),
        ("vc_policy=hops", "only routing functions of anynet"),
        ("rr_permute=yes", "rr_permute: yes is not supported"),
        ("load_routing_file=yes", "load_routing_file: yes is not supported"),
        ("use_size_power_of_two=yes", "use_size_power_of_two: yes is not supported"),
        ("topology=dragonflynew;routing_function=min", "n: 2 dimensions of a group"),
        ("topology=flatfly;routing_function=ran_min;c=3", "c: 3 is not xr * yr, 1"),
        ("topology=anynet;routing_function=min", "network_file: anynet without a file"),
        ("k=4000000", "too large a network"),
        ("measure_stats=0", "no class is measured"),
    ] {
        let refusal = refused(&[argument]);
        assert!(refusal.contains(says), "{argument}: {refusal}");
    }
    let refusal = read(&[file("k = 8;\nn = 2\nc = 1;")]).unwrap_err().to_string();
    assert!(refusal.starts_with("a.cfg: line 3: after `n = 2` there is `c`"), "{refusal}");
    let plain = read(&[file("")]).unwrap_err().to_string();
    assert!(plain.starts_with("routing_function: none is not supported on torus (the default)"));
    let few = "topology=dragonflynew;n=1;k=2;routing_function=ugal;num_vcs=4";
    assert!(read(&[SettingsSource::Argument(few)]).unwrap_err().to_string().contains("exactly 3"));
}

#[test]
fn no_key_of_the_router_is_taken_in_silence() {
    let at = |name: &str| KEYS.iter().position(|key| key.name == name).unwrap();
    let keys = KEYS[at("router")..=at("alloc_iters")].iter().chain([&KEYS[at("priority")]]);
    for key in keys {
        // another value than the default is refused, noted, or in the configuration
        let values = match key.kind {
            ConfigValueKind::Int(usual) | ConfigValueKind::Ints(usual) => {
                vec![usual + 1, usual - 1]
            }
            _ => vec![1],
        };
        for value in values {
            let value = match key.kind {
                ConfigValueKind::Decimal(_) | ConfigValueKind::Decimals(_) => "1.5".to_owned(),
                ConfigValueKind::Word(_) => "other".to_owned(),
                _ => value.to_string(),
            };
            let base = format!("{} = {value};", key.name);
            let text = format!("topology = mesh; routing_function = dor; {base}");
            match read(&[SettingsSource::Argument(&text)]) {
                Err(refusal) => assert!(refusal.to_string().contains(key.name), "{refusal}"),
                Ok(found) => {
                    let usual = "topology = mesh; routing_function = dor;";
                    let usual = read(&[SettingsSource::Argument(usual)]).unwrap();
                    let is_noted = found.notes.iter().any(|note| note.key == key.name);
                    // any negative buf_size is vc_buf_size in BookSim, too
                    let is_same = found.router == usual.router && base != "buf_size = -2;";
                    assert!(is_noted || !is_same, "{base}");
                }
            }
        }
    }
}

#[test]
fn the_crossbar_takes_both_delays_and_speculation_may_have_no_effect() {
    let router = with(&["st_prepare_delay=1;st_final_delay=0"]).unwrap().router;
    assert_eq!((router.st_prepare_delay, router.st_final_delay), (1, 0));
    let noted = |text: &'static str| {
        with(&[text]).unwrap().notes.iter().any(|note| note.key == "speculative")
    };
    assert!(noted("speculative=1;spec_check_elig=0"));
    for text in ["speculative=1", "spec_check_elig=0", "speculative=1;spec_check_cred=0"] {
        assert!(!noted(text), "{text}");
    }
    assert!(!noted("speculative=1;spec_check_elig=0;spec_check_cred=0"));
}

#[test]
fn patterns_take_missing_arguments_from_the_keys() {
    let pattern = |argument: &'static str| {
        with(&[argument]).unwrap().patterns().next().cloned().expect("a class")
    };
    assert_eq!(pattern("traffic=tornado"), Pattern::Tornado { base: 8, digits: 2 });
    assert_eq!(pattern("traffic=tornado;xr=2"), Pattern::Tornado { base: 16, digits: 2 });
    assert_eq!(pattern("traffic=tornado(200,1,1)"), Pattern::Tornado { base: 200, digits: 2 });
    assert_eq!(pattern("traffic=neighbor({4,3})"), Pattern::Neighbor { base: 4, digits: 3 });
    assert_eq!(pattern("traffic=bad_dragon"), Pattern::BadDragon { group: 128 });
    assert_eq!(pattern("traffic=randperm(7)"), Pattern::RandomPermutation { seed: 7 });
    assert_eq!(pattern("traffic=randperm;perm_seed=3"), Pattern::RandomPermutation { seed: 3 });
    let at = vec![None];
    assert_eq!(pattern("traffic=hotspot"), Pattern::Hotspot { at, weights: vec![1] });
    let without = vec![1, 5];
    assert_eq!(pattern("traffic=background({{5,1}})"), Pattern::Background { without });
    let config = with(&["traffic={hotspot({{3},{2}}),randperm(7)}"]).unwrap();
    assert_eq!(config.patterns().nth(1), Some(&Pattern::RandomPermutation { seed: 7 }));
}

#[test]
fn parameters_are_those_that_booksim_reads() {
    // measured: with hotspot({0,9,27,63},{4,2,1,1}) all packets go to endpoint 0
    for (text, pattern) in [
        (
            "traffic=hotspot({0,9,27,63},{4,2,1,1})",
            Pattern::Hotspot { at: vec![Some(0)], weights: vec![9] },
        ),
        ("traffic=hotspot({5,6})", Pattern::Hotspot { at: vec![Some(5)], weights: vec![6] }),
        ("traffic=background({5,1})", Pattern::Background { without: vec![5] }),
        ("traffic=tornado(200,1,1);n=3", Pattern::Tornado { base: 200, digits: 3 }),
    ] {
        let config = with(&[text]).unwrap();
        assert_eq!(config.classes[0].pattern, pattern);
        let note = config.notes.iter().find(|note| note.key == "traffic").expect(text);
        assert!(note.text.contains("as in BookSim") && note.place.contains("traffic="));
    }
    for text in ["traffic=hotspot(3)", "traffic=tornado({8,2})", "traffic=hotspot({{5,6}})"] {
        assert!(with(&[text]).unwrap().notes.iter().all(|note| note.key != "traffic"), "{text}");
    }
}

#[test]
fn classes_are_drawn_by_simulators() {
    let class = |arguments: &[&'static str], endpoints: u32| {
        let sources: Vec<_> = arguments.iter().map(|a| SettingsSource::Argument(a)).collect();
        let config = read(&[&[file(SLIM)], &sources[..]].concat()).unwrap();
        config.classes[0].drawn(endpoints, 1).map_err(|r| r.to_string())
    };
    let drawn = class(&["traffic=tornado({200,1,1})"], 200).unwrap();
    assert_eq!((drawn.sizes.mean(), drawn.sizes.most()), (2.0, 5));
    assert!((drawn.load.packets(&drawn.sizes) - 0.1).abs() < 1e-12);
    assert_eq!(drawn.destinations.fixed().unwrap()[150], 49, "150 + 99 of 200");
    let high = class(&["injection_rate=0.75", "injection_process=on_off"], 200).unwrap();
    assert_eq!(high.load.packets(&high.sizes), 0.5, "as much as BookSim makes");
    let idle = class(&["injection_rate=0.0", "injection_process=on_off"], 200).unwrap();
    assert_eq!(idle.load.packets(&idle.sizes), 0.0);
    let refused = class(&["traffic=bitcomp"], 200).unwrap_err();
    assert!(refused.starts_with("argument traffic=bitcomp: traffic: bitcomp among"), "{refused}");
}

/// Checks that a file of anynet is refused, and gives the words of the refusal.
fn refused_network(text: &str) -> String {
    anynet::read(text, "net").expect_err(text).to_string()
}

#[test]
fn anynet_latencies_are_of_one_direction() {
    let text = "router 0 node 1 node 0 router 2 router 1 3\r\n\nrouter 1 node 2 router 2 5\n\
        router 2 node 3 router 0\n";
    let net = anynet::read(text, "net").unwrap();
    let rows: Vec<Vec<(u32, u32)>> = net
        .neighbours()
        .iter()
        .map(|r| r.iter().map(|n| (n.router, n.latency)).collect())
        .collect();
    assert_eq!(rows[0], [(1, 3), (2, 1)]);
    assert_eq!(rows[1], [(0, 1), (2, 5)], "no line says the latency back");
    assert_eq!(rows[2], [(0, 1), (1, 1)]);
    assert_eq!(net.endpoints(), [vec![0, 1], vec![2], vec![3]]);
    assert_eq!(net.router_of(), [0, 0, 1, 2]);
    assert_eq!(net.uneven(), [(0, 1), (1, 2)]);
    assert!(net.check_polarfly(2).unwrap_err().to_string().contains("endpoint 3 is on router 2"));
    assert!(
        anynet::read("router 0 node 0 router 1\nrouter 1 node 1\n", "net")
            .is_ok_and(|net| net.check_polarfly(1).is_ok())
    );
}

#[test]
fn anynet_files_that_booksim_takes_wrong_are_refused() {
    for (text, says) in [
        ("router 0 node 0 5 router 1", "net: line 1: node: '5' after node 0: BookSim takes no"),
        ("node 0 router 0", "net: line 1: node: a line that begins with a node"),
        ("router 0 router 0", "linked to itself"),
        ("router 0 node 0 router 1 router 1 4", "given before, on line 1"),
        ("router 0 node 0 router 1\nrouter 1 node 0", "line 2: node: node 0 is on router 0 before"),
        ("router 0 node 0 router 2", "router: 2 comes without"),
        ("router 0 node 1", "node: 1 comes without"),
        ("router 0 node 0\nrouter 1 node 1", "no path leads from router 0 to router 1"),
        ("router 0\trouter 1", "no number of a router"),
        ("router 0 node 0 router 1 0", "'0' is no latency"),
        ("router 0 node", "the end of the line is no number of a node"),
        ("# a network", "'#': a line begins with router"),
        ("router 0 link 1", "'link': neither router nor node"),
        ("router 99999999 node 0", "'99999999' is no number"),
        ("", "net: router: there is none in the file"),
        ("router 0 router 1", "net: node: there is none in the file"),
    ] {
        let refusal = refused_network(text);
        assert!(refusal.contains(says), "{text}: {refusal}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_configurations_do_not_panic(
        which in 0..2_usize,
        at in any::<prop::sample::Index>(),
        cut in 0..12_usize,
        put in "[a-z0-9{}(),;=./ \n_-]{0,8}|\\PC{0,3}",
    ) {
        let text = [MESH, SLIM][which];
        let from = at.index(text.len());
        let to = (from + cut).min(text.len());
        let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
        if let Err(refusal) = read(&[file(&damaged)]) {
            prop_assert!(!refusal.why.is_empty());
        }
        let _ = read(&[file(text), SettingsSource::Argument(&put)]);
    }

    #[test]
    fn damaged_networks_do_not_panic(
        at in any::<prop::sample::Index>(),
        cut in 0..12_usize,
        put in "[a-z0-9 \n-]{0,8}|router [0-9]|node [0-9]|\\PC{0,3}",
    ) {
        let text = "router 0 node 0 node 1 router 1 3\nrouter 1 node 2 router 2 2\nrouter 2\n";
        let from = at.index(text.len());
        let to = (from + cut).min(text.len());
        let damaged = format!("{}{put}{}", &text[..from], &text[to..]);
        if let Err(refusal) = anynet::read(&damaged, "net") {
            prop_assert!(refusal.param.starts_with("net"));
        }
    }
}
