//! Mutated files for all readers: each gives a result or a refusal, in little memory. Mutations are
//! gentle enough that readers accept at least half of them, because files that fail at the first
//! byte show nothing.
//!
//! 100,000 in a campaign, to be run under a limit on memory (`ulimit -v 2097152`).

use crate::mutations::{MutableFileFields, RandomGenerator};
use base::Quiet;
use formats::booksim::SettingsSource;
use formats::trace::{self, TraceFormat, goal};
use formats::{booksim, communication, graph_file, ib};
use serde_json::Map;
use std::sync::Arc;

/// A function that reads bytes, or says why it refuses them.
type ReadFn = Box<dyn Fn(&[u8]) -> Result<(), String>>;

/// A reader under test: its name, a good file, and the function that reads such bytes.
struct NamedReader {
    name: String,
    good: Vec<u8>,
    read: ReadFn,
}

fn as_text<T>(found: Result<T, impl ToString>) -> Result<(), String> {
    found.map(drop).map_err(|refused| refused.to_string())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn of(
    name: &str,
    good: impl Into<Vec<u8>>,
    read: impl Fn(&[u8]) -> Result<(), String> + 'static,
) -> NamedReader {
    NamedReader { name: name.to_owned(), good: good.into(), read: Box::new(read) }
}

const BOOKSIM: &str = "// a run of 2026-01-01 with 8 x 8 routers, 123 of 456\ntopology = mesh; k = \
    8;\nn = 2; routing_function = dor; num_vcs = 4; vc_buf_size = 16;\nuse_noc_latency = 0; \
    alloc_iters = 4; packet_size = {1,4};\ntraffic = {uniform,transpose}; classes = 2; \
    injection_rate = {0.05,0.10};\nlatency_thres = 5123.25; sample_period = 1234; \
    warmup_periods = 2; seed = 12345;\nmax_samples = 25; credit_delay = 2; routing_delay = 1; \
    warmup_thres = 0.0525;\nstopping_thres = 0.0575; acc_stopping_thres = 0.0515;\n";
const IBNL: &str = "# made 2026-01-01 10:11:12 by 123456789\nSYSTEM LEAF,LEAF:4x\nNODE SW 36 \
    MT48436 U12345678\n   1 -4x-10G-> P1\n   2 -> P2\n   3 -> P3\n\nTOPSYSTEM BOX,BOX23456789\n\n\
    # 2026-01-02 13:14:15 for 1234 of 5678\nSUBSYSTEM LEAF leaf12345678\n   P1 -> L1/P1\n   \
    P2 -> leaf23456789 P2\n\nSUBSYSTEM LEAF leaf23456789\n   P1 -> L2/P1\n   P3 -> L2/P3456789\n";

const LFT: &str = "\
    Unicast lids [0x0-0xb] of switch Lid 10 guid 0x00000000000000a1 (s1):\n  Lid  Out\n\
    0x0001 001 : (Channel Adapter portguid 0x0000000000000011: 'h 1')\n\
    0x000a 000 : (Switch portguid 0x00000000000000a1: 's1')\n2 valid lids dumped \n\
    Unicast lids [0x0-0xb] of switch Lid 11 guid 0x00000000000000a2 (s2):\n0x000a 012 : (Switch \
    portguid 0x00000000000000a1: 's1')\n0x000b 000 : (Switch)\n2 valid lids dumped \n";
const SL2VL: &str = "Switch 0x0000000000000001, base LID 3\n\
    1 2 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n1 3 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n";
const PATHS: &str = "1 2 3\n12 34 5\n123 456 7\n1234 567 1\n12345 678 2\n";
const ANYNET: &str = "router 0 node 0 node 1 router 1 123 router 2 45\n\
    router 1 node 2 router 2 678\nrouter 2 node 3 router 0 90\n";

/// The number of routers in a group of a CODES dragonfly; then its number of groups.
const GROUP: i32 = 6;
const GROUPS: i32 = 4;
/// The number of bytes of the links within a group.
const WITHIN: usize = (GROUP * (GROUP - 1) * 12) as usize;

/// Two link files of CODES in one: the links of all pairs within a group, with their types, and the
/// links between groups, where every router has one to its counterpart in every other group.
fn codes() -> Vec<u8> {
    let pairs = |n: i32| (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
    let within = pairs(GROUP).filter(|(a, b)| a != b).flat_map(|(a, b)| [a, b, 0]);
    let like = |(a, b): (i32, i32)| (0..GROUP).flat_map(move |r| [a * GROUP + r, b * GROUP + r]);
    let between = pairs(GROUPS).filter(|(a, b)| a != b).flat_map(like);
    within.chain(between).flat_map(i32::to_le_bytes).collect()
}

/// Every format of the tables with its own example.
fn of_tables() -> Vec<NamedReader> {
    let networks = graph_file::FORMATS.iter().map(|format| {
        of(format.part.name, format.example(), |bytes| {
            as_text(graph_file::read_any(&text(bytes), "f.edges", None))
        })
    });
    let graphs = communication::FORMATS.iter().map(|format| {
        let (name, good) = format.example();
        of(format.part.name, good, move |bytes| {
            as_text(communication::matrix(&[(name.clone(), text(bytes).as_str())]))
        })
    });
    networks.chain(graphs).chain(trace::FORMATS.iter().flat_map(runs)).collect()
}

/// A format of workloads: the first file of its example is damaged, and the last where there are
/// several, each beside the others.
fn runs(format: &'static TraceFormat) -> Vec<NamedReader> {
    let files = format.example();
    let last = format.of_ranks(&files).len() - 1;
    let damaged = if last == 0 { vec![0] } else { vec![0, last] };
    let one = |at: usize| {
        let all = files.clone();
        let good = all[at].1.clone();
        of(&format!("{} {at}", format.part.name), good, move |bytes| {
            let mut ranks = format.of_ranks(&all);
            ranks[at].1 = bytes;
            let read = format.read(&ranks, &Map::new(), &Quiet);
            if let Ok(found) = &read {
                let said = goal::text(found);
                assert_eq!(goal::parse(&said, &Quiet).as_ref(), Ok(found));
            }
            let counted = format.count(&ranks, &Quiet).transpose();
            as_text(read).and(as_text(counted))
        })
    };
    damaged.into_iter().map(one).collect()
}

/// Files that stand in no table, or are read beside others.
fn others() -> Vec<NamedReader> {
    vec![
        of(".ibnl", IBNL, |bytes| {
            let topology = "BOX a\n   L1/P1 -> HCA h P1\n   L2/P1 -> HCA i P1\n";
            as_text(graph_file::ibutils::read_with(topology, "f", &[("d".to_owned(), text(bytes))]))
        }),
        of("BookSim", BOOKSIM, |bytes| {
            let said = text(bytes);
            as_text(booksim::read(&[SettingsSource::File { name: "a.cfg", text: &said }]))
        }),
        of("CODES", codes(), |bytes| {
            let (intra, inter) = bytes.split_at(bytes.len().min(WITHIN));
            as_text(graph_file::codes::read(("intra", intra), ("inter", inter), None))
        }),
    ]
}

/// Readers of tables, levels, names and places on a network.
fn on_networks() -> Vec<NamedReader> {
    let given = fabric::network::parse_inline("slim_fly:q=3,p=1").expect("well formed");
    let family = families::family(&given.family).expect("a family");
    let t = Arc::new(family.build(&given.params).expect("a member"));
    let min_hop = engines::engine("min_hop").expect("an engine");
    let routing = min_hop.route(&Map::new(), &t, 1, &Quiet).expect("connected");
    let digraph = graph_file::orcs::write(&routing).expect("one layer");
    let names: Vec<String> = t.endpoints().iter().map(|e| e.name.clone()).collect();
    let ranks =
        (0..).zip(&names).map(|(rank, name): (u32, _)| format!("rank {rank}={name} slot=0"));
    let slots: Vec<u32> = (0..names.len() as u32).collect();
    let counted: Vec<String> = names.iter().map(|name| format!("{name} slots=12")).collect();
    let (hosts, pins, times) = (t.clone(), t.clone(), t.clone());
    vec![
        of("digraph", digraph, |bytes| as_text(graph_file::orcs::read_tables(&text(bytes), "f"))),
        of("dump_lfts", LFT, |bytes| as_text(ib::lft::read(&text(bytes), "f"))),
        of("SL2VL", SL2VL, |bytes| as_text(ib::sl_files::read_sl2vl(&text(bytes), "f"))),
        of("path records", PATHS, |bytes| {
            as_text(ib::sl_files::read_path_records(&text(bytes), "f"))
        }),
        of("rank file", ranks.collect::<Vec<_>>().join("\n"), move |bytes| {
            as_text(formats::mapping::read(&t, &text(bytes), &slots, None))
        }),
        of("host list", counted.join("\n"), move |bytes| {
            as_text(formats::mapping::hosts(&hosts, &text(bytes)))
        }),
        of("pins", "# of 12345678\n1200 3\n12340 5\n34560 11\n", move |bytes| {
            as_text(formats::mapping::pins(&pins, &text(bytes)))
        }),
        of("packets", "0 0 1 1234\n1234 7 2 5\n34567 11 1 12\n", move |bytes| {
            as_text(traffic::times::TimedPackets::parse(&text(bytes), &times))
        }),
        of("anynet", ANYNET, |bytes| as_text(booksim::anynet::read(&text(bytes), "f"))),
    ]
}

fn readers() -> Vec<NamedReader> {
    let mut all = of_tables();
    all.extend(on_networks());
    all.extend(others());
    all
}

/// Tries a reader with this number of damaged files, drawn by `number`, and returns how many it
/// takes.
fn tried(number: usize, reader: &NamedReader, each: usize) -> usize {
    (reader.read)(&reader.good).unwrap_or_else(|why| panic!("{}: {why}", reader.name));
    let fields = MutableFileFields::of(&reader.good, |bytes| (reader.read)(bytes).is_ok());
    let mut taken = 0;
    for k in 0..each {
        let mut draw = RandomGenerator((number * 1_000_000 + k) as u64);
        match (reader.read)(&fields.mutated(&reader.good, &mut draw)) {
            Ok(()) => taken += 1,
            Err(why) => assert!(!why.is_empty() && why.len() < 2000, "{}: {why}", reader.name),
        }
    }
    assert!(2 * taken >= each, "{}: {taken} of {each} were read", reader.name);
    taken
}

#[test]
fn campaign_mutated_files_are_read_or_refused() {
    let campaign = std::env::var_os("FLYLOOM_CAMPAIGN").is_some();
    let readers = readers();
    let each = if campaign { 100_000_usize.div_ceil(readers.len()) } else { 60 };
    for (number, reader) in readers.iter().enumerate() {
        let taken = tried(number, reader, each);
        if campaign {
            println!("{}: {taken} of {each} read", reader.name);
        }
    }
}

#[test]
#[should_panic(expected = "a fault that was planted")]
fn a_planted_fault_in_a_format_is_found() {
    for mut reader in runs(trace::format("liballprof").expect("it has a row")) {
        let read = reader.read;
        reader.read = Box::new(move |bytes| {
            // stands for a reader that indexes without a check: it panics at one value of a field
            assert!(!text(bytes).contains("MPI_Barrier:15007"), "a fault that was planted");
            read(bytes)
        });
        tried(0, &reader, 2000);
    }
}
